"""The file of a search: going on with one, and what is never written over."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from constraintrot import attacks
from constraintrot.attacks.search_results import journal, jsonl
from constraintrot.attacks.search_results.trial import Candidate, SearchSettings
from constraintrot.errors import ParameterError
from tests.attacks.search_results.cases import settings, written


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "found.jsonl"


@hypothesis_settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.data())
def test_a_file_cut_anywhere_is_refused_and_can_be_gone_on_with(
    tmp_path: Path, data: st.DataObject
) -> None:
    path = tmp_path / "cut.jsonl"
    whole = written(path, False, True)
    raw = path.read_bytes()
    header = raw.index(b"\n") + 1
    path.write_bytes(raw[: data.draw(st.integers(header, len(raw) - 1))])
    with pytest.raises(ParameterError, match=r"cut short|holds no prompt"):
        attacks.read(f"@{path}")
    found = journal.begin(path, settings(variants=1, eval_variants=1))
    assert raw.startswith(path.read_bytes())
    assert path.read_bytes().endswith(b"\n")
    assert set(found.searched) <= set(whole.searched)
    assert found.done is None


def test_a_search_that_goes_on_has_not_ended(path: Path) -> None:
    """Its best prompt may be another one, which was not evaluated yet."""
    written(path, True).prompt(2, Candidate(text="More.", made={"name": "x"}))
    with pytest.raises(ParameterError, match="the search did not end; go on"):
        attacks.read(f"@{path}")
    assert journal.begin(path, settings(variants=1, eval_variants=1)).done is None


def test_a_file_that_cannot_be_made(path: Path) -> None:
    path.write_text("my notes\n")
    with pytest.raises(ParameterError, match=r"cannot write .* name another file"):
        journal.begin(path / "found.jsonl", settings())


def test_other_settings_are_refused_and_nothing_is_written(path: Path) -> None:
    written(path, False)
    before = path.read_bytes()
    with pytest.raises(ParameterError, match=r"other settings: random_seed \(random_seed was 0"):
        journal.begin(path, settings(variants=1, eval_variants=1, random_seed=1))
    assert path.read_bytes() == before


def test_a_foreign_file_is_never_written_over(path: Path) -> None:
    path.write_text("my notes\n")
    with pytest.raises(ParameterError, match="no JSON"):
        journal.begin(path, settings())
    assert path.read_text() == "my notes\n"


def test_settings_come_back_as_they_were(path: Path) -> None:
    wanted = settings(parameters={"rounds": 2, "budget_words": 40, "locale": "zh"})
    journal.begin(path, wanted)
    header = jsonl.read(path, journal.FORMAT)
    assert SearchSettings.model_validate(header.settings) == wanted
    journal.begin(path, wanted)
