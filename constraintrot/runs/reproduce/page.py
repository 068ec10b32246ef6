"""The page of a reproduction: Markdown, HTML and JSON."""

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

from constraintrot.errors import ConstraintRotError
from constraintrot.report import qualification as qualifying
from constraintrot.report.claims import html
from constraintrot.report.claims.page import SHOWN_OF_REVIEW, Words, legend, markdown
from constraintrot.report.page.markdown import inert
from constraintrot.report.page.summary import rounded
from constraintrot.report.tables import Table
from constraintrot.runs.reproduce import corrections, kept
from constraintrot.runs.reproduce.cells import chunks
from constraintrot.runs.reproduce.play import (
    QUALIFICATION,
    State,
    after,
    needs,
    qualified,
    sizes_of,
)
from constraintrot.runs.reproduce.registration import Registration, presets
from constraintrot.runs.reproduce.string_reader import Agreement, agreements
from constraintrot.tasks.catalogue import FAMILIES

_DESIGN = (
    "The agent is a script that does what its input says of the policy, so a verdict is about what"
    " stands in its last input, that is about the design of the test, and about no model."
)
_BY_CONSTRUCTION = (
    "By construction (a program that only looks whether the policy's sentence stands word for word"
    " in the last input, and breaks it where it does not, gets the same verdict)"
)
_WITHOUT_LOGS = (
    f"Made from {kept.EPISODES} and {kept.FACTS}, without the logs: the figures are what these two"
    " files say, and were not compared with any log."
)
_DECAY = "Compaction makes agents break policies"
# The summarizer's prompts that ask for the work and not for rules.
_NOT_FOR_RULES = ("tight", "neutral")
_MEANS = (
    "by construction: a program without a model, which looks for the policy's sentence in the last"
    " input, gets the same verdict.",
)
NAMES = ("claims.md", "claims.html", "claims.json")


def write(folder: Path, registration: Registration) -> str:
    """Write the page of the episodes so far; return its path and the counts of its verdicts."""
    state = reached(registration, folder)
    if state.looked is None or state.frame is None:
        raise ConstraintRotError(
            f"{folder}: no look is whole yet; go on with `constraintrot reproduce play {folder}`"
        )
    one = qualifying.read(folder / QUALIFICATION)
    answered = corrections.corrected(state.looked.answered, folder)
    decided = {
        one.claim.title: at
        for one in answered
        if (at := state.looked.decided.get(one.claim.title)) and one.verdict != "cannot tell"
    }
    left_out = {plan.title: plan.because for plan in registration.planned if not plan.pairs}
    title = f"The paper's claims, asked of {registration.model}"
    opening = list(_opening(registration, folder, state))
    scripted = _is_script(registration)
    readers, survival = ({}, {}) if scripted else _readers(registration, folder, state)
    design_ = {title: _read_by(one) for title, one in readers.items() if one.same}
    if scripted:
        design_ = dict.fromkeys((one.claim.title for one in answered), _DESIGN)
    elif design_:
        opening.append(f"{_BY_CONSTRUCTION}: {'; '.join(design_)}.")
    played = {*map(str, state.frame["family"])}
    names = [name for name in qualified(registration, folder) if name in played]
    families = ", ".join(names) or "no family"
    lost = int(state.frame["violation"].isna().sum())
    words = Words(
        (f"# {title}", "", *(line for text in opening for line in (text, ""))),
        "\n".join([f"Claims are of {families}.", "", *_left_out(left_out)]).rstrip(),
        f"{len(state.frame) - lost:,} episodes" + f" ({lost:,} more have no verdict)" * bool(lost),
        f"the {state.looked.family.size} planned claims; each p-value counts all"
        f" {registration.looks} looks (O'Brien and Fleming's boundary)",
        by_construction=design_,
        by_survival={
            title: _survived_by(one)
            for title, one in survival.items()
            if one.same and title not in design_
        },
        level=registration.qualification.level,
    )
    page = inert(markdown(answered, state.frame, state.looked.family, [one], words))
    data = {
        "version": 1,
        "model": registration.model,
        "by_construction": scripted,
        "string_reader": {title: asdict(one) for title, one in readers.items()},
        "survival_reader": {title: asdict(one) for title, one in survival.items()},
        "preset": registration.preset,
        "registration": registration.digest,
        "from_logs": kept.has_logs(folder),
        "look": state.look,
        "looks": registration.looks,
        "dollars": state.dollars,
        "departures": list(departures(registration, folder, state)),
        "claims": [html.facts(claim, decided.get(claim.claim.title)) for claim in answered]
        + [
            {
                "title": name,
                "verdict": "not measured",
                "reasons": [{"reason": "plan", "words": why}],
            }
            for name, why in left_out.items()
        ],
    }
    texts = (
        page,
        html.html(
            title,
            opening,
            answered,
            left_out,
            decided,
            design_,
            [*legend(state.looked.family, words.adjusted), *_MEANS],
        ),
        json.dumps(rounded(data), indent=1) + "\n",
    )
    for name, text in zip(NAMES, texts, strict=True):
        kept.replace(folder / name, text)
    kept.write(registration, folder)
    verdicts = [claim.verdict for claim in answered]
    told = ", ".join(f"{verdicts.count(name)} {name}" for name in dict.fromkeys(verdicts))
    if left_out:
        told += f", {len(left_out)} not played"
    return f"{folder / NAMES[1]}: {told}"


def reached(registration: Registration, folder: Path) -> State:
    """Return the state after the last complete look; nothing is played."""
    sizes = sizes_of(registration, qualified(registration, folder))
    played = kept.played(registration, folder)
    state = State(0, None, None, dollars=played.dollars)
    for look in range(1, registration.looks + 1):
        needed, there = needs(registration, sizes, state.decided, look)
        missing = [
            one
            for one in chunks(needed, there, registration.seed)
            if one.name not in played.evaluations
        ]
        if missing:
            return replace(state, stopped=f"look {look} lacks {len(missing)} of its evaluations")
        state = State(look, *after(registration, sizes, folder, look), dollars=played.dollars)
        if len(state.decided) == len(sizes):
            break
    return state


def departures(registration: Registration, folder: Path, state: State) -> Iterator[str]:
    if (now := kept.played(registration, folder).code) != registration.code:
        yield (
            f"The code is {_code(now)}, and {_code(registration.code)} when this was registered."
        )
    lost = [name for name in registration.families if name not in qualified(registration, folder)]
    if lost:
        yield f"Left out, because the subject does not qualify on them: {', '.join(lost)}."
    if state.stopped:
        yield f"Not played to its end: {state.stopped}."
    if state.look and state.looked and state.look < registration.looks and not state.stopped:
        yield f"All claims were decided at look {state.look}."


def _readers(
    registration: Registration, folder: Path, state: State
) -> tuple[dict[str, Agreement], dict[str, Agreement]]:
    assert state.looked is not None
    assert state.frame is not None
    sizes = sizes_of(registration, qualified(registration, folder))
    given = registration, sizes, state.frame, state.looked, state.look
    return agreements(*given, "verbatim"), agreements(*given, "survived")


def _read_by(one: Agreement) -> str:
    return (
        "A program that only looks whether the policy's sentence stands word for word in the last"
        f" input does as the agent did in {one.agreed} of {one.episodes} episodes, and gets the"
        " same verdict: the claim is about where compaction leaves the sentence, given an agent"
        " that obeys one that it sees."
    )


def _survived_by(one: Agreement) -> str:
    return (
        "A program that keeps exactly the policies of which the reader of rules says that they survived"
        f" does as the agent did in {one.agreed} of {one.episodes} episodes, and gets the same verdict:"
        " what the agent adds is that it heeds what is left, in whatever words."
    )


def _is_script(registration: Registration) -> bool:
    return registration.model.startswith("scripted/")


def _is_shown_of_review(registration: Registration, state: State) -> bool:
    asked = registration.settings.get("prompt"), registration.settings.get("scaffold")
    answered = () if state.looked is None else state.looked.answered
    return (
        asked[0] in _NOT_FOR_RULES
        and asked[1] == "review"
        and any(one.claim.title == _DECAY and one.verdict == "same" for one in answered)
    )


def _opening(registration: Registration, folder: Path, state: State) -> Iterator[str]:
    preset = presets()[registration.preset]
    if _is_script(registration):
        yield _DESIGN
    elif _is_shown_of_review(registration, state):
        yield SHOWN_OF_REVIEW
    settings = ", ".join(f"{name} {value}" for name, value in registration.settings.items())
    yield (
        f"Governance Decay, arXiv 2606.22528. Preset {registration.preset} ({settings}): {preset.about}"
    )
    yield (
        f"Registered before anything was played, digest {registration.digest[:16]}, code"
        f" {_code(registration.code)}. Look {state.look} of {registration.looks};"
        f" $ {state.dollars:.2f} spent."
    )
    if not kept.has_logs(folder):
        yield _WITHOUT_LOGS
    if registration.seed:
        yield f"Variants from seed {registration.seed} on."
    if unasked := [name for name in FAMILIES if name not in registration.families]:
        yield f"Registered without the families {', '.join(unasked)}."
    most = max((one.pairs for one in registration.planned), default=0)
    if preset.pairs is not None and most not in (0, preset.pairs):
        yield f"Each claim has up to {most} requests, and not the preset's {preset.pairs}."
    yield from (*departures(registration, folder, state), *preset.open)


def _left_out(left_out: dict[str, str]) -> Iterator[str]:
    if left_out:
        yield Table(("not played", "why"), list(left_out.items())).markdown()


def _code(told: dict[str, str]) -> str:
    version, sources = (told.get(name, "unknown") for name in ("version", "sources"))
    return " ".join(f"{version} ({sources})".split())
