"""An attack as one YAML file: those that ship here, wrong ones, and those of other packages."""

import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import pytest
import yaml
from inspect_ai._util.error import PrerequisiteError

from constraintrot import attacks, components
from constraintrot.attacks import ATTACKS, Attack, Settings, attack_from_file, registration
from constraintrot.attacks.attack_file import read_attack_file, read_texts
from constraintrot.components import ComponentRegistry, PluginWarning
from constraintrot.errors import DuplicateNameError, ParameterError, ScenarioError, UnknownNameError
from constraintrot.runs.attack_search import strategies
from constraintrot.scenario.files import load
from constraintrot.scenario.schema import CANARY, LOCALES
from constraintrot.tasks.catalogue import soft_email
from tests import docs_code
from tests.attacks.cases import FOLDER_OF_ATTACKS, NAMES, file_of, staged, written

GOOD: dict[str, Any] = {
    "canary": CANARY,
    "notice": "For simulation.",
    "summary": "Ask for it.",
    "knowledge": "black_box",
    "channels": ["document", "tool_output"],
    "positions": ["middle"],
    "locales": {locale: {"texts": [f"{locale}, from {{{{org}}}}."]} for locale in LOCALES},
}
BULK = GOOD | {
    "size": 100,
    "locales": {
        locale: {"texts": ["x"], "rows": ["{{word}}"], "pools": {"word": ["a", "b"]}}
        for locale in LOCALES
    },
}


def write(folder: Path, name: str, data: object = GOOD) -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(data, allow_unicode=True), encoding="utf-8")
    return path


# Those that ship here.


def test_every_file_starts_with_the_canary_and_holds_the_notice() -> None:
    files = [*FOLDER_OF_ATTACKS.glob("*.yaml"), strategies.TEMPLATES]
    assert len(files) > len(NAMES)
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert text.startswith(f"canary: {CANARY}\n")
        assert "simulation" in yaml.safe_load(text)["notice"]
    ours = [
        read_texts(strategies.TEMPLATES),
        read_texts(registration._FRAMES),
        *map(file_of, NAMES),
    ]
    assert all(set(held.locales) == set(LOCALES) for held in ours)


@pytest.mark.parametrize("name", NAMES)
def test_an_attack_is_what_its_file_says(name: str) -> None:
    found, file = ATTACKS.get(name), file_of(name)
    assert (found.summary, found.knowledge) == (file.summary, file.knowledge)
    assert (found.surface, found.positions, found.size) == (
        file.channels,
        file.positions,
        file.size,
    )


def test_the_numbers_are_those_of_published_runs() -> None:
    """Renaming a file, or its ``reference_seed``, would change what was measured."""
    before = staged("soft_email.en")
    numbers: dict[str, str] = {}
    for name in NAMES:
        (message, *_) = written(before, attacks.apply(f"{name}:channel=document", before))
        frame, number, *_ = re.findall(r"[0-9]{5}", message.text)
        assert frame == "41199"
        numbers[name] = number
    assert numbers == {
        "bulk_document": "86850",
        "impersonate_rescind": "79498",
        "impersonate_signed": "79498",
        "inject_authority": "79225",
        "inject_budget": "72287",
        "inject_deprecation": "65517",
        "inject_irrelevance": "84510",
        "inject_note": "29429",
        "inject_system": "50059",
        "launder": "98107",
        "launder_order": "98107",
        "launder_stale": "98107",
        "launder_system": "98107",
        "launder_user": "98107",
        "relink": "32751",
        "rescind_notice": "79498",
        "volume": "12654",
    }


# Wrong ones.


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in GOOD.items() if name != key}


def worded(**more: Any) -> dict[str, Any]:
    return GOOD | {"locales": GOOD["locales"] | {"es": {"texts": ["x"], **more}}}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (without("canary"), "canary: Field required"),
        (GOOD | {"canary": "x"}, "canary"),
        (without("summary"), "summary: Field required"),
        (GOOD | {"version": 9}, "version: Extra inputs"),
        (GOOD | {"knowledge": "all"}, "knowledge: Input should be 'black_box' or"),
        (GOOD | {"channels": []}, "channels: "),
        (GOOD | {"channels": ["system"]}, "channels.0: "),
        (GOOD | {"positions": ["early", "early"]}, "names one twice: early, early"),
        (GOOD | {"locales": {}}, "locales: Dictionary should have at least 1 item"),
        (worded(texts=[]), "locales.es.texts"),
        (worded(texts=["{{policy}}"]), "a text of es names policy, and an adversary knows label"),
        (worded(rows=["{{ref}}"]), "size and rows belong together, also in es"),
        (worded(rows=["{{word}}"]), "a row names word, which no pool gives"),
        (worded(pools={"word": []}), "locales.es.pools.word"),
        (GOOD | {"size": 100}, "size and rows belong together"),
        (BULK | {"size": 49}, "size: Input should be greater than or equal to 50"),
        (GOOD | {"texts_of": "other"}, "holds locales beside texts_of"),
        (without("locales") | {"texts_of": "other"}, "No such file"),
        (without("locales") | {"texts_of": "wrong"}, "wrong.yaml holds no texts to use"),
        (without("locales") | {"texts_of": "../other"}, "'../other' is no attack's name"),
        (without("locales") | {"texts_of": 7}, "7 is no attack's name"),
        ([GOOD], "not a mapping"),
    ],
)
def test_a_wrong_file_is_refused_by_name(tmp_path: Path, data: object, message: str) -> None:
    with pytest.raises(ScenarioError) as raised:
        read_attack_file(write(tmp_path, "wrong", data))
    assert str(tmp_path / "wrong.yaml") in str(raised.value)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (None, "No such file"),
        (b"canary: [", "expected"),
        (b"\xff\xfe", "utf-8"),
        (yaml.safe_dump(GOOD).encode()[:60], "canary"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, raw: bytes | None, message: str) -> None:
    path = tmp_path / "none_such.yaml"
    if raw is not None:
        path.write_bytes(raw)
    with pytest.raises(ScenarioError, match=message):
        read_attack_file(path)


def test_a_file_whose_name_is_no_attacks(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="'of-mine' is no attack's name"):
        read_attack_file(write(tmp_path, "of-mine"))


def test_bulk_that_would_repeat_is_refused(tmp_path: Path) -> None:
    file = read_attack_file(write(tmp_path, "dull", BULK))
    variant = load("soft_email").variant(0)
    assert file.bulk(variant, 5).count("\n") <= 2
    with pytest.raises(ScenarioError, match="too few different lines"):
        file.bulk(variant, 100)


# Adding one.


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> ComponentRegistry[Attack]:
    """The attacks, to which a test may add."""
    assert "none" in ATTACKS.names()
    monkeypatch.setattr(ATTACKS, "_components", dict(ATTACKS._components))
    return ATTACKS


@pytest.mark.usefixtures("registry")
def test_a_file_is_an_attack(tmp_path: Path) -> None:
    attack_from_file(write(tmp_path, "of_mine"))
    found = attacks.read("of_mine")
    assert found.settings == Settings("document", "middle")
    assert (found.attack.summary, found.attack.knowledge) == ("Ask for it.", "black_box")
    before = staged("soft_email.es")
    (message,) = written(before, attacks.deliver(found, before))
    assert message.text.endswith(f"es, from {before.variant.values['org']}.")


@pytest.mark.usefixtures("registry")
def test_a_file_needs_only_the_languages_that_are_played(tmp_path: Path) -> None:
    """Files that were written before German came are played as before."""
    locales = {locale: GOOD["locales"][locale] for locale in ("en", "es", "zh")}
    path = write(tmp_path, "of_old", GOOD | {"locales": locales})
    attack_from_file(path)
    before = staged("soft_email.es")
    (message,) = written(before, attacks.apply("of_old", before))
    assert "es, from" in message.text
    lacks = re.escape(f"attack file {path} has no texts in de, only in en, es, zh; add locales.de")
    with pytest.raises(ParameterError, match=lacks):
        attacks.apply("of_old", staged("soft_email.de"))
    assert soft_email(attack="of_old", locale="zh").dataset
    with pytest.raises(PrerequisiteError, match=lacks):
        soft_email(attack="of_old", locale="de")


@pytest.mark.usefixtures("registry")
def test_a_taken_name_names_the_file_and_the_first_one_stays(tmp_path: Path) -> None:
    first = ATTACKS.get("volume")
    with pytest.raises(DuplicateNameError, match=r"volume\.yaml.* 'volume' is registered already"):
        attack_from_file(write(tmp_path, "volume"))
    assert ATTACKS.get("volume") is first


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that is imported as the package of the attacks, empty but for what a test writes."""
    made = tmp_path / "their_attacks"
    made.mkdir()
    (made / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    states = {"_package": made.name, "_components": {}, "_built_in": False, "_complete": False}
    for name, value in states.items():
        monkeypatch.setattr(ATTACKS, name, value)
    yield made
    for module in [name for name in sys.modules if name.partition(".")[0] == made.name]:
        del sys.modules[module]


LOGIC = """
from pathlib import Path
from constraintrot.attacks import attack_from_file
from constraintrot.attacks.registration import place

def shout(episode, settings, file):
    return place(episode, [t.upper() for t in file.filled(episode.variant)], settings)

attack_from_file(Path(__file__).with_suffix(".yaml"), shout)
"""


def test_one_more_file_in_the_folder_is_one_more_attack(folder: Path) -> None:
    write(folder, "quiet")
    write(folder, "loud", GOOD | {"summary": "Shout."})
    (folder / "loud.py").write_text(LOGIC)
    write(folder, "_shared", {"not": "an attack"})
    before = staged("soft_email.en")
    (quiet,) = written(before, attacks.apply("quiet", before))
    (loud,) = written(before, attacks.apply("loud", before))
    assert "en, from" in quiet.text
    assert "EN, FROM" in loud.text
    assert ATTACKS.names() == ["loud", "quiet"]
    assert ATTACKS.get("loud").summary == "Shout."


def test_a_broken_file_in_the_folder_stops_nobody_who_names_another(folder: Path) -> None:
    write(folder, "good")
    write(folder, "bad", without("summary"))
    assert ATTACKS.get("good").summary == "Ask for it."
    asked: list[Callable[[], object]] = [lambda: ATTACKS.get("bad"), ATTACKS.names]
    for ask in asked:
        with pytest.raises(ScenarioError, match=r"bad\.yaml: summary: Field required"):
            ask()


def test_a_file_and_a_python_file_that_does_not_read_it_clash(folder: Path) -> None:
    write(folder, "twice")
    (folder / "twice.py").write_text(
        "from constraintrot.attacks import attack\n"
        "attack('twice', knowledge='black_box')(lambda episode, settings: episode)\n"
    )
    with pytest.raises(DuplicateNameError, match=r"twice\.yaml.* 'twice' is registered already"):
        ATTACKS.get("twice")


@pytest.mark.parametrize("broken", [False, True])
def test_an_installed_package_adds_its_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, broken: bool
) -> None:
    write(folder.parent, "theirs", without("summary") if broken else GOOD)
    (folder.parent / "their_plugin.py").write_text(
        "from pathlib import Path\n"
        "from constraintrot.attacks import attack_from_file\n"
        "attack_from_file(Path(__file__).with_name('theirs.yaml'))\n"
    )
    monkeypatch.delitem(sys.modules, "their_plugin", raising=False)
    point = EntryPoint("theirs", "their_plugin", "constraintrot.attacks")
    monkeypatch.setattr(components, "entry_points", EntryPoints([point]).select)
    if broken:
        with pytest.warns(PluginWarning, match=r"'theirs' .*theirs\.yaml: summary: Field required"):
            assert ATTACKS.names() == []
        with pytest.raises(UnknownNameError):
            attacks.read("theirs")
    else:
        assert ATTACKS.names() == ["theirs"]
        assert attacks.read("theirs").settings.channel == "document"


@pytest.mark.usefixtures("registry")
def test_the_docs_examples_are_attacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (docs_code.DOCS / "attacks.md").read_text(encoding="utf-8")
    (file,) = re.findall(r"^```yaml\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (tmp_path / "short_summaries.yaml").write_text(file, encoding="utf-8")
    (_, from_file), (_, in_python) = docs_code.blocks("attacks.md")
    (tmp_path / "docs_example_attacks.py").write_text(from_file + in_python, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "docs_example_attacks", raising=False)
    import_module("docs_example_attacks")
    before = staged("soft_email.zh")
    for name, part in (("short_summaries", "摘要从简"), ("of_mine", "A text for the summary's")):
        (message,) = written(before, attacks.apply(name, before))
        assert part in message.text
    assert ATTACKS.get("short_summaries").surface == ("document", "tool_output")
    assert ATTACKS.get("of_mine").summary == "What it does, in one sentence."
