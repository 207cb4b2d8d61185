"""(to be written)."""

from __future__ import annotations

revision = "20261201_0530"
down_revision = "20261201_0500"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass


def downgrade() -> None:
    pass
