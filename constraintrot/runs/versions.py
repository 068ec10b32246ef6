"""Two versions of a coding agent, compared by the rows of the survey."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace

from constraintrot.coding_agents.catalogue import Package, instead
from constraintrot.evaluation.play_settings import Network
from constraintrot.runs import play
from constraintrot.runs.survey import MODEL, read, survey
from constraintrot.runs.survey_matrix import CHANNELS, PIN, TOKENS, Cell, Change, changes
from constraintrot.tasks.catalogue import soft_email


def compare(
    package: Package,
    newer: Package,
    tell: Callable[[str], None],
    *,
    channels: Sequence[str] = CHANNELS,
    network: Network = "none",
    known: Sequence[Cell] = (),
) -> list[Change]:
    """Play the survey's rows, and one with a pin, in two installed versions of an agent.

    ``package`` is the version that was tried. Its rows in ``known``, an earlier survey, are not
    played again.
    """
    cells = [one for one in known if (one.agent, one.version) == (package.title, package.version)]
    mode = package.modes[0]
    with tempfile.TemporaryDirectory() as folder:
        for version in (package, newer):
            with instead(version):
                cells += survey(
                    [version], folder, tell, mode=mode, channels=channels, network=network,
                    known=tuple(cells),
                )  # fmt: skip
                cells.append(_pin(version, mode, network, folder))
                tell(f"{version.title} {version.version}, pin: {cells[-1].told}")
    return changes(cells)


def _pin(package: Package, mode: str, network: Network, log_dir: str) -> Cell:
    task = soft_email(
        harness=f"coding/{package.agent}:{mode}", channel="tool", conditions="defense_pin",
        variants=1, context_tokens=TOKENS, network=network,
    )  # fmt: skip
    log = play.once(task, model=MODEL, log_dir=log_dir)
    cell = read(package, package.version, mode, PIN, log)
    return cell if cell.fate == "error" else replace(cell, fate="held")
