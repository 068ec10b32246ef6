"""The setting at which two arms of a model are compared: that with the most pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from constraintrot.episode.facts import IDENTITY
from constraintrot.report.page import design

if TYPE_CHECKING:
    import pandas as pd


def most_pairs(frame: pd.DataFrame, a: str, b: str) -> tuple[pd.DataFrame, dict[str, object]]:
    """The episodes of two arms at the setting at which most of them are paired, and that setting.

    Pairs are counted, whatever their outcomes. Of equally many, the setting with more episodes
    of arm b is taken, then the main setting, then the first by its words.
    A setting that does not apply to an arm (a control has no compactor) matches any. Without
    pairs it is the setting with most episodes of arm b, or of a if b has none.

    Args:
        frame: episodes of one model, from ``prepared``.
        a: name of the first arm.
        b: name of the second arm.
    """
    groups = {name: _by_setting(frame[frame["arm"] == name], name) for name in (a, b)}
    usual = design.commonest(frame)
    ranked: list[tuple[tuple[int, int, bool, str], dict[str, object]]] = []
    for chosen, part in groups[b] or groups[a]:
        fitting = [one for setting, one in groups[a] if _compatible(setting, chosen, a, b)]
        pairs = _identities(part) & set[object]().union(*map(_identities, fitting))
        order = (
            -len(pairs) * bool(groups[b]),
            -len(part),
            not _equal(chosen, usual),
            design.words(chosen),
        )
        ranked.append((order, chosen))
    if not ranked:
        return frame[:0], {}
    _, chosen = min(ranked, key=lambda one: one[0])
    parts = [
        part
        for name, found in groups.items()
        for at, part in found
        if _compatible(at, chosen, name, b)
    ]
    import pandas as pd

    return pd.concat(parts).sort_index(), chosen


def apart(setting: dict[str, object], frame: pd.DataFrame) -> str:
    """What a setting has in which it differs from the main one of a model; empty if nothing.

    Args:
        setting: value by name.
        frame: the model's episodes, from ``prepared``.
    """
    usual = design.commonest(frame)
    return design.words({k: v for k, v in setting.items() if k in usual and not _same(v, usual[k])})


def _by_setting(frame: pd.DataFrame, arm: str) -> list[tuple[dict[str, object], pd.DataFrame]]:
    """The episodes of one arm by setting; a long context is a context of any length."""
    names = [name for name in design.SETTINGS if arm != "long_context" or name != "context_tokens"]
    groups = frame.groupby(names, sort=False, dropna=False)
    return [(dict(zip(names, key, strict=True)), part) for key, part in groups]


def _compatible(setting: dict[str, object], chosen: dict[str, object], arm: str, b: str) -> bool:
    """Whether an arm's setting is the chosen one, as far as it applies to both."""
    if arm == b:
        return _equal(setting, chosen)
    return all(
        design.is_none(value) or design.is_none(chosen.get(name)) or value == chosen[name]
        for name, value in setting.items()
    )


def _equal(setting: dict[str, object], other: dict[str, object]) -> bool:
    return all(_same(value, other[name]) for name, value in setting.items())


def _same(one: object, other: object) -> bool:
    return one == other or (design.is_none(one) and design.is_none(other))


def _identities(frame: pd.DataFrame) -> set[object]:
    scored = frame[frame["violation"].notna()]
    return set(scored[list(IDENTITY)].itertuples(index=False, name=None))
