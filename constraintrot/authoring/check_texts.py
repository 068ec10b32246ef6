"""Checks on texts: the policy's wordings, the neutral text, and all that a floor shows."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from constraintrot.documents import Place
from constraintrot.rule_text.survival import best_window, mentions, sentences
from constraintrot.scenario import history
from constraintrot.scenario.schema import WORDINGS, Scenario, Variant
from constraintrot.scenario.template import fill, names
from constraintrot.scenario.user_files import Fault

_POLICY = "{{policy}}"
# Turns of history that are searched for hints: those of the default length, 2000 tokens.
_TURNS = 20
_LENGTHS = (0.7, 1.35)
_WHOEVER = {
    "en": r"whoever|no matter who|regardless of who",
    "es": r"pida quien|quien (?:lo|la) pida|quienquiera",
    "de": r"(?:egal|gleich),? (?:wer|von wem)|wer (?:auch )?immer|unabhängig davon,? wer",
    "zh": r"无论(?:是)?(?:由)?谁|不论(?:是)?谁|不管(?:是)?谁|谁(?:来要|要求)",
}
_BEFORE_WE_START = r"before we (?:start|begin)|antes de (?:empezar|comenzar)|bevor wir (?:anfangen|beginnen|loslegen)|开始之前|开工之前"


def value_slots(scenario: Scenario) -> set[str]:
    """Return the slots that hold a variant's own value, such as the domain or the limit."""
    return {
        name for name, phrases in scenario.slots.items() if any(names(phrase) for phrase in phrases)
    }


def wordings_hold_the_slots(scenario: Scenario, variants: Sequence[Variant]) -> Iterator[Fault]:
    """Every phrasing of every wording holds every slot, close together."""
    for wording in WORDINGS:
        for at, template in enumerate(scenario.policy[wording]):
            lacking = set[str]()
            for variant in variants:
                text = fill(template, variant.values)
                lacking |= set(variant.slots) - best_window(text, variant.slots)
            for slot in sorted(lacking):
                yield Fault(
                    "slots",
                    f"this {wording} phrasing holds no phrase of slot {slot!r}",
                    f"Say it in the text, or add the words that it uses to slots.{slot}.",
                    ("policy", wording, at),
                )


def policies_are_short(scenario: Scenario, variants: Sequence[Variant]) -> Iterator[Fault]:
    """A policy has one to three sentences, "whoever asks" at most once, and no opening."""
    values = variants[0].values
    whoever = re.compile(_WHOEVER[scenario.locale], re.IGNORECASE)
    said = 0
    for wording in WORDINGS:
        for at, template in enumerate(scenario.policy[wording]):
            place: Place = ("policy", wording, at)
            if not 1 <= len(sentences(fill(template, values))) <= 3:
                yield Fault.weak("policy", "takes more than three sentences", "Shorten it.", place)
            said += whoever.search(template) is not None
            if said > 1 and whoever.search(template):
                yield Fault.weak(
                    "policy",
                    "a second phrasing says 'whoever asks', which arms it against every request",
                    "Leave it to one phrasing.",
                    place,
                )
    for field in ("policy", "neutral"):
        for at, template in enumerate(getattr(scenario, field).reminder):
            if re.search(_BEFORE_WE_START, template, re.IGNORECASE):
                yield Fault.weak(
                    "policy",
                    "opens a conversation, and stands in documents too",
                    "Begin it with what it says.",
                    (field, "reminder", at),
                )


def channels_hold_the_policy(scenario: Scenario, variants: Sequence[Variant]) -> Iterator[Fault]:
    """Every channel's frame holds the policy word for word."""
    frames = scenario.channels
    texts: dict[Place, str] = {
        ("channels", "user"): frames.user,
        ("channels", "memory"): frames.memory,
        ("channels", "tool", "result"): frames.tool.result,
        ("channels", "system"): frames.system,
    }
    variant = variants[0]
    policy = variant.policy("declarative")
    for place, frame in texts.items():
        if "policy" not in names(frame):
            said, advice = f"has no {_POLICY}", f"Write {_POLICY} where the policy is to stand."
        elif not mentions([frame.replace(_POLICY, policy)], policy, variant.slots).verbatim:
            said, advice = "does not hold the policy word for word", f"Write {_POLICY} alone."
        else:
            continue
        yield Fault("channels", said, advice, place)


def floor_holds_no_hint(scenario: Scenario, variants: Sequence[Variant]) -> Iterator[Fault]:
    """No text that an agent sees without the policy holds it, or a value of it."""
    telling = value_slots(scenario)
    seen = set[Place]()
    for variant in variants:
        for place, text in public_texts(variant).items():
            held = best_window(text, variant.slots)
            hint = sorted(held & telling)
            if place in seen or not (hint or held == set(variant.slots)):
                continue
            seen.add(place)
            what = f"holds slot {hint[0]!r} of the policy" if hint else "says the whole policy"
            shown = text if len(text) < 160 else _around(text, variant, hint)
            yield Fault(
                "floor",
                f"without the policy the agent still sees what {what}: {shown!r}",
                "Take that out here, or make the slot's phrases say more than this text does"
                + ("; or leave this topic out." if place[0] == "topics" else "."),
                place,
            )


def public_texts(variant: Variant) -> dict[Place, str]:
    """Return all texts of the floor condition except the trigger, by place in the file."""
    scenario = variant.scenario
    channels = scenario.channels
    tool = json.dumps(channels.tool.model_dump(), ensure_ascii=False)
    texts: dict[Place, str] = {
        ("system",): variant.system,
        ("preamble",): variant.preamble,
        ("ready",): scenario.ready,
        ("ack",): scenario.ack,
        ("channels", "user"): channels.user.replace(_POLICY, ""),
        ("channels", "memory"): channels.memory.replace(_POLICY, ""),
        ("channels", "tool"): tool.replace(_POLICY, ""),
        ("channels", "system"): channels.system.replace(_POLICY, ""),
    }
    for at, tool_offered in enumerate(variant.tools):
        texts["tools", at] = json.dumps(tool_offered.model_dump(), ensure_ascii=False)
    for wording in WORDINGS:
        for at, template in enumerate(scenario.neutral[wording]):
            texts["neutral", wording, at] = fill(template, variant.values)
    kind = "history" if scenario.history else "topics"
    for at, turn in enumerate(islice(history.turns(variant), _TURNS)):
        texts[kind, at] = json.dumps(turn.model_dump(), ensure_ascii=False)
    return texts


def neutral_text_is_as_long(scenario: Scenario, variants: Sequence[Variant]) -> Iterator[Fault]:
    """The neutral text has as many phrasings as the policy, each of about the same length."""
    least, most = _LENGTHS
    for wording in WORDINGS:
        policies, neutrals = scenario.policy[wording], scenario.neutral[wording]
        if len(neutrals) != len(policies):
            yield Fault.weak(
                "neutral",
                f"{len(neutrals)} phrasings, and the policy has {len(policies)}",
                "Give one for each, so that conditions differ in nothing else.",
                ("neutral", wording),
            )
            continue
        for at, (policy, neutral) in enumerate(zip(policies, neutrals, strict=True)):
            found = [
                len(fill(neutral, variant.values)) / len(fill(policy, variant.values))
                for variant in variants
            ]
            if min(found) < least or max(found) > most:
                worst = min(found) if min(found) < least else max(found)
                yield Fault.weak(
                    "neutral",
                    f"is {worst:.2f} times as long as the policy that it stands for",
                    f"Make it {least} to {most} times as long.",
                    ("neutral", wording, at),
                )


def _around(text: str, variant: Variant, hint: list[str]) -> str:
    """Return the sentence of a long text that holds a hint, up to 160 characters."""
    slots: Mapping[str, tuple[str | int | float, ...]] = (
        {name: variant.slots[name] for name in hint} if hint else variant.slots
    )
    best = max(sentences(text), key=lambda one: len(best_window(one, slots)))
    return best.strip()[:160]
