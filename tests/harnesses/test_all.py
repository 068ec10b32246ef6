"""What holds of every harness in every compaction mode; what is particular has a file of its own."""

import importlib.metadata
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from inspect_ai.log import EvalSample
from inspect_ai.model import Model

from constraintrot.harnesses import HARNESSES
from constraintrot.harnesses.message_match import missing, spoken
from constraintrot.scenario.files import catalogue
from tests.conftest import Run
from tests.harnesses.episodes import compacted, error, failing, kept_by_summarizer, usual, violated
from tests.harnesses.live_agent import model_events
from tests.harnesses.modes import (
    FRAMEWORKS,
    MEMORY,
    MODES,
    NATIVE,
    NOWHERE,
    SUMMARISED,
    TOOL_ONLY,
    Mode,
)
from tests.helpers import answering, by_condition, samples, soaked

pytestmark = pytest.mark.early


def silent() -> Model:
    """A summarizer that says nothing."""
    return answering(" ")


def of_each_framework(modes: Iterable[str]) -> list[str]:
    """The first of each framework's modes: what is the framework's is tested with one."""
    return list({mode.split(":")[0]: mode for mode in reversed([*modes])}.values())


def initials(sample: EvalSample) -> str:
    """The roles of the last input, by their initials."""
    return "".join(role[0] for role in sample.metadata["roles"])


def test_every_mode_is_tested() -> None:
    assert set(FRAMEWORKS) < set(HARNESSES.names())
    registered = {f"{name}:{mode}" for name in FRAMEWORKS for mode in HARNESSES.get(name).modes}
    assert registered == {*MODES, MEMORY, NATIVE}


@pytest.mark.parametrize("harness", MODES)
def test_what_a_mode_keeps_and_what_it_records(shared_run: Run, harness: str) -> None:
    mode = MODES[harness]
    log = usual(shared_run, harness)
    lost = "user" in mode.loses
    assert by_condition(log) == {"floor": 1, "control": 0, "compaction": lost}
    (sample,) = samples(log)["compaction"]
    facts = sample.metadata
    framework = HARNESSES.get(harness.split(":")[0]).needs[0].distribution
    assert facts["framework"] == f"{framework} {importlib.metadata.version(framework)}"
    assert facts["summarizer_calls"] == mode.calls
    assert facts["summary_voice"] == mode.summary_role
    assert initials(sample) == mode.roles
    assert facts["roles_problem"] == mode.problem
    assert tuple(one["shown_verbatim"] for one in facts["rounds_run"]) == mode.shown
    assert facts["dropped"] > 0


@pytest.mark.parametrize("harness", soaked(MODES, of_each_framework(MODES)[:3]))
def test_the_pin_keeps_the_policy_among_bulk_too(shared_run: Run, harness: str) -> None:
    conditions = "compaction,attack_volume"
    given = {"harness": harness, "variants": 1, "conditions": conditions}
    log = shared_run("soft_email", defense="pin", **given)
    assert by_condition(log) == dict.fromkeys(conditions.split(","), 0)
    for condition, (sample,) in samples(log).items():
        facts = sample.metadata
        assert facts["compaction_ran"]
        assert facts["summarizer_calls"] == MODES[harness].calls
        # Where single messages are taken out, their sizes say which then meet.
        if condition == "compaction" or harness != "autogen:token_limited":
            assert facts["roles_problem"] == MODES[harness].pinned_problem
    if not harness.startswith(("inspect_react:", "autogen:")):
        # Elsewhere the pin is part of a message that is there without it.
        (sample,) = samples(log)["compaction"]
        assert initials(sample) == MODES[harness].roles


@pytest.mark.parametrize(
    ("harness", "families"),
    soaked(
        [
            ("inspect_react:summary", ["soft_language"]),
            *((harness, sorted(catalogue())) for harness in [*MODES, MEMORY]),
        ],
        [("inspect_react:summary", ["soft_language"])],
    ),
)
def test_every_family_is_played_and_proves_its_compactions(
    run: Run, harness: str, families: list[str]
) -> None:
    log = run("suite", harness=harness, families=families, variants=4, context_tokens=2000)
    played = samples(log)
    assert {name: len(found) for name, found in played.items()} == dict.fromkeys(
        ("floor", "control", "compaction"), 4 * len(families)
    )
    assert not any(sample.metadata["summarizer_calls"] for sample in played["control"])
    # The control's last input is the whole history; a compaction's lacks a part of it.
    for whole, sample in zip(played["control"], played["compaction"], strict=True):
        requests = {message.text for message in whole.messages if message.role == "user"}
        asked = [event for event in model_events(sample) if event.role == "summarizer"]
        assert bool(asked) is bool(harness in MODES and MODES[harness].calls)
        shown = "\n".join(message.text for event in asked for message in event.input)
        assert sum(text in shown for text in requests) > 2 or not asked
        assert sample.metadata["dropped"] > 0
        assert len(missing(spoken(whole.messages[:-1]), sample.messages)) > 0


CHANNELS: dict[str, dict[str, Any]] = {
    "user": {},
    "tool": {},
    "memory": {"attack": "inject_deprecation"},
    "system": {},
}
CHANNEL_OF = [(channel, harness) for harness in [*MODES, MEMORY] for channel in CHANNELS]
# The user's channel is that of the tests above.
QUICK = [
    (channel, harness)
    for channel, harness in CHANNEL_OF
    # What memory says stands where the user's words would.
    if (harness in of_each_framework(MODES) and channel in ("system", "tool"))
    or (channel == "tool" and harness in MODES and MODES[harness].loses == TOOL_ONLY)
    or harness == MEMORY
]


@pytest.mark.parametrize(("channel", "harness"), soaked(CHANNEL_OF, QUICK))
def test_every_channel_of_a_short_history_without_the_pin_and_with_it(
    run: Run, channel: str, harness: str
) -> None:
    given = {"channel": channel, **CHANNELS[channel]}
    given = {"harness": harness, "conditions": "compaction", "context_tokens": 400} | given
    log = run("pin_stress", variants=1, families="soft_email", defenses="none,pin", **given)
    mode = MODES.get(harness, Mode("", loses=NOWHERE))
    lost = channel in mode.loses
    assert by_condition(log) == {"compaction/none": lost, "compaction/pin": 0}
    for sample in samples(log)["compaction"]:
        assert sample.metadata["compaction_ran"]
        assert bool(sample.metadata["summarizer_calls"]) is bool(mode.calls)


@pytest.mark.parametrize("harness", soaked([*MODES, MEMORY], [*of_each_framework(MODES), MEMORY]))
def test_a_long_history_with_the_pin(run: Run, harness: str) -> None:
    given = {"context_tokens": 1500, "channel": "tool", "defense": "pin"}
    sample = compacted(run, harness=harness, **given)
    assert sample.metadata["compaction_ran"]
    assert not violated(sample)


@pytest.mark.parametrize("harness", soaked(SUMMARISED, of_each_framework(SUMMARISED)))
def test_the_summarizer_is_the_role_s(shared_run: Run, harness: str) -> None:
    mode = MODES[harness]
    sample = kept_by_summarizer(shared_run, harness, "user" if "user" in mode.loses else "tool")
    # It tells of what it was shown.
    assert violated(sample) is not mode.shown[0]
    assert sample.metadata["summarizer"] == "scripted/summarizer-keep"


@pytest.mark.parametrize(
    ("summarizer", "why", "harness"),
    [
        *soaked(
            [(failing, "is down", harness) for harness in SUMMARISED],
            [(failing, "is down", harness) for harness in of_each_framework(SUMMARISED)],
        ),
        *soaked(
            [(silent, "wrote no summary", harness) for harness in SUMMARISED],
            [(silent, "wrote no summary", SUMMARISED[0])],
        ),
    ],
)
def test_a_summarizer_that_fails_is_an_error_whatever_the_framework_makes_of_it(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    summarizer: Callable[[], Model],
    why: str,
    harness: str,
) -> None:
    # LangChain tries three times, seconds apart.
    monkeypatch.setattr("tenacity.wait.wait_exponential_jitter.__call__", lambda *_: 0)
    roles = {"summarizer": summarizer()}
    assert why in error(run, harness=harness, context_tokens=300, model_roles=roles)
