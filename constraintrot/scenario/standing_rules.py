"""Several standing rules in one file: each request tests one, and every context holds all."""

from collections.abc import Sequence
from pathlib import Path

from constraintrot.documents import document
from constraintrot.errors import ScenarioError
from constraintrot.scenario.schema import WORDINGS, Scenario
from constraintrot.scenario.sections import Texts
from constraintrot.scenario.template import fill
from constraintrot.scenario.values import is_list, is_mapping

_LEAST, _MOST = 2, 20
# A value of all policies, which every scenario draws for itself.
_SHARED = "org"


def listed(path: Path) -> list[Path]:
    """Return the scenario files that a file lists as its ``rules``; empty for an ordinary file."""
    data = document(path).data
    if not is_mapping(data) or "rules" not in data:
        return []
    names, more = data["rules"], sorted(set(data) - {"rules"})
    if more:
        raise ScenarioError(f"{path}: {more[0]!r} beside rules; each rule's own file says it")
    if not is_list(names) or not all(isinstance(name, str) for name in names):
        raise ScenarioError(
            f"{path}: rules is a list of scenario files, as [mail.yaml, deploy.yaml]"
        )
    if not _LEAST <= len(set(names)) == len(names) <= _MOST:
        raise ScenarioError(f"{path}: rules lists {_LEAST} to {_MOST} files, none of them twice")
    return [path.parent / str(name) for name in names]


def together(scenarios: Sequence[Scenario]) -> list[Scenario]:
    """Return each scenario with its policy and neutral text joined with those of the others."""
    return [
        one.model_copy(
            update={
                "policy": _joined(at, [other.policy for other in scenarios], scenarios),
                "neutral": _joined(at, [other.neutral for other in scenarios], scenarios),
            }
        )
        for at, one in enumerate(scenarios)
    ]


def _joined(at: int, texts: Sequence[Texts], scenarios: Sequence[Scenario]) -> Texts:
    """Join the texts of all scenarios; those of the others have their first variant's values."""
    values = [{**one.variant(0).values, _SHARED: f"{{{{{_SHARED}}}}}"} for one in scenarios]
    joined: dict[str, list[str]] = {}
    for wording in WORDINGS:
        joined[wording] = []
        for phrasing, own in enumerate(texts[at][wording]):
            others = [
                fill(text[wording][phrasing % len(text[wording])], known)
                for text, known in zip(texts, values, strict=True)
            ]
            joined[wording].append("\n".join([*others[:at], own, *others[at + 1 :]]))
    return Texts.model_validate(joined)
