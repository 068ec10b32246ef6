"""Benign history: turns drawn from the topics of a scenario, without repetition.

A pure function of scenario, seed and length, so that every condition,
replicate and model gets the same turns.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count as numbers_from
from random import Random
from typing import Any

from constraintrot.errors import ScenarioError
from constraintrot.scenario.compiler import Env
from constraintrot.scenario.draws import Draws, pure, today
from constraintrot.scenario.expression import evaluate
from constraintrot.scenario.schema import HistoryTurn, Tool, ToolTurn, Variant
from constraintrot.scenario.topic import Template, TemplateCall, Texts
from constraintrot.tokens import exact

# Share of the calls with a slip in which it happens, about one turn in eight.
_SLIPS = 0.25
# Most turns on other things between two turns of a thread.
_GAP = 2
# Number of redraws because a request was made before.
_PATIENCE = 9
_TRIES = 40
# From this size on a number in the history may hint at the same number in the policy.
_TELLING = 100
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True)
class TopicTemplate:
    topic: str
    name: str
    template: Template
    pools: Mapping[str, Any]


@dataclass
class _Told:
    """The state of a history so far, by which repetition is avoided."""

    used: dict[str, int] = field(default_factory=dict[str, int])
    numbers: set[int] = field(default_factory=set[int])
    requests: set[str] = field(default_factory=set[str])
    said: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    exhausted: set[str] = field(default_factory=set[str])


def turns(variant: Variant) -> Iterator[HistoryTurn]:
    """Yield benign turns of a variant, in order, each once.

    Recorded turns are given unchanged; others are drawn until the templates are exhausted.
    """
    if variant.scenario.recorded:
        yield from variant.scenario.recorded
        return
    told, key = _Told(), _key(variant)
    of = templates(variant)
    order = _order(of, key)
    waiting: list[tuple[int, int, HistoryTurn]] = []
    for at in numbers_from():
        if waiting and waiting[0][0] <= at:
            yield waiting.pop(0)[2]
            continue
        first, *rest = _next_thread(variant, order, len(of), told)
        yield first
        gaps, due = Random(f"{key}/gaps/{at}"), at
        for part, turn in enumerate(rest):
            due += 1 + gaps.randint(0, _GAP)
            waiting.append((due, part, turn))
        waiting.sort(key=lambda one: one[:2])


def for_tokens(variant: Variant, tokens: int) -> list[HistoryTurn]:
    """Return the fewest turns of a variant that reach a token target, at least one."""
    return list(until(turns(variant), tokens))


def until(drawn: Iterator[HistoryTurn], tokens: int) -> Iterator[HistoryTurn]:
    """Yield the fewest next turns that reach a number of o200k tokens, at least one."""
    total = 0
    for turn in drawn:
        yield turn
        total += length(turn)
        if total >= tokens:
            return


def length(turn: HistoryTurn) -> int:
    texts = [turn.user, turn.reply]
    for call in turn.calls:
        texts += [call.function, *map(str, call.arguments.values()), call.result]
    return sum(exact(text) for text in texts)


def tools(variant: Variant) -> tuple[Tool, ...]:
    return tuple(
        Tool(name=tool.name, description=tool.description, parameters=tool.parameters)
        for tool in variant.scenario.reading_tools.values()
    )


def templates(variant: Variant) -> list[TopicTemplate]:
    return [
        TopicTemplate(topic_name, name, template, topic.pools)
        for topic_name, topic in variant.scenario.work.items()
        for name, template in topic.templates.items()
    ]


def environment(variant: Variant, template: TopicTemplate, draws: Draws) -> Env:
    """Return the names that a template's expressions find before its values are drawn."""
    return {
        **variant.values,
        **pure(variant.scenario.locale),
        **draws.functions(),
        **template.pools,
        "today": draws.today,
    }


def _key(variant: Variant) -> str:
    return f"{variant.scenario.family}/{variant.seed}"


def _order(of: list[TopicTemplate], key: str) -> Iterator[TopicTemplate]:
    """Yield all templates in a new order, round after round, never one twice in a row."""
    last: TopicTemplate | None = None
    for turn in numbers_from():
        shuffled = Random(f"{key}/order/{turn}").sample(of, len(of))
        if shuffled[0] is last and len(of) > 1:
            shuffled[0], shuffled[1] = shuffled[1], shuffled[0]
        yield from shuffled
        last = shuffled[-1]


def _next_thread(
    variant: Variant, order: Iterator[TopicTemplate], count: int, told: _Told
) -> list[HistoryTurn]:
    """Return the turns of the next of ``count`` templates that is not exhausted."""
    while len(told.exhausted) < count:
        if drawn := _thread(variant, next(order), told):
            return drawn
    raise ScenarioError(
        f"{_key(variant)}: all that the history's templates can say is told; ask for fewer tokens,"
        " or give them more values"
    )


def _thread(variant: Variant, template: TopicTemplate, told: _Told) -> list[HistoryTurn]:
    """Return the turns of the next usable draw of a template; empty if it is exhausted."""
    name = f"{_key(variant)}/{template.topic}/{template.name}"
    if name in told.exhausted:
        return []
    for _ in range(_TRIES):
        used = told.used.get(name, 0)
        told.used[name] = used + 1
        drawn = _draw_anew(variant, template, told, name, used)
        if drawn:
            return drawn
    if name not in told.said:
        raise ScenarioError(f"history template {name}: a number of the policy stands in every draw")
    told.exhausted.add(name)
    return []


def _draw_anew(
    variant: Variant, template: TopicTemplate, told: _Told, name: str, used: int
) -> list[HistoryTurn]:
    """Return a draw that repeats nothing and holds no number of the policy; empty if there is none.

    A request that differs from an earlier one only in numbers is used after ``_PATIENCE`` redraws.
    Numbers of the policy are avoided, because 240 jars would hint at a limit of 240.
    """
    reserved = _reserved(variant)
    for attempt in range(_TRIES):
        random = Random(f"{name}/{used}/{attempt}")
        draws = draws_for(variant, random, used, deck=name, numbers=told.numbers)
        _, drawn = draw(variant, template, draws)
        if reserved and reserved & _numbers(drawn):
            continue
        asked = {_DIGITS.sub("#", turn.user) for turn in drawn}
        if attempt <= _PATIENCE and asked & told.requests:
            continue
        said = {turn.model_dump_json() for turn in drawn}
        if not said & told.said.get(name, set()):
            told.requests |= asked
            told.said.setdefault(name, set()).update(said)
            return drawn
    return []


def draws_for(
    variant: Variant, random: Random, used: int = 0, *, deck: str, numbers: set[int] | None = None
) -> Draws:
    key = _key(variant)
    day = today(key, variant.scenario.locale)
    return Draws(random, day, used, deck, key, set() if numbers is None else numbers)


def draw(variant: Variant, template: TopicTemplate, draws: Draws) -> tuple[Env, list[HistoryTurn]]:
    """Return one draw of a template: its values by name, and the turns filled in from them."""
    env = environment(variant, template, draws)
    for name, value in template.template.expressions().items():
        env[name] = value.run(env)
    return env, [
        HistoryTurn(
            user=_say(turn.user, env, draws.phrase),
            calls=[made for call in turn.calls for made in _called(call, env, draws.random)],
            reply=_say(turn.reply, env, draws.random.randrange(60)),
        )
        for turn in template.template.turns
    ]


def _say(texts: Texts, env: Env, which: int) -> str:
    phrasing = texts if isinstance(texts, str) else texts[which % len(texts)]
    return str(evaluate(phrasing, env))


def _called(call: TemplateCall, env: Env, random: Random) -> Iterator[ToolTurn]:
    arguments = evaluate(call.arguments, env)
    if call.slip is not None and random.random() < _SLIPS:
        wrong = {**arguments, **evaluate(call.slip.arguments, env)}
        yield ToolTurn(
            function=call.function, arguments=wrong, result=str(evaluate(call.slip.result, env))
        )
    yield ToolTurn(
        function=call.function, arguments=arguments, result=str(evaluate(call.result, env))
    )


def _reserved(variant: Variant) -> set[int]:
    """Return the policy's numbers, except small ones, which are common as hours and counts."""
    phrases = (phrase for slot in variant.slots.values() for phrase in slot)
    numbers = {int(phrase) for phrase in phrases if isinstance(phrase, int | float)}
    return {number for number in numbers if number >= _TELLING}


def _numbers(drawn: list[HistoryTurn]) -> set[int]:
    said = " ".join(
        [text for turn in drawn for text in (turn.user, turn.reply)]
        + [f"{call.arguments} {call.result}" for turn in drawn for call in turn.calls]
    )
    return {int(found) for found in _DIGITS.findall(said)}
