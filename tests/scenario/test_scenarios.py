"""Every scenario file, an installed package's too, keeps the promises of the measurement."""

import json
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from types import SimpleNamespace

import pytest

from constraintrot.authoring.checks import CHECKS, LEAST_VARIANTS, Check
from constraintrot.components import PluginWarning
from constraintrot.errors import ScenarioError, UnknownNameError
from constraintrot.scenario import files
from constraintrot.scenario.files import FOLDER, catalogue, load, read
from constraintrot.scenario.schema import CANARY, Scenario
from tests.helpers import first
from tests.scenario.checks import PUBLISHED, each_of

scenario = each_of(PUBLISHED)
SOFT = ["soft_channel", "soft_deploy", "soft_email", "soft_language", "soft_spend"]
HARD = ["hard_pii", "hard_proddb", "hard_seccontrol", "hard_secret"]
EACH = first(3, of=30)


def test_the_nine_families_and_their_locales() -> None:
    found = catalogue()
    assert sorted(found) == sorted(SOFT + HARD)
    assert all(sorted(found[family]) == ["de", "en", "es", "zh"] for family in SOFT)
    assert all(found[family] == ("en",) for family in HARD)
    assert len(PUBLISHED) == 24


def test_canary_is_a_line_of_the_file(scenario: Scenario) -> None:
    text = (FOLDER / f"{scenario.family}.{scenario.locale}.yaml").read_text(encoding="utf-8")
    assert f"canary: {CANARY}" in text.splitlines()


def test_kind_follows_from_the_family(scenario: Scenario) -> None:
    assert scenario.family.startswith(f"{scenario.kind}_")


def test_seeds_give_variants_that_are_all_distinct(scenario: Scenario) -> None:
    seen = {json.dumps(scenario.variant(seed).values) for seed in range(scenario.variants)}
    assert len(seen) == scenario.variants >= LEAST_VARIANTS


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@EACH
def test_each_is_what_every_scenario_is_held_to(
    scenario: Scenario, check: Check, seeds: range
) -> None:
    variants = [scenario.variant(seed, "all") for seed in seeds]
    assert list(check(scenario, variants)) == []


def edited(tmp_path: Path, old: str, new: str) -> Path:
    text = (FOLDER / "soft_email.en.yaml").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "soft_email.en.yaml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("kind: soft", "kind: soft\ncolour: red", "colour"),
        ("ack: Noted, thank you.\n", "", "ack"),
        ("\n  declarative:", "\n  declaratory:", "declar"),
        ("{{org}} email policy", "{{orgg}} email policy", "orgg"),
        ("{{org}} email policy", "{{Org}} email policy", r"\{\{Org\}\} has no value; known: .*org"),
        ("ack: Noted", "ack: Of {{orgg}}, noted", "orgg"),
        ("recipients_outside", "recipients_inside", "recipients_inside"),
        ("canary: constraintrot", "canary: other", "canary"),
        ("family: soft_email", "family: soft_mail", "soft_mail"),
        ('"no", prohibited', "no, prohibited", "slots.negation"),
        ("function: send_email", "function: send_mail", "send_mail"),
        ("title:", "title: [", "YAML"),
        ("topics: [rooms", "topics: [stairs", "facilities"),
        (
            "topics: [rooms, facilities, travel, rota, sheets, documents, stock]",
            "topics: []",
            "topics, a history of its own or a recorded one",
        ),
    ],
)
def test_a_wrong_file_is_refused_with_its_fault(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    with pytest.raises(ScenarioError, match=says) as raised:
        read(edited(tmp_path, old, new))
    assert "soft_email.en.yaml" in str(raised.value)


def test_unknown_family_and_locale_list_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="soft_email"):
        load("soft_mail")
    with pytest.raises(UnknownNameError, match="known: de, en, es, zh"):
        load("soft_email", "fr")


OURS = files.FOLDER / "soft_spend.en.yaml"


class Theirs(EntryPoint):
    """An entry point of an installed distribution."""

    dist = SimpleNamespace(name="their-package")  # type: ignore[assignment]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of an importable package that an entry point names."""
    folder = tmp_path / "their_scenarios"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    point = Theirs("any", "their_scenarios", files.GROUP)
    monkeypatch.setattr(
        files, "entry_points", lambda group: EntryPoints([point]).select(group=group)
    )
    _forget()
    yield folder
    sys.modules.pop("their_scenarios", None)
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    for cached in (
        files.catalogue,
        files.folders,
        files._sources,
        files.installed,
        files._read_once,
    ):
        cached.cache_clear()


def test_a_family_of_an_installed_package_is_loaded_and_listed(package: Path) -> None:
    text = OURS.read_text(encoding="utf-8").replace("family: soft_spend", "family: soft_rent")
    (package / "soft_rent.en.yaml").write_text(text, encoding="utf-8")
    scenario = files.load("soft_rent")
    assert scenario.family == "soft_rent"
    assert files.locales("soft_rent") == ("en",)
    assert scenario in files.every()
    assert "soft_rent" not in files.catalogue()
    with pytest.raises(UnknownNameError, match="unknown locale of soft_rent 'es'; known: en"):
        files.load("soft_rent", "es")


def test_a_file_is_laid_over_one_of_ours_or_beside_it(package: Path) -> None:
    (package / "soft_rent.en.yaml").write_text(
        "extends: soft_spend\nfamily: soft_rent\nlocale: en\ntitle: Rent\n", encoding="utf-8"
    )
    (package / "soft_lease.en.yaml").write_text(
        "extends: soft_rent\nfamily: soft_lease\nlocale: en\n", encoding="utf-8"
    )
    assert files.load("soft_lease").title == "Rent"
    assert files.load("soft_lease").trigger == files.load("soft_spend").trigger


def test_a_family_that_is_there_already_is_left_out_and_the_package_named(package: Path) -> None:
    (package / "soft_spend.en.yaml").write_text("family: soft_spend\n", encoding="utf-8")
    with pytest.warns(PluginWarning, match="their-package.*family soft_spend is there already"):
        assert files.load("soft_spend").family == "soft_spend"


def test_a_package_without_scenarios_is_named(package: Path) -> None:
    with pytest.warns(PluginWarning, match="their-package.*no <family>.<locale>.yaml"):
        assert "soft_spend" in files.folders()


@pytest.mark.parametrize("text", ["x: [", "x: 1", "- 1", "\x00", "extends: nothing\nlocale: en"])
def test_a_wrong_file_of_a_package_is_left_out_and_named(package: Path, text: str) -> None:
    """Each sample of each task failed that the scripted agent played."""
    good = OURS.read_text(encoding="utf-8").replace("family: soft_spend", "family: soft_rent")
    (package / "soft_rent.en.yaml").write_text(good, encoding="utf-8")
    (package / "foo.en.yaml").write_text(text, encoding="utf-8")
    with pytest.warns(PluginWarning, match=r"foo\.en\.yaml of the installed package their-package"):
        families = {scenario.family for scenario in files.every()}
    assert {"soft_spend", "soft_rent"} <= families
    assert "foo" not in families
    with pytest.raises(ScenarioError, match=r"foo\.en\.yaml"):
        files.load("foo")


def test_a_wrong_file_of_ours_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "foo.en.yaml").write_text("x: 1", encoding="utf-8")
    monkeypatch.setattr(files, "APART", tmp_path)
    _forget()
    with pytest.raises(ScenarioError, match=r"foo\.en\.yaml"):
        files.every()
    monkeypatch.undo()
    _forget()
