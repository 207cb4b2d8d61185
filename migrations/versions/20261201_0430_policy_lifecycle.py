"""(to be written)."""

from __future__ import annotations

revision = "20261201_0430"
down_revision = "20261130_2300"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass


def downgrade() -> None:
    pass
