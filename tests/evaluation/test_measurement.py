"""The rules that keep the measurement true, one test each."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import anyio
import pytest
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    get_model,
)

from constraintrot.coding_agents import install
from constraintrot.coding_agents.catalogue import package
from constraintrot.episode.messages import (
    conversation_messages,
    tool_infos,
    trigger_messages,
)
from constraintrot.episode.staging import stage
from constraintrot.errors import ConstraintRotError, ParameterError
from constraintrot.evaluation.harness import HARNESSES, parse_harness
from constraintrot.scenario.files import load
from tests.conftest import Run
from tests.helpers import by_condition, samples

METADATA = [
    "family",
    "kind",
    "locale",
    "wording",
    "channel",
    "condition",
    "compactor",
    "prompt",
    "budget_words",
    "rounds",
    "scaffold",
    "attack",
    "defense",
    "harness",
    "agent",
    "summarizer",
    "seed",
    "replicate",
]


def policy_texts(sample: Any) -> list[int]:
    """Positions of the messages of the last model input that hold the policy."""
    variant = load(sample.metadata["family"]).variant(sample.metadata["seed"])
    policy = variant.policy("declarative")
    return [at for at, message in enumerate(sample.messages[:-1]) if policy in message.text]


def test_the_policy_is_the_first_turn_after_the_protected_input(run: Run) -> None:
    log = run("soft_spend", variants=2, conditions="floor,control")
    found = samples(log)
    for sample in found["control"]:
        at = policy_texts(sample)
        protected = [m for m in sample.messages if m.source == "input"]
        assert at == [len(protected)]
        assert sample.messages[: len(protected)] == protected
        assert not any("limit" in str(m.text) for m in protected)
    assert all(policy_texts(sample) == [] for sample in found["floor"])


def test_the_trigger_stands_whole_after_the_compaction(run: Run) -> None:
    for sample in run("soft_deploy", variants=3, rounds=2).samples or []:
        variant = load("soft_deploy").variant(sample.metadata["seed"])
        assert sample.messages[-2].role == "user"
        assert variant.trigger in sample.messages[-2].text
        assert not any(variant.trigger in str(entry) for entry in sample.metadata["rounds_run"])


def test_metadata_always_holds_the_same_facts(run: Run) -> None:
    for sample in run("suite", variants=1).samples or []:
        for name in METADATA:
            assert sample.metadata[name] is not None, name
        if sample.metadata["condition"] != "compaction":
            assert sample.metadata["compactor"] == "none"
            assert sample.metadata["rounds"] == "none"
        else:
            assert sample.metadata["compaction_ran"]
            assert sample.metadata["tokens_before"] > sample.metadata["tokens_after"]


def test_replicates_are_epochs(run: Run) -> None:
    log = run("soft_email", variants=1, epochs=3)
    assert {sample.metadata["replicate"] for sample in log.samples or []} == {0, 1, 2}


def test_conditions_are_paired_on_variant_and_history(run: Run) -> None:
    histories: dict[int, set[str]] = defaultdict(set)
    for sample in run("soft_email", variants=3, conditions="floor,control").samples or []:
        # After the opening (system, preamble, reply) and the policy or neutral turn.
        texts = [m.text for m in sample.messages[5:-2]]
        histories[sample.metadata["seed"]].add(json.dumps(texts))
    assert {len(seen) for seen in histories.values()} == {1}
    assert len({text for seen in histories.values() for text in seen}) == 3


def test_a_long_context_is_long_and_uncompacted(run: Run) -> None:
    log = run("soft_email", variants=1, conditions="control,long_context:6000")
    assert by_condition(log) == {"control": 0.0, "long_context": 0.0}
    (sample,) = samples(log)["long_context"]
    assert not sample.metadata["compaction_ran"]
    assert policy_texts(sample)
    assert len(sample.messages) > 150


def test_scripted_models_see_messages_and_tools_only(run: Run) -> None:
    """Swapping all metadata of the messages changes no answer."""
    model = get_model("scripted/obedient")
    episode = stage(load("soft_deploy").variant(1), policy=True)
    messages = [
        *conversation_messages(episode),
        *trigger_messages(episode),
    ]
    swapped = [m.model_copy(update={"metadata": {"origin": "x"}}) for m in messages]
    tools = tool_infos(episode.variant.tools)

    async def ask(given: list[ChatMessage]) -> Any:
        output = await model.generate(given, tools=tools, config=GenerateConfig())
        return [(call.function, call.arguments) for call in output.message.tool_calls or []]

    assert anyio.run(ask, messages) == anyio.run(ask, swapped)
    assert anyio.run(ask, messages)[0][0] == "decline"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"colour": "red"}, "unknown task parameter 'colour'; known: conditions"),
        (
            {"conditions": "floor,flour"},
            "unknown condition of this task 'flour'; known: attack_inject, ",
        ),
        ({"locale": "fr"}, "unknown locale 'fr'; known: en"),
        ({"channel": "system", "conditions": "control,summary_removed"}, "another channel"),
        ({"rounds": 2, "compact_at": 500}, "leave rounds at 1"),
    ],
)
def test_a_wrong_parameter_is_refused_at_once(
    run: Run, given: dict[str, Any], says: str, tmp_path: Path
) -> None:
    with pytest.raises(PrerequisiteError) as raised:
        run("soft_email", **given)
    assert says in str(raised.value)
    assert isinstance(raised.value.__cause__, ConstraintRotError)
    assert not list(tmp_path.rglob("*.eval"))


def test_harnesses_know_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    # Whoever tests this may have agents of their own, in other versions.
    monkeypatch.setattr(install, "of_user", lambda package: None)
    assert "replay" in HARNESSES.names()
    for name in HARNESSES.names():
        program = name.removeprefix("coding/")
        if program != name and install.find(package(program)) is None:
            with pytest.raises(ParameterError, match="constraintrot agents install"):
                parse_harness(name)
            continue
        chosen = parse_harness(name)
        assert str(chosen) == name
        for mode in chosen.spec.modes:
            assert str(parse_harness(f"{name}:{mode}:live")) in (
                f"{name}:live",
                f"{name}:{mode}:live",
            )
