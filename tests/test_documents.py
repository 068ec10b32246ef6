"""YAML that somebody hands us: read with its lines, or refused by the line that is at fault."""

from pathlib import Path

import pytest

from constraintrot.documents import MOST_BYTES, document
from constraintrot.errors import ScenarioError

BOMB = "a: &a [x, x]\n" + "\n".join(
    f"{one}: &{one} [*{before}, *{before}]" for before, one in zip("abcdef", "bcdefg", strict=True)
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mine.yaml"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (BOMB.encode(), r"mine.yaml:2: aliases \(\*a\) are not read"),
        (b"a: 1\nb: 2\na: 3\n", "mine.yaml:3: key 'a' is given twice, before on line 1"),
        (b"a: 1\n'a': 3\n", "mine.yaml:2: key 'a' is given twice"),
        (b"a: 1\nb: caf\xe9\n", "mine.yaml:2: not UTF-8"),
        (b"a: [1\nb: 2\n", "mine.yaml:2: not YAML"),
        (
            b"a: !!python/object/apply:os.system [ls]\n",
            "mine.yaml:1: not YAML: could not determine",
        ),
        (b"a: 1\n---\nb: 2\n", "not YAML"),
        (b"[" * 900_000, "mine.yaml:1: nested more than 40 deep"),
        (b"- " * 400_000, "mine.yaml:1: nested more than 40 deep"),
        (b"a: " + b"9" * 5000, "mine.yaml:1: a number of more than 400"),
        (b"a: 1" + b":1" * 400_000, "mine.yaml:1: a number of more than 400"),
        (b"? [1, 2]\n: 3\n", "a key must be a plain text"),
        (b"a: \x00", "not YAML"),
    ],
)
def test_hostile_yaml_is_refused_by_its_line(path: Path, content: bytes, says: str) -> None:
    path.write_bytes(content)
    with pytest.raises(ScenarioError, match=says):
        document(path)


def test_what_is_no_file_or_too_large_is_refused(path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"mine\.yaml: No such file"):
        document(path)
    path.mkdir()
    with pytest.raises(ScenarioError, match="is a folder"):
        document(path)
    large = path / "large.yaml"
    large.write_bytes(b"#" * (MOST_BYTES + 1))
    with pytest.raises(ScenarioError, match=r"1,000,001 bytes; at most 1,000,000"):
        document(large)


def test_an_entry_has_its_line_and_what_is_missing_that_of_its_surroundings(path: Path) -> None:
    path.write_text("\ufeffa: 1\nb:\n  - x\n  - c:\n      d: 2\n", encoding="utf-8")
    found = document(path)
    assert found.data == {"a": 1, "b": ["x", {"c": {"d": 2}}]}
    places: list[tuple[str | int, ...]] = [
        ("a",), ("b", 0), ("b", 1, "c", "d"), ("b", 1, "e"), ("z",),
    ]  # fmt: skip
    assert [found.line(place) for place in places] == [1, 3, 5, 4, 1]


def test_an_empty_file_is_nothing(path: Path) -> None:
    path.write_bytes(b"")
    assert document(path).data is None
