"""What all tests share: Hypothesis profiles. Markers and socket limits (loopback only) are in `pyproject.toml`."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from tests.soak import PROFILE

# No deadline and no complaint about slow data: a busy machine is no fault of a test. No example database: a run depends
# on the code alone.
settings.register_profile(
    "default", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
# New examples every time; a failure prints what reproduces it.
settings.register_profile("soak", settings.get_profile("default"), derandomize=False, print_blob=True)
settings.load_profile(PROFILE)
