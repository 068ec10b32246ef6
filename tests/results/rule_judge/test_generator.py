"""Labels are right by construction, the splits are apart, and no scenario family is trained on."""

import re
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from constraintrot.scenario.files import catalogue
from results.tools import rule_judge
from results.tools.rule_judge.evaluate import family_examples
from results.tools.rule_judge.generator import Example, digest, examples, main
from results.tools.rule_judge.kinds import Kind, Phrases, Split, frames, kinds, languages

SPLITS: tuple[Split, ...] = ("train", "held_out")
MADE: dict[Split, list[Example]] = {"train": examples("train", 1, 1200)}
MADE["held_out"] = examples("held_out", 1000, 200)
OWN = [(split, one) for split in SPLITS for one in MADE[split] if one.relation == "own"]

# Of each family, the words without which its policy cannot be said.
FAMILY_WORDS = {
    "soft_email": r"e-?mail|correos? electr|邮件|@",
    "hard_pii": r"social security|\bssn\b|customer|seguridad social|社会保障",
    "hard_secret": r"private key|\.ssh|password|credential|secret|contraseña|clave|密码|私钥",
    "soft_spend": r"euro|dollar|[€$£]|price|\bcosts?\b|purchas|\bbuy|spend|budget|precio|compra|"
    r"gast[oa]|购买|价格|预算",
    "hard_proddb": r"database|\bdrop\b|\bdelete|truncate|\bsql\b|base de datos|数据库",
    "hard_seccontrol": r"\baudit|logging|firewall|alarm|camera|disable|auditoría|审计|日志",
    "soft_language": r"\brepl(y|ies)|correspondence|customer|respuesta|correspondencia|schriftverkehr"
    r"|回复|信函|通信",
    "soft_deploy": r"deploy|\bregion|server\b|cloud|hosting|despleg|región|servidor|部署|区域|服务器",
    "soft_channel": r"incident|\breport|ticket|hotline|\bcanal\b|incidencia|informa[rs]?\b|bericht|上报|报告"
    r"|渠道",
}


def test_there_are_kinds_and_examples_enough() -> None:
    assert len(kinds("train")) >= 40
    assert len(kinds("held_out")) >= 8
    assert not kinds("train").keys() & kinds("held_out").keys()
    assert len({(one.rule, one.request) for one in MADE["train"]}) >= 2000
    assert {one.kind for one in MADE["train"]} == kinds("train").keys()
    assert {one.kind for one in MADE["held_out"]} == kinds("held_out").keys()


def test_the_examples_of_the_published_adapter_can_be_made_again() -> None:
    assert (
        digest(MADE["train"]) == "5791d8426cc7e6e8e4416915c6b8b672a4589199dc967f6ab7db4f2382738b29"
    )
    assert digest(examples("train", 2, 1200)) != digest(MADE["train"])


def test_neither_the_answer_nor_the_language_is_rare() -> None:
    train = MADE["train"]
    share = sum(one.breaks for one in train) / len(train)
    assert 0.4 < share < 0.6
    locales = Counter(one.locale for one in train)
    assert min(locales.values()) > 200
    relations = Counter(one.relation for one in train)
    assert min(relations.values()) > 100


def test_a_group_shares_its_rule() -> None:
    for one, other in zip(MADE["train"][::2], MADE["train"][1::2], strict=True):
        assert (one.group, one.kind, one.rule) == (other.group, other.kind, other.rule)
        assert one.request != other.request


@pytest.mark.parametrize("mechanism", ["at_most", "at_least", "total"])
def test_amounts_are_labelled_by_arithmetic(mechanism: str) -> None:
    chosen = [one for split, one in OWN if kind_of(split, one).mechanism == mechanism]
    assert {one.breaks for one in chosen} == {True, False}
    for one in chosen:
        limit, *amounts = (int(one.values[name]) for name in sorted(one.values, key=_limit_first))
        amount = amounts[0] if mechanism != "total" else amounts[0] * amounts[1]
        assert one.breaks == (amount < limit if mechanism == "at_least" else amount > limit)
        assert str(limit) in numbers(one.rule)
        assert {str(each) for each in amounts} <= numbers(one.request)


@pytest.mark.parametrize("mechanism", ["at_most", "at_least"])
def test_an_amount_at_the_limit_is_allowed(mechanism: str) -> None:
    chosen = [one for split, one in OWN if kind_of(split, one).mechanism == mechanism]
    equal = [one for one in chosen if one.values["value"] == one.values["limit"]]
    assert equal
    assert not any(one.breaks for one in equal)


@pytest.mark.parametrize("mechanism", ["only", "except"])
def test_choices_are_labelled_by_what_is_named(mechanism: str) -> None:
    chosen = [one for split, one in OWN if kind_of(split, one).mechanism == mechanism]
    assert {one.breaks for one in chosen} == {True, False}
    for one in chosen:
        named = re.split(" and | y |和", one.values["limit"])
        assert one.breaks == ((one.values["value"] in named) == (mechanism == "except"))
        assert all(name.lower() in one.rule.lower() for name in named)
        assert one.values["value"].lower() in one.request.lower()


def test_texts_are_labelled_by_their_language() -> None:
    chosen = [one for split, one in OWN if kind_of(split, one).mechanism == "text_language"]
    assert {one.breaks for one in chosen} == {True, False}
    for one in chosen:
        text = one.values["value"]
        (of,) = {name for name, it in languages().items() if any(t in text for t in it.texts)}
        assert one.breaks == (languages()[of].called[one.locale] != one.values["limit"])
        assert text in one.request
        assert one.values["limit"] in one.rule


def test_a_part_is_allowed_and_the_whole_is_not() -> None:
    chosen = [one for split, one in OWN if kind_of(split, one).mechanism == "partial"]
    assert {one.breaks for one in chosen} == {True, False}
    for one in chosen:
        assert one.breaks == ("code" in one.values)
        told = one.values["code" if one.breaks else "part"]
        assert told in one.request
        assert (len(told) > int(one.values["keep"])) == one.breaks


def test_acts_are_labelled_by_their_list() -> None:
    chosen = [(split, one) for split, one in OWN if kind_of(split, one).mechanism == "acts"]
    assert {one.breaks for _, one in chosen} == {True, False}
    for split, one in chosen:
        phrases = kind_of(split, one).locales()[one.locale]
        assert made_from(phrases.breaks if one.breaks else phrases.keeps, one)
        assert not made_from(phrases.keeps if one.breaks else phrases.breaks, one)


def test_a_request_about_something_else_breaks_nothing() -> None:
    for split in SPLITS:
        for one in MADE[split]:
            if one.relation != "own":
                assert not one.breaks
                assert not about(kind_of(split, one).locales()[one.locale], one)


def test_where_there_is_no_rule_there_is_only_noise() -> None:
    chosen = [one for one in MADE["train"] if one.relation == "no_rule"]
    assert chosen
    for one in chosen:
        left = one.rule
        for noise in frames()[one.locale].noise:
            left = left.replace(noise, "")
        assert not left.strip()


def test_every_family_of_the_scenarios_is_looked_for() -> None:
    # The families that came later than the adapter are held to nothing here.
    assert FAMILY_WORDS.keys() <= catalogue().keys()


@pytest.mark.parametrize("family", FAMILY_WORDS)
def test_no_family_of_the_scenarios_is_trained_on(family: str) -> None:
    folder = Path(rule_judge.__path__[0])
    files = [*(folder / "rules").glob("*.yaml"), folder / "frames.yaml", folder / "texts.yaml"]
    assert len(files) == 6
    for file in files:
        match = re.search(FAMILY_WORDS[family], file.read_text(encoding="utf-8"), re.IGNORECASE)
        assert not match, (file.name, match)


def test_no_sentence_of_a_family_is_trained_on() -> None:
    families = [one for one in family_examples(range(30, 40)) if one.locale != "zh"]
    assert {one.kind for one in families} >= FAMILY_WORDS.keys()
    trained = set[str]().union(*(windows(one) for one in MADE["train"] if one.locale != "zh"))
    assert len(trained) > 1000
    assert not trained & set[str]().union(*map(windows, families))


def test_the_words_looked_for_are_in_the_families() -> None:
    for family, words in FAMILY_WORDS.items():
        for locale in catalogue()[family]:
            text = (TASKS / f"{family}.{locale}.yaml").read_text(encoding="utf-8")
            policy = text.split("\npolicy:")[1].split("\nneutral:")[0]
            assert re.search(words, policy, re.IGNORECASE), (family, locale)


def test_the_command_writes_what_the_function_makes() -> None:
    done = CliRunner().invoke(main, ["held_out", "--seed", "3", "--groups", "4"])
    assert done.exit_code == 0
    assert len(done.stdout.splitlines()) == 8
    assert digest(examples("held_out", 3, 4)) in done.stderr


TASKS = Path(__file__).parents[3] / "tasks" / "scenarios"


def kind_of(split: Split, one: Example) -> Kind:
    return kinds(split)[one.kind]


def _limit_first(name: str) -> tuple[bool, str]:
    return name != "limit", name


def numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+", text))


def windows(one: Example, size: int = 5) -> set[str]:
    """All texts of so many words in a row of its rule, and of its request."""
    found: set[str] = set()
    for text in (one.rule, one.request):
        words = re.findall(r"\w+", text.lower())
        found |= {" ".join(words[at : at + size]) for at in range(len(words) - size + 1)}
    return found


def about(phrases: Phrases, one: Example) -> bool:
    return made_from([*phrases.requests, *phrases.breaks, *phrases.keeps], one)


def made_from(templates: list[str], one: Example) -> bool:
    """Whether the request is one of the templates, filled in with the example's values."""
    for template in templates:
        pattern = re.escape(template)
        for name, value in one.values.items():
            pattern = pattern.replace(re.escape(f"{{{name}}}"), re.escape(value))
        pattern = re.sub(r"\\\{\w+\\\}", ".+", pattern)
        if re.search(pattern, one.request, re.IGNORECASE):
            return True
    return False
