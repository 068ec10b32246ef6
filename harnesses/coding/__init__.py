"""Coding agents that people use, each with its own compaction: ``coding/claude``, ``coding/codex`` ...

Each runs as its own program in a throw-away folder without a network, and talks to our
endpoint instead of its provider's. ``constraintrot agents install`` fetches it.
"""

from functools import partial

from constraintrot.coding_agents.catalogue import PACKAGES, package
from constraintrot.coding_agents.install import needed
from constraintrot.evaluation.harness import FRAMEWORK_HOOKS, Harness, harness
from constraintrot.evaluation.play_settings import Network


def _check_network(network: Network) -> None:
    # Imported here, so that listing the harnesses starts nothing.
    from constraintrot.coding_agents.box import check_network

    check_network(network)


def _ready(agent: str) -> None:
    needed(package(agent))


def _made(agent: str, mode: str, live: bool) -> Harness:
    # Imported here: the drivers and the endpoint are loaded only when a harness is made.
    from constraintrot.coding_agents.drivers import DRIVERS
    from constraintrot.harnesses.coding.play import playing

    return playing(DRIVERS[agent])(mode, live)


for _package in PACKAGES:
    harness(
        f"coding/{_package.agent}",
        hooks=FRAMEWORK_HOOKS,
        modes=_package.modes,
        ready=partial(_ready, _package.agent),
        network_check=_check_network,
        repeats=True,
    )(partial(_made, _package.agent))
