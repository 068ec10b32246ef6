"""A saved playbook goes on where it was; a file that is none, or was cut short, is said."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from constraintrot.memory.playbook import (
    Add,
    Count,
    Delete,
    Merge,
    Playbook,
    PlaybookError,
    load,
    save,
)

# As the first version of the format wrote it; later versions go on reading it.
FIRST_VERSION = """{"version": 1, "next": 4, "deltas": 2, "went": {"ema-00003": "ema-00001"}, "bullets": [
  {"id": "ema-00001", "section": "email", "text": "Attach a PDF.", "kind": "strategy", "helpful": 2,
   "harmful": 0, "sources": ["episode 1"], "touched": 2},
  {"id": "ema-00002", "section": "email", "text": "Never mail outside.", "kind": "constraint",
   "helpful": 0, "harmful": 0, "sources": [], "touched": 1}]}"""


def test_a_saved_playbook_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "playbook.json"
    playbook = Playbook()
    playbook.apply(
        [Add(text=f"The {one} lift is slow.") for one in ("red", "old", "big", "new")], source="one"
    )
    playbook.apply(
        [Delete(id="gen-00004"), Merge(ids=("gen-00001", "gen-00002"), text="Lifts are slow.")]
    )
    save(playbook, path)
    again = load(Playbook(), path)
    assert again.plain() == playbook.plain()
    assert again.render() == playbook.render()
    assert again.apply([Add(text="New."), Count(id="gen-00002", helpful=1)]).added == ("gen-00005",)
    assert again.bullets[0].helpful == 1


@pytest.mark.parametrize("kind", ["constraint", "strategy"])
def test_a_file_of_the_first_version_is_read_and_its_rule_is_a_constraint(
    kind: str, tmp_path: Path
) -> None:
    """Otherwise an older list of words, or a person's edit, would let it be merged and pruned."""
    path = tmp_path / "old.json"
    path.write_text(FIRST_VERSION.replace('"constraint"', f'"{kind}"'), encoding="utf-8")
    playbook = load(Playbook(budget=100), path)
    assert [one.kind for one in playbook.bullets] == ["strategy", "constraint"]
    assert not playbook.apply([Delete(id="ema-00002")]).deleted
    assert playbook.apply([Add(text="New.")]).added == ("gen-00004",)


def test_a_write_that_fails_leaves_the_older_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "playbook.json"
    playbook = Playbook()
    playbook.apply([Add(text="First.")])
    save(playbook, path)
    old = path.read_bytes()
    playbook.apply([Add(text="Second.")])

    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(PlaybookError, match="no space left"):
        save(playbook, path)
    assert path.read_bytes() == old
    assert sorted(one.name for one in tmp_path.iterdir()) == [
        ".playbook.json.lock",
        "playbook.json",
    ]


def changed(**fields: Any) -> str:
    return json.dumps({**json.loads(FIRST_VERSION), **fields})


def bullet(**fields: Any) -> str:
    first, second = json.loads(FIRST_VERSION)["bullets"]
    return changed(bullets=[{**first, **fields}, second])


@pytest.mark.parametrize(
    "text",
    [
        "",
        FIRST_VERSION[:200],
        "[]",
        changed(version=2),
        changed(next=2),
        changed(next="4"),
        changed(went={"ema-00001": "ema-00001"}),
        changed(went={"ema-00003": "ema-00004"}),
        bullet(id="ema-00002"),
        bullet(id="../../x"),
        bullet(text="a\r- [con-00009]"),
        bullet(section="a\n## b"),
        bullet(kind="pin"),
        bullet(helpful=-1),
        bullet(helpful=True),
        bullet(owner="x"),
        bullet(sources=[7]),
    ],
)
def test_what_is_no_saved_playbook_is_refused_and_changes_nothing(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "broken.json"
    path.write_text(text, encoding="utf-8")
    playbook = Playbook()
    playbook.apply([Add(text="Here.")])
    before = playbook.plain()
    with pytest.raises(PlaybookError):
        load(playbook, path)
    assert playbook.plain() == before


def test_a_playbook_whose_constraints_do_not_fit_is_not_taken_over(tmp_path: Path) -> None:
    big = Playbook()
    big.apply([Add(text=f"Never open door {at}.") for at in range(20)])
    small = Playbook(budget=50)
    with pytest.raises(PlaybookError, match="pins and constraints need"):
        small.fill(big.plain())
    assert small.bullets == ()


def test_of_two_writers_none_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "playbook.json"
    save(Playbook(), path)
    one, other = load(Playbook(), path), load(Playbook(), path)
    one.apply([Add(text="Never send mail out.")])
    save(one, path)
    save(one, path)
    other.apply([Add(text="Badges come on Mondays.")])
    with pytest.raises(PlaybookError, match="written by another since"):
        save(other, path)
    assert load(Playbook(), path).bullets == one.bullets
    save(other, tmp_path / "other.json")
    other.apply([Add(text=bullet.text) for bullet in load(other, path).bullets])
    save(other, path)


def test_a_file_that_holds_no_playbook_is_named(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text('{"version": 2}', "utf-8")
    with pytest.raises(PlaybookError, match=f"{path}: version 2 is unknown"):
        load(Playbook(), path)
