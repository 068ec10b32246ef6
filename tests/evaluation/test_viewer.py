"""What a reader of ``inspect view`` is shown, and that nobody else is."""

from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.event import InfoEvent
from inspect_ai.log import EvalLog

from constraintrot.evaluation import viewer
from constraintrot.scenario.files import sampled
from constraintrot.tasks.catalogue import soft_email, utility
from constraintrot.tasks.operator_channel import operator_channel
from tests.conftest import Run
from tests.helpers import metrics, samples


def listed(task: Task) -> dict[str, Sample]:
    """The samples of one variant, by condition."""
    return {(sample.metadata or {})["condition"]: sample for sample in task.dataset}


def test_each_row_has_its_condition_its_request_and_the_policy() -> None:
    rows = listed(soft_email(conditions="floor,control,defense_pin", variants=1))
    variant = sampled(rows["control"].metadata or {})
    assert {name: row.input for name, row in rows.items()} == {
        name: f"[{name}] {variant.trigger}" for name in rows
    }
    policy = variant.policy("declarative")
    assert rows["control"].target == rows["defense_pin"].target == f"Prohibited: {policy}"
    assert rows["floor"].target == f"Not stated here: {policy}"


def test_what_the_condition_does_not_imply_is_named() -> None:
    given: dict[str, Any] = {"variants": 1, "attack": "volume", "defense": "pin"}
    rows = listed(soft_email(conditions="compaction", **given))
    assert str(rows["compaction"].input).startswith("[compaction, attack volume, defense pin] ")


def test_an_allowed_request_is_shown_as_such() -> None:
    row = utility(conditions="control", variants=1).dataset[0]
    variant = sampled(row.metadata or {})
    assert row.input == f"[control] {variant.allowed_trigger}"
    assert row.target == f"Allowed: {variant.policy('declarative')}"


def test_an_operators_change_is_in_the_target() -> None:
    cases = ("forged_rescind", "genuine_rescind", "genuine_amend", "genuine_amend_other")
    rows = listed(
        operator_channel(
            families="soft_deploy", conditions=cases, variants=1, defenses="operator_channel"
        )
    )
    variant = sampled(rows["genuine_amend"].metadata or {})
    policy, region = variant.policy("declarative"), str(variant.values["region"])
    target = {name: str(row.target) for name, row in rows.items()}
    assert target["forged_rescind"] == f"Prohibited: {policy}"
    assert target["genuine_rescind"] == f"Allowed (the operator withdrew or exempted it): {policy}"
    assert target["genuine_amend"].startswith("Allowed (as amended): ")
    assert str(variant.values["other_region"]) in target["genuine_amend"]
    assert target["genuine_amend_other"].startswith("Prohibited (as amended): ")
    assert region not in target["genuine_amend_other"]


@pytest.fixture
def log(shared_run: Run) -> EvalLog:
    return shared_run("soft_email", conditions="floor,defense_pin", variants=1, context_tokens=800)


def infos(log: EvalLog, condition: str) -> dict[str, str]:
    """The texts for readers in a sample's transcript, by source."""
    (sample,) = samples(log)[condition]
    return {
        # Inspect keeps a long text apart.
        str(event.source): sample.attachments.get(
            event.data.removeprefix("attachment://"), event.data
        )
        for event in sample.events
        if isinstance(event, InfoEvent) and isinstance(event.data, str)
    }


def test_the_transcript_says_what_is_staged_and_what_came_of_it(log: EvalLog) -> None:
    (sample,) = samples(log)["defense_pin"]
    variant, facts = sampled(sample.metadata), sample.metadata
    staged, result = (
        infos(log, "defense_pin")[source] for source in (viewer.EPISODE, viewer.RESULT)
    )
    assert sample.events.index(
        next(event for event in sample.events if isinstance(event, InfoEvent))
    ) < min(at for at, event in enumerate(sample.events) if event.event == "model")
    assert f"**Policy** (channel user): {variant.policy('declarative')}" in staged
    assert f"**Asked** (prohibited): {variant.trigger}" in staged
    assert "condition defense_pin, compactor summarize, defense pin, harness replay" in staged
    assert "- pins at the compaction: injected, in message 2, " in result
    assert "- pins at the agent's call: verified, in message 2, " in result
    before, after, sent = (
        f"{facts[name]:,}" for name in ("tokens_before", "tokens_after", "input_tokens")
    )
    assert f"{before} before the (last) compaction, {after} after it, {sent} in the" in result
    plain = infos(log, "floor")
    assert "**Policy** (not stated in this condition)" in plain[viewer.EPISODE]
    # Without a receipt there is nothing to say that the metadata does not.
    assert viewer.RESULT not in plain


def test_no_model_is_sent_what_is_for_readers(log: EvalLog) -> None:
    for condition in ("floor", "defense_pin"):
        (sample,) = samples(log)[condition]
        sent = [
            message.text
            for event in sample.events
            if event.event == "model"
            for message in event.input
        ]
        assert sent
        assert not any(f"[{condition}]" in text for text in sent)
    policy = sampled(sample.metadata).policy("declarative")
    assert str(samples(log)["floor"][0].target).endswith(policy)
    assert not any(policy in message.text for message in samples(log)["floor"][0].messages)


def test_recalled_says_that_nobody_was_asked(log: EvalLog) -> None:
    assert metrics(log, "recalled") == {"episodes asked": 0}


def info(source: str, **data: Any) -> InfoEvent:
    return InfoEvent(source=source, data=data)


def test_a_line_of_each_receipt_repeats_no_words_of_a_model() -> None:
    said = viewer.result_text(
        {},
        [
            info(
                "pin receipt", where="call", state="absent", at=None, tokens=0, missing=["a", "b"]
            ),
            info("pin receipt", where="call", state="verified", at=-1, tokens=9),
            info("operator channel", accepted=False, error="BadSignature", reason="evil"),
            info("operator channel", accepted=True, kind="amend", revision=2),
            info("operator channel", outcome="exempted", function="evil", reason="evil"),
            info("tool_gate", outcome="blocked", function="evil", reason="evil"),
            info("something else", outcome="evil"),
        ],
    )
    assert said.splitlines() == [
        "- pins at the agent's call: absent, in no message, 0 tokens, 2 missing",
        "- pins at the agent's call: verified, in the instructions, 9 tokens",
        "- directive refused: BadSignature",
        "- directive applied: amend, revision 2",
        "- call checked: exempted",
        "- call checked: blocked",
    ]
    many = viewer.result_text({}, [info("tool_gate", outcome="approved")] * 40)
    assert many.splitlines()[-1] == "- 28 more receipts"
