"""The fake agents, registered once, and installed."""

from collections.abc import Iterator

import pytest

from constraintrot.harnesses import HARNESSES
from constraintrot.harnesses.coding import files, play
from tests.harnesses.coding import fakes


@pytest.fixture(scope="package", autouse=True)
def _fake_agents() -> Iterator[None]:
    # Complete first, or what is loaded meanwhile is lost with the patch.
    HARNESSES.names()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HARNESSES, "_components", dict(HARNESSES._components))
        patch.setattr(HARNESSES, "_origin", dict(HARNESSES._origin))
        patch.setattr(play, "needed", lambda package: fakes.INSTALLED)
        patch.setattr(files, "agent_named", lambda name: fakes.HOOK)
        fakes.register()
        yield
