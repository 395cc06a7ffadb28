"""What every test may ask for."""

import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# In the background a shell has its programs ignore Ctrl-C, and they hand that on to those they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A slow machine is no failure, so laws have no deadline.
settings.register_profile("predibot", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("predibot")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of recorded real data beside the checkout, or skip the test."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("no recorded data beside this checkout")
    return folder
