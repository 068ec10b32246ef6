"""Notes below a table about its counterfactual conditions, in which policy text was removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from constraintrot.episode.facts import KEYS
from constraintrot.errors import ParameterError
from constraintrot.evaluation.conditions import EDITS
from constraintrot.report.arms import frame_compare
from constraintrot.stats.interval import Interval
from constraintrot.stats.matching import numbered
from constraintrot.stats.paired import Comparison

REMOVED, SHAM = "summary_removed", "sham"
WHY = {
    "no_policy": "the summary held nothing of the policy",
    "nothing_left": "nothing of use is left without it",
    "no_match": "no other text of that size for the sham",
}


def lines(frame: pd.DataFrame) -> Iterator[str]:
    """Yield the notes: how much was removed, how many episodes are degenerate, the contrast."""
    edits = frame[frame["condition"].isin(EDITS)]
    if edits.empty:
        return
    yield from shares(edits)
    yield from _degenerate(edits)
    for agent in dict.fromkeys(edits["agent"]):
        mine = frame[(frame["agent"] == agent) & ~frame["allowed"]]
        if {REMOVED, SHAM} <= set(mine["condition"]):
            yield f"{agent}: {REMOVED} less {SHAM}, which is the policy's own part: {_said(mine)}."


def summaries(frame: pd.DataFrame) -> Iterator[str]:
    """Yield a note of summaries that had to be requested twice, and one of those cut off."""
    again, cut = (_above_zero(frame, name) for name in ("summary_retries", "summary_cut"))
    if again:
        yield f"{again} episodes start from a summary that was asked for twice, the first was empty."
    if cut:
        yield (
            f"{cut} episodes start from a summary that the summarizer's token limit cut off; a policy"
            " missing from it may have been cut, not left out (--max-tokens raises a hosted model's)."
        )


def _above_zero(frame: pd.DataFrame, name: str) -> int:
    return int((frame[name].dropna().astype(int) > 0).sum()) if name in frame else 0


def pairing(frame: pd.DataFrame) -> Iterator[str]:
    """Yield a note if defended episodes start from another summary than their undefended ones."""
    if "summary_draw" not in frame:
        return
    compacted = frame[frame["tokens_after"].notna() & ~frame["condition"].isin(EDITS)]
    keys = [key for key in KEYS if key in frame and key not in ("condition", "defense")]
    shared = _same_summary(compacted, keys)
    apart = {name: same for name, same in shared.items() if not all(same)}
    if apart:
        each = (f"{name} {same.count(False)} of {len(same)}" for name, same in apart.items())
        yield (
            "! Episodes with a defense that start from another summary than the same episode without"
            f" it: {', '.join(each)}. These pairs share the history only."
        )


def _same_summary(frame: pd.DataFrame, keys: Sequence[str]) -> dict[str, list[bool]]:
    """Return, by defense, whether each episode shares its summary with its undefended twin."""
    twins = numbered([frame], keys)
    draws, distinct = pd.factorize(frame["summary_draw"])
    bare = (frame["defense"] == "none").to_numpy()
    has_bare = np.zeros(int(twins.max(initial=-1)) + 1, bool)
    has_bare[twins[bare]] = True
    # Two gaps do not count as a shared summary.
    both = np.where(draws < 0, -1, twins * len(distinct) + draws)
    same = np.isin(both, both[bare & (both >= 0)])
    chosen = ~bare & has_bare[twins]
    names, defenses = pd.factorize(frame["defense"])
    return {
        str(defense): same[chosen & (names == at)].tolist()
        for at, defense in enumerate(defenses)
        if (chosen & (names == at)).any()
    }


def less_sham(frame: pd.DataFrame) -> Comparison:
    """Compare ``summary_removed`` with ``sham``, without the pairs that have a degenerate episode."""
    useful = frame[~degenerate(frame)]
    return frame_compare(useful, {"condition": SHAM}, {"condition": REMOVED})


def degenerate(frame: pd.DataFrame) -> pd.Series[bool]:
    """Return which episodes are degenerate: they show nothing of the policy's removal."""
    return frame["degenerate"] == True  # noqa: E712  # a column of objects


def _said(frame: pd.DataFrame) -> str:
    try:
        found = less_sham(frame)
    except ParameterError as error:
        return f"cannot be told ({error})"
    difference = found.difference
    if not isinstance(difference, Interval):
        return f"no interval ({difference.reason}), {difference.n} pairs"
    ends = (difference.estimate, difference.lower, difference.upper)
    middle, low, high = (f"{100 * value:+.0f}" for value in ends)
    return f"{middle} points [{low}, {high}], {difference.n} pairs"


def shares(frame: pd.DataFrame) -> Iterator[str]:
    """Yield a note with the mean share of the compactor's text that each counterfactual deleted."""
    edits = frame[frame["condition"].isin(EDITS)]
    if "removed_characters" not in edits:
        return
    told: list[str] = []
    for name in EDITS:
        part = edits[(edits["condition"] == name) & ~degenerate(edits)]
        part = part[part["removed_characters"].notna()]
        if not part.empty:
            characters, tokens = (
                float(part[column].astype(float).mean())
                for column in ("removed_characters", "removed_tokens")
            )
            told.append(f"{name} {100 * characters:.0f} % ({100 * tokens:.0f} %)")
    if told:
        yield (
            "Share of the compactor's text that was removed, mean of characters (of tokens):"
            f" {', '.join(told)}."
        )


def _degenerate(edits: pd.DataFrame) -> Iterator[str]:
    part = edits[degenerate(edits)]
    if part.empty:
        return
    # Older frames have only this reason.
    because = part.get("degenerate_because", ["no_policy"] * len(part))
    reasons = [str(one) if str(one) in WHY else "no_policy" for one in because]
    counts = Counter(reasons).most_common()
    why = "; ".join(f"{WHY[name]} ({n})" for name, n in counts)
    there = [name for name in EDITS if name in set(edits["condition"])]
    names = " and ".join([", ".join(there[:-1]), there[-1]] if there[1:] else there)
    yield f"{len(part)} of {len(edits)} {names} episodes are degenerate and in no contrast: {why}."
