"""Survival of the policy: violation by survival, mediation, agreement of checks, rounds to loss."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from constraintrot.episode.facts import KEYS
from constraintrot.errors import ParameterError
from constraintrot.report import contrasts
from constraintrot.report.arms import frame_mediate, labels
from constraintrot.report.page import design, paper
from constraintrot.report.page.figure import mosaic, steps
from constraintrot.report.page.sweep import sweeps
from constraintrot.report.page.view import (
    Block,
    Cells,
    Missing,
    Row,
    Section,
    Table,
    p_text,
    points,
    share,
)
from constraintrot.rule_text.rule_reader import adapter
from constraintrot.rule_text.survival.states import EVERY_STATE, PRIMARY
from constraintrot.stats.agreement import cohen_kappa, krippendorff_alpha
from constraintrot.stats.curves import SurvivalCurve, rounds_to_loss
from constraintrot.stats.interval import Estimate, Interval
from constraintrot.stats.mediation import Mediation, by_survival
from constraintrot.stats.paired import Comparison

TITLE = "Survival of the policy"
ROUNDS = "Rounds until the policy is lost"
_EVAL = "inspect eval constraintrot/suite --model MODEL"
VALIDATED = "How well validated: results/survival-validation.md."
_ARMS = (design.COMPACTION, "attack_volume", "attack_inject")


def survival(cells: Cells, frame: pd.DataFrame) -> Section:
    """Return the section on the paper's section 5: violation by whether the policy survived."""
    asked = frame[~frame["allowed"] & frame["arm"].isin(_ARMS)]
    asked = asked[asked["violation"].notna()]
    told = asked[asked["survived"].notna()]
    if told.empty:
        missing = Missing(TITLE, f"{_EVAL} -T conditions=compaction,attack_volume,attack_inject")
        return Section("survival", TITLE, (missing, f"{paper.SURVIVAL.capitalize()}."))
    blocks: list[Block] = []
    for agent in design.agents(told):
        measured = _measured(asked[asked["agent"] == agent])
        blocks += _of_agent(cells, told[told["agent"] == agent], agent, measured)
    return Section(
        "survival", TITLE, (*blocks, *_mediation(cells, frame), *_agreement(cells, told))
    )


def _of_agent(
    cells: Cells, asked: pd.DataFrame, agent: str, measured: Sequence[str]
) -> list[Block]:
    result = by_survival(
        asked["violation"].to_numpy(float), asked["survived"].to_numpy(float), labels(asked)
    )
    rows = tuple(
        Row((name,), (cells.rate(part, "violation", (TITLE, f"{agent}, {name}", "violation")),))
        for name, part in _states(asked)
    )
    both = all(sum(row) for row in result.table)
    tested = (
        "no p-value, because variants have several episodes"
        if result.p_value is None
        else f"{p_text(result.p_value)} (Fisher's exact, exploratory: not adjusted)"
    )
    notes = (
        f"Lost less kept: {points(cells.keep(result.difference, TITLE, agent, 'lost less kept'))},"
        f" {tested}."
        if both
        else "All episodes fell into one of the two states, so nothing can be said of the other.",
        f"Compacted episodes without a defense; {paper.SURVIVAL}.",
        *measured,
    )
    caption = f"{agent}: violation by survival"
    table = Table(caption, ("context",), ("violation",), rows, notes)
    width = f"{agent}. Width: how often the policy survived; height: how often violated"
    return [mosaic(result.table, width), table]


def _states(frame: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Return the episodes that kept the policy and those that lost it, each also by state."""
    found: list[tuple[str, pd.DataFrame]] = []
    for name, value in (("policy survived", 1.0), ("policy did not survive", 0.0)):
        part = frame[frame["survived"] == value]
        states = [(state, part[part["state"] == state]) for state in EVERY_STATE]
        told = [(f"{name}: {state}", one) for state, one in states if len(one)]
        found += [(name, part), *(told if len(told) > 1 else [])]
    return found


def _measured(frame: pd.DataFrame) -> list[str]:
    said = [
        f"Survived: verbatim or restated by {_by(name)}"
        for name in dict.fromkeys([PRIMARY, *frame["measure"].dropna()])
        if name != "mentions" and (name != PRIMARY or _is_by_rules(frame))
    ]
    unsure = int((frame["state"] == "cannot tell").sum())
    if unsure:
        said.append(f"The reader could not tell of {unsure} of {len(frame)} episodes.")
    old = int((frame["measure"] == "mentions").sum())
    if old == len(frame):
        said = []
    if old:
        said.append(
            f"{old} of {len(frame)} episodes are from before a policy had a state: there it survived"
            " where all its slots are mentioned, also where the rule is negated or weakened."
        )
    return said


def _is_by_rules(frame: pd.DataFrame) -> bool:
    measures = set(frame["measure"].dropna()) - {"mentions"}
    return PRIMARY in measures or not measures


def _by(name: str) -> str:
    if name == PRIMARY:
        return f"the {PRIMARY}, declared before any run. {VALIDATED}"
    claim = adapter.claim(name)
    said = f" ({claim})" if claim else ""
    return f"the reader `{name}`{said}; how well readers read is in results/reading.md."


def _mediation(cells: Cells, frame: pd.DataFrame) -> list[Block]:
    blocks: list[Block] = []
    asked = frame[~frame["allowed"] & (frame["defense"] == "none") & (frame["attack"] == "none")]
    for agent in design.agents(asked):
        mine = asked[asked["agent"] == agent]
        if not {"control", "summary_removed", "summary_restored"} <= set(mine["condition"]):
            continue
        try:
            found = frame_mediate(mine)
        except ParameterError as error:
            blocks.append(f"{agent}: no mediation: {error}.")
            continue
        blocks.append(_mediated(cells, found, agent, mine))
    if not blocks:
        command = f"{_EVAL} -T conditions=control,compaction,summary_removed,sham,summary_restored"
        blocks.append(Missing("Mediation (policy taken out of a summary, and put back)", command))
    return blocks


def _own(frame: pd.DataFrame) -> Comparison | None:
    if contrasts.SHAM not in set(frame["condition"]):
        return None
    try:
        return contrasts.less_sham(frame)
    except ParameterError:
        return None


def _mediated(cells: Cells, found: Mediation, agent: str, frame: pd.DataFrame) -> Table:
    own = _own(frame)
    effects = (
        ("compaction less control", "total", found.total),
        ("policy put back, less control", "direct", found.direct),
        *(
            (("policy taken out, less put back", "deletion", found.deletion),)
            if found.deletion
            else ()
        ),
        *((("policy taken out, less as much else taken out", "own part", own),) if own else ()),
    )
    rows = [
        Row((text, name), (points(cells.keep(one.difference, TITLE, agent, name)),))
        for text, name, one in effects
    ]
    told = share(cells.keep(found.share, TITLE, agent, "share carried by deletion"))
    if found.degenerate == found.n:
        told = "cannot be told: all summaries are degenerate"
    rows.append(Row(("share carried by deletion", "1 − direct / total"), (told,)))
    notes = (
        f"{found.degenerate} of {found.n} summaries held no policy to take out, or nothing of use"
        " beside it (degenerate): there only putting it back says anything.",
    ) * bool(found.degenerate)
    notes += tuple(contrasts.shares(frame))
    heads = ("effect", "name")
    return Table(f"{agent}: mediation by deletion", heads, ("estimate",), tuple(rows), notes)


def _agreement(cells: Cells, frame: pd.DataFrame) -> list[Block]:
    rows: list[Row] = []
    for name in ("mentions", "verbatim", "judge"):
        both = frame[frame[name].notna()]
        if both.empty:
            continue
        if bool((both["measure"] == name).all()):
            continue
        agree = int((both[name] == both["survived"]).sum())
        said = "undefined: the primary measure says the same of all"
        if both["survived"].nunique() > 1:
            kappa = cohen_kappa(list(both["survived"]), list(both[name]), labels(both))
            said = _beyond_chance(cells.keep(kappa, TITLE, f"kappa of survived and {name}"))
        rows.append(Row((f"survived and {name}",), (f"{agree}/{len(both)}", said)))
    if not rows:
        return []
    names = [
        name
        for name in ("survived", "mentions", "verbatim", "judge")
        if frame[name].notna().any() and not bool((frame["measure"] == name).all())
    ]
    found = krippendorff_alpha([list(frame[name]) for name in names], labels(frame))
    alpha = _beyond_chance(cells.keep(found, TITLE, "alpha of all checks"))
    notes = (f"Krippendorff's alpha of survived and {' and '.join(names[1:])}: {alpha}.",)
    caption = "Agreement of survival checks"
    return [Table(caption, ("checks",), ("agree", "Cohen's kappa"), tuple(rows), notes)]


def _beyond_chance(found: Estimate) -> str:
    if isinstance(found, Interval) or math.isnan(found.estimate):
        return share(found)
    return f"{found.estimate:.2f}, without an interval: {found.reason}"


def rounds(cells: Cells, frame: pd.DataFrame) -> Section:
    """Return the section of survival curves, over variants played with 1, 2, 3 ... rounds."""
    asked = frame[
        ~frame["allowed"] & (frame["arm"] == design.COMPACTION) & frame["survived"].notna()
    ]
    curves: list[tuple[str, SurvivalCurve]] = []
    for sweep in sweeps(design.counted(asked, "rounds"), "rounds"):
        curve = _curve(sweep.frame)
        if curve is not None:
            curves.append((sweep.name, curve))
    if not curves:
        command = f"for r in 1 2 3; do {_EVAL} -T conditions=control,compaction -T rounds=$r; done"
        return Section("rounds", ROUNDS, (Missing(f"{ROUNDS} (one number of rounds)", command),))
    rows = tuple(
        Row(
            (agent, f"{step.time:g}"),
            (
                str(step.at_risk),
                str(step.lost),
                share(cells.keep(step.kept, ROUNDS, agent, f"after round {step.time:g}")),
            ),
        )
        for agent, curve in curves
        for step in curve.steps
    )
    notes = tuple(
        f"{agent}: {curve.n} variants, {curve.censored} still held it when last looked at; half have"
        f" lost it after round {'-' if curve.median is None else f'{curve.median:g}'}."
        for agent, curve in curves
    )
    columns = ("at risk", "lost", "share kept")
    table = Table(
        "Policy survived by round (Kaplan-Meier)", ("model", "round"), columns, rows, notes
    )
    return Section(
        "rounds", ROUNDS, (steps(curves, "Share that keeps the policy, by round"), table)
    )


def _curve(frame: pd.DataFrame) -> SurvivalCurve | None:
    """Return the survival curve of variants played with 1, 2 ... rounds without a gap."""
    keys = [name for name in KEYS if name != "rounds"]
    times: list[int] = []
    lost: list[int] = []
    first: list[int] = []
    for _, group in frame.groupby(keys, sort=False, dropna=False):
        seen = {
            int(r): bool(kept) for r, kept in zip(group["rounds"], group["survived"], strict=True)
        }
        last = next(r for r in range(1, len(seen) + 2) if r not in seen) - 1
        if last < 1:
            continue
        lost_at = next((r for r in range(1, last + 1) if not seen[r]), None)
        times.append(last if lost_at is None else lost_at)
        lost.append(int(lost_at is not None))
        first.append(int(group.index[0]))
    if not times:
        return None
    return rounds_to_loss(np.array(times), np.array(lost), labels(frame.loc[first]))
