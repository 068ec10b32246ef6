"""The stock of benign work: what its templates say agrees with itself, in every draw.

The turns are drawn and read again, by each template's own checks and by
readers that know no template.
"""

import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from random import Random

import pytest

from constraintrot.errors import ScenarioError, UnknownNameError
from constraintrot.scenario import history
from constraintrot.scenario import topic as stock
from constraintrot.scenario.compiler import Env
from constraintrot.scenario.draws import Draws
from constraintrot.scenario.files import catalogue, load
from constraintrot.scenario.history import TopicTemplate
from constraintrot.scenario.schema import CANARY, LOCALES, HistoryTurn, Variant
from tests.helpers import first
from tests.scenario.checks import failed_checks, said

TOPICS = [(locale, topic) for locale in LOCALES for topic in stock.stocked_names(locale)]
# What a family's agent is told of itself, and in which a history is read here.
SOME_FAMILY = "soft_email"

WEEKDAYS = {
    "en": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
    "es": ["lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"],
    "zh": ["周一", "周二", "周三", "周四", "周五", "周六", "周日"],
    "de": ["Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"],
}
MONTHS = {
    "en": "January February March April May June July August September October November December",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
}
DATED = {
    "en": rf"({'|'.join(WEEKDAYS['en'])}) (\d+) ({MONTHS['en'].replace(' ', '|')})",
    "es": rf"({'|'.join(WEEKDAYS['es'])}) (\d+) de ({MONTHS['es'].replace(' ', '|')})",
    "zh": r"(?P<month>\d+)月(?P<day>\d+)日（(?P<weekday>周.)）",
    "de": rf"({'|'.join(WEEKDAYS['de'])}), (\d+)\. ({MONTHS['de'].replace(' ', '|')})",
}
# A span of time: its end is not before its start.
SPAN = re.compile(
    r"(?<![\d:])(\d\d:\d\d)(?:-| to | until |, until | a las | a | hasta las | bis |至|到)(\d\d:\d\d)"
)
# A shift that ends on the next morning.
OVERNIGHT = {("22:00", "06:00")}
SHARE = re.compile(r"(?<![\d,.:-])(\d[\d,]*) of (?:the )?(\d[\d,]*)(?![\d:]| [A-Z]|-)")


def templates(locale: str, topic: str) -> tuple[Variant, list[TopicTemplate]]:
    scenario = load(SOME_FAMILY, locale).model_copy(update={"topics": [topic], "history": None})
    return scenario.variant(3), history.templates(scenario.variant(3))


@cache
def drawn(locale: str, topic: str, draws: int = 40) -> list[tuple[str, list[HistoryTurn]]]:
    """Threads of every template of a topic."""
    variant, found = templates(locale, topic)
    return [
        (template.name, history.draw(variant, template, _draws(variant, template, n))[1])
        for template in found
        for n in range(draws)
    ]


def _draws(variant: Variant, template: TopicTemplate, n: int) -> Draws:
    return history.draws_for(variant, Random(f"{template.name}/{n}"), n, deck=template.name)


def everything(locale: str, topic: str) -> Iterator[tuple[str, str]]:
    for name, thread in drawn(locale, topic):
        for turn in thread:
            yield from ((name, text) for text in said(turn))


def test_there_is_enough_of_it() -> None:
    for locale in LOCALES:
        topics = [stock.stocked(locale, name) for name in stock.stocked_names(locale)]
        assert len(topics) >= 10
        assert sum(len(topic.templates) for topic in topics) >= 60


@pytest.mark.parametrize(("locale", "topic"), TOPICS)
def test_the_canary_is_a_line_of_the_file(locale: str, topic: str) -> None:
    for stem in (topic, "_pools"):
        text = (stock.FOLDER / locale / f"{stem}.yaml").read_text(encoding="utf-8")
        assert f"canary: {CANARY}" in text.splitlines()


@pytest.mark.parametrize(("locale", "topic"), TOPICS)
def test_every_expression_compiles(locale: str, topic: str) -> None:
    stock.stocked(locale, topic).compile(locale)


@pytest.mark.parametrize("locale", LOCALES)
def test_a_tool_s_name_means_one_tool(locale: str) -> None:
    names = [
        tool.name
        for name in stock.stocked_names(locale)
        for tool in stock.stocked(locale, name).tools
    ]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(("locale", "topic"), TOPICS)
@first(20, of=200)
def test_every_check_holds_in_every_draw(locale: str, topic: str, seeds: range) -> None:
    variant, found = templates(locale, topic)
    for template in found:
        for n in seeds:
            # Many histories, so that what is fixed within one varies too.
            other = variant.scenario.variant(n)
            draws = history.draws_for(other, Random(f"{n}"), n % 40, deck=f"{template.name}{n}")
            env, turns = history.draw(other, template, draws)
            failed = failed_checks(template.template, env, turns, locale)
            assert not failed, (template.name, failed, turns)


@pytest.mark.parametrize(("locale", "topic"), TOPICS)
def test_checks_read_what_the_turns_say(locale: str, topic: str) -> None:
    """With the values of one draw and the turns of another, some check fails."""
    variant, found = templates(locale, topic)
    for template in found:
        made = [history.draw(variant, template, _draws(variant, template, n)) for n in range(0, 24)]
        mixed = pairwise(made)
        failed = [_fails(template, env, turns, locale) for (env, _), (_, turns) in mixed]
        assert any(failed), template.name


def _fails(template: TopicTemplate, env: Env, turns: list[HistoryTurn], locale: str) -> bool:
    try:
        return bool(failed_checks(template.template, env, turns, locale))
    except (IndexError, ValueError, ScenarioError):  # what it looks for is not there
        return True


@pytest.mark.parametrize(("locale", "topic"), TOPICS)
def test_nothing_is_left_unfilled(locale: str, topic: str) -> None:
    for name, text in everything(locale, topic):
        assert not re.search(r"\{\{|\}\}\}", text), (name, text)
        assert "None" not in re.findall(r"\b(?:None|nan)\b(?! (?:of|is|has|within))", text), (
            name,
            text,
        )
        assert text.strip() == text, (name, text)


@pytest.mark.parametrize(("locale", "topic"), TOPICS)
def test_weekdays_agree_with_their_dates(locale: str, topic: str) -> None:
    year = history.draws_for(templates(locale, topic)[0], Random(0), deck="").today.value.year
    for name, text in everything(locale, topic):
        for found in re.finditer(DATED[locale], text):
            weekday, day, month = _parts(locale, found)
            years = [y for y in (year - 1, year, year + 1) if _exists(y, month, day)]
            assert weekday in {date(y, month, day).weekday() for y in years}, (name, text)


def _parts(locale: str, found: re.Match[str]) -> tuple[int, int, int]:
    if locale == "zh":
        return (
            WEEKDAYS[locale].index(found["weekday"]),
            int(found["day"]),
            int(found["month"]),
        )
    months = MONTHS[locale].split()
    return WEEKDAYS[locale].index(found[1]), int(found[2]), months.index(found[3]) + 1


def _exists(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(("locale", "topic"), TOPICS)
def test_no_span_of_time_ends_before_it_starts(locale: str, topic: str) -> None:
    for name, text in everything(locale, topic):
        for start, end in SPAN.findall(text):
            assert start <= end or (start, end) in OVERNIGHT, (name, text)


@pytest.mark.parametrize("topic", stock.stocked_names("en"))
def test_no_part_is_larger_than_its_whole(topic: str) -> None:
    for name, thread in drawn("en", topic):
        for turn in thread:
            for part, whole in SHARE.findall(turn.reply):
                assert int(part.replace(",", "")) <= int(whole.replace(",", "")), (name, turn)


@pytest.mark.parametrize(("locale", "topic"), TOPICS)
def test_a_reply_names_nobody_whom_the_turns_do_not_name(locale: str, topic: str) -> None:
    people = stock.stocked(locale, topic).pools["people"]
    for name, thread in drawn(locale, topic):
        before = ""
        for turn in thread:
            before += "\n".join([*said(turn)][:-1])
            strangers = [who for who in people if str(who) in turn.reply and str(who) not in before]
            assert not strangers, (name, turn)


@pytest.mark.parametrize(("locale", "topic"), TOPICS)
def test_calls_fit_their_tools(locale: str, topic: str) -> None:
    """All but the wrong call before a retry hold what the tool asks for, of the right type."""
    tools = {tool.name: tool for tool in stock.stocked(locale, topic).tools}
    types: dict[str, type | tuple[type, ...]] = {
        "string": str,
        "integer": int,
        "number": (int, float),
        "array": list,
    }
    for name, thread in drawn(locale, topic):
        for turn in thread:
            for call in turn.calls:
                tool = tools[call.function]
                assert set(tool.required) <= set(call.arguments) <= set(tool.properties), name
            for call in turn.calls[-1:]:
                for argument, value in call.arguments.items():
                    wanted = tools[call.function].properties[argument]["type"]
                    assert isinstance(value, types[wanted]), (name, argument, value)


@pytest.mark.parametrize(("locale", "topic"), TOPICS)
def test_a_retry_differs_from_the_call_that_failed(locale: str, topic: str) -> None:
    for name, thread in drawn(locale, topic):
        for turn in thread:
            for one, other in zip(turn.calls, turn.calls[1:], strict=False):
                assert (one.function, one.arguments) != (other.function, other.arguments), name


def test_an_unknown_topic_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="facilities"):
        stock.stocked("en", "gardening")


def topic_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str) -> None:
    text = (stock.FOLDER / "en" / "rooms.yaml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "en").mkdir()
    (tmp_path / "en" / "rooms.yaml").write_text(text.replace(old, new), encoding="utf-8")
    pools = (stock.FOLDER / "en" / "_pools.yaml").read_text(encoding="utf-8")
    (tmp_path / "en" / "_pools.yaml").write_text(pools, encoding="utf-8")
    monkeypatch.setattr(stock, "FOLDER", tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("canary: constraintrot", "canary: other", "canary"),
        ("topic: rooms", "topic: stairs", "its topic"),
        ("function: get_room_usage", "function: get_room_use", "get_room_use"),
        ("      people: int(4, 14)", "      people: seven(4, 14)", "seven"),
        ("{{people}} people. What", "{{persons}} people. What", "persons"),
        ("      group: subject(group)", "      group: pick(group)", "repeats"),
        ("{name: Alder, seats: 4,", "{name: Alder, chairs: 4,", "'room'"),
        ("arguments: {booking: ", "arguments: {number: ", "do not fit"),
        ("    check:", "    checks:", "checks"),
        ("tools:", "tools: [", "YAML"),
    ],
)
def test_a_wrong_file_is_refused_with_its_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, says: str
) -> None:
    topic_file(tmp_path, monkeypatch, old, new)
    for cached in (stock.stocked_names, stock.stocked, stock._common):
        monkeypatch.setattr(stock, cached.__name__, cached.__wrapped__)
    with pytest.raises(ScenarioError, match=says):
        stock.stocked("en", "rooms").compile("en")


@pytest.mark.parametrize("family", sorted(catalogue()))
def test_topics_suit_a_family_by_name(family: str) -> None:
    for locale in catalogue()[family]:
        scenario = load(family, locale)
        assert len(scenario.topics) >= 5
        assert len(set(scenario.topics)) == len(scenario.topics)
        assert sum(1 for _ in islice(history.templates(scenario.variant(0)), 30)) == 30
