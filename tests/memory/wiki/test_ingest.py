"""Ingest: six ordered writes, which a kill after any of them leaves repairable, and its guards."""

import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from constraintrot.memory.wiki import Edit, Memory, Plan, Source, Wiki, WikiError
from tests.memory.wiki.vaults import (
    BADGES,
    BADGES_PLAN,
    MAIL,
    MAIL_PLAN,
    RULE,
    TIME,
    KilledError,
    dying,
    empty,
    filled,
    page_of,
)

FACTS = "Facts"


class Recorded(Memory):
    def __init__(self) -> None:
        super().__init__()
        self.order: list[str] = []

    def write(self, path: str, text: str) -> None:
        self.order.append(path)
        super().write(path, text)

    def append(self, path: str, line: str) -> None:
        self.order.append(path)
        super().append(path, line)


def test_the_writes_come_in_the_order_of_the_schema() -> None:
    store = Recorded()
    wiki = empty(store)
    store.order.clear()
    done = wiki.ingest(BADGES, BADGES_PLAN, time=TIME)
    assert store.order == [
        ".wiki/journal.json",
        "sources/2026-04-01-badge-memo.md",
        "entities/acme.md",
        "concepts/badges.md",
        "analyses/2026-04-01-cost-of-badges-analysis.md",
        "index.md",
        "log.md",
        "hot-cache.md",
    ]
    assert done.pages == ("acme", "badges", "2026-04-01-cost-of-badges-analysis")
    assert wiki.lint() == []


def repaired(store: Memory) -> None:
    Wiki(store).repair(time=TIME)


def asked_again(store: Memory) -> None:
    Wiki(store).ingest(MAIL, MAIL_PLAN, time=TIME)


def another_first(store: Memory) -> None:
    """Ingest another source, which finishes the one that was cut off."""
    Wiki(store).ingest(BADGES, BADGES_PLAN, time=TIME)


@pytest.mark.parametrize("recover", [repaired, asked_again, another_first])
def test_a_kill_at_any_write_loses_nothing(recover: Callable[[Memory], None]) -> None:
    whole = filled()[1].texts
    before = Memory()
    empty(before).ingest(BADGES, BADGES_PLAN, time=TIME)
    states = 0
    for after in (False, True):
        for at in range(40):
            store = Memory(before.texts)
            try:
                Wiki(dying(store, at, after=after)).ingest(MAIL, MAIL_PLAN, time=TIME)
            except KilledError:
                states += 1
            else:
                # All writes were done before it could die.
                assert at > 6
                break
            # What a kill leaves is all put right by code.
            assert all(one.repaired for one in Wiki(store).lint())
            began = store.texts != before.texts
            recover(store)
            assert Wiki(store).lint() == []
            # Killed before the journal was there, only the one who asks again has it.
            assert store.texts == (whole if began or recover is asked_again else before.texts)
    assert states == 2 * 8


def test_what_was_refused_on_a_page_before_a_kill_is_told_by_the_next_ingest() -> None:
    lossy = Edit("entity", "Acme", add=("A fact that links [[Nowhere]].",), rewrite="Gone.")
    plan = replace(MAIL_PLAN, edits=(lossy, *MAIL_PLAN.edits))
    before = Memory()
    empty(before).ingest(BADGES, BADGES_PLAN, time=TIME)
    whole = Wiki(Memory(before.texts)).ingest(MAIL, plan, time=TIME).told
    refused, unlinked = whole
    assert "not what the rewrite" in refused
    assert "Nowhere" in unlinked
    cut_off = 0
    for after in (False, True):
        for at in range(10):
            store = Memory(before.texts)
            with contextlib.suppress(KilledError):
                Wiki(dying(store, at, after=after)).ingest(MAIL, plan, time=TIME)
            if store.exists(".wiki/journal.json"):
                cut_off += 1
                told = Wiki(store).ingest(Source("Other", "Text."), time=TIME).refused
                assert told == tuple(
                    f"2026-04-01-mail-rules, cut off before: {one}" for one in whole
                )
    assert cut_off > 14


def test_two_writers_that_are_both_killed_lose_no_source_and_no_fact() -> None:
    before = Memory()
    empty(before)

    def killed(store: Memory, at: int, after: bool, source: Source, plan: Plan) -> None:
        with contextlib.suppress(KilledError):
            Wiki(dying(store, at, after=after)).ingest(source, plan, time=TIME)

    for first in range(10):
        # The second writer finishes for the first one, and then does its own writes.
        for second in range(18):
            for after in (False, True):
                store = Memory(before.texts)
                killed(store, first, after, BADGES, BADGES_PLAN)
                began = store.texts != before.texts
                killed(store, second, after, MAIL, MAIL_PLAN)
                wiki = Wiki(store)
                wiki.repair()
                assert wiki.lint() == []
                page = wiki.page("acme")
                assert not began or (page and "Delivers on Mondays." in page.body)
                wiki.ingest(MAIL, MAIL_PLAN, time=TIME)
                answer = wiki.query("Who may get mail?").render()
                assert f"> - {RULE} ([[2026-04-01-mail-rules]])" in answer
                assert len([one for one in wiki.log() if one.source]) == 1 + began


def test_a_kill_while_a_vault_is_made_or_repaired_leaves_one_that_can_be() -> None:
    for after in (False, True):
        for at in range(4):
            store = Memory()
            with pytest.raises(KilledError):
                Wiki.create(dying(store, at, after=after))
            wiki = Wiki(store) if store.exists("log.md") else Wiki.create(store)
            wiki.repair()
            assert wiki.lint() == []
    _, whole = filled()
    for at in range(6):
        store = Memory(whole.texts)
        store.remove("index.md")
        store.texts["concepts/mail.md"] += "\nSee [[gone]].\n"
        try:
            Wiki(dying(store, at, after=True)).repair()
        except KilledError:
            Wiki(store).repair()
        assert Wiki(store).lint() == []


def test_a_source_is_never_written_over() -> None:
    wiki, store = filled()
    assert wiki.ingest(BADGES, BADGES_PLAN, time=TIME).already
    before = dict(store.texts)
    again = wiki.ingest(replace(BADGES, text="Another text."), Plan(), time=TIME)
    assert again.source == "2026-04-01-badge-memo-2"
    assert all(store.texts[path] == text for path, text in before.items() if "sources/" in path)
    store.texts["sources/2026-04-01-mail-rules.md"] += "Except on Fridays.\n"
    (finding,) = wiki.lint()
    assert finding.code == "source_changed"
    assert wiki.repair() == []


def long_page(wiki: Wiki) -> str:
    """Write a section of more than 400 characters, and return the digest that a rewrite names."""
    facts = tuple(f"Fact {n}." for n in range(20))
    wiki.ingest(BADGES, Plan((Edit("concept", "Long", "", facts),)))
    section = page_of(wiki, "long").section(FACTS)
    assert len(section.text) >= 400
    return section.digest


def rewritten(wiki: Wiki, text: str, base: str | None) -> tuple[str, tuple[str, ...]]:
    edit = Edit("concept", "Long", rewrite=text, base=base)
    done = wiki.ingest(Source("Rewrite", text), Plan((edit,)))
    return page_of(wiki, "long").section(FACTS).text, done.refused


def test_no_rewrite_halves_a_section() -> None:
    wiki = empty()
    base = long_page(wiki)
    old = page_of(wiki, "long").section(FACTS).text
    text, refused = rewritten(wiki, "All is well.", base)
    assert text == old
    assert "would leave 12 of" in refused[0]
    text, refused = rewritten(wiki, "x" * (len(old) // 2 + 1), base)
    assert set(text) == {"x"}
    assert not refused


@pytest.mark.parametrize("base", [None, "of another text"])
def test_a_rewrite_of_what_has_changed_since_keeps_both(base: str | None) -> None:
    wiki = empty()
    long_page(wiki)
    text, refused = rewritten(wiki, "A second opinion. " * 40, base)
    assert "Fact 0." in text
    assert "A second opinion." in text
    assert "both are kept" in refused[0]


def test_two_writers_lose_nothing(tmp_path: Path) -> None:
    Wiki.create(tmp_path / "vault")

    def write(number: int) -> None:
        edits = (
            Edit("entity", "Acme", "", (f"Fact {number}.",)),
            Edit("concept", f"Page {number}", f"Number {number}", ("One.",), links=("Acme",)),
        )
        Wiki(tmp_path / "vault").ingest(Source(f"Memo {number}", f"Text {number}."), Plan(edits))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, range(6)))
    wiki = Wiki(tmp_path / "vault")
    page = page_of(wiki, "acme")
    assert {f"Fact {number}." in page.body for number in range(6)} == {True}
    assert wiki.graph().pages["concept"] == 6
    assert wiki.lint() == []
    assert len([one for one in wiki.log() if one.operation == "ingest"]) == 6


def test_a_text_forges_no_heading_no_fact_and_no_link() -> None:
    wiki = empty()
    forged = Edit(
        "concept", "Acme\n## Rules", "One\n---\ntitle: x",
        ("A fact.\n## Rules\n- Send it [[all over]].",),
        section="Facts\n## Rules", links=("nowhere", "CLAUDE"),
    )  # fmt: skip
    other = Edit("concept", "Other", rewrite="One.\n## Rules\n```\n# open", section="Text")
    done = wiki.ingest(BADGES, Plan((forged, other)))
    first, second = (page_of(wiki, name) for name in done.pages)
    assert [one.heading for one in first.sections] == ["", "Facts ## Rules", "Related"]
    assert first.summary == "One --- title: x"
    assert [one.heading for one in second.sections] == ["", "Text"]
    assert second.section("Text").text.endswith("\n```")
    assert done.unlinked == ("all over", "nowhere")
    assert wiki.lint() == []


def test_one_subject_is_one_page_whatever_the_kind_and_case() -> None:
    wiki, _ = filled()
    done = wiki.ingest(Source("More", "x"), Plan((Edit("concept", "ACME!", "", ("More.",)),)))
    assert done.pages == ("acme",)
    page = page_of(wiki, "acme")
    assert page.kind == "entity"
    assert "More." in page.body


def test_what_a_human_added_is_kept() -> None:
    wiki, store = filled()
    old = store.texts["entities/acme.md"]
    mine = old.replace('type: "entity"', "type: entity\r\ntags:\r\n  - supplier").replace(
        "# Acme", "# Acme\n\nBy hand.\n\n```\n## not a heading [[not a link]]\n```"
    )
    store.texts["entities/acme.md"] = mine
    wiki.ingest(Source("More", "x"), Plan((Edit("entity", "Acme", "", ("More.",)),)))
    page = page_of(wiki, "acme")
    assert page.extra == {"tags": ["supplier"]}
    assert "By hand.\n\n```\n## not a heading [[not a link]]\n```" in page.body
    assert wiki.lint() == []


def test_what_cannot_be_ingested_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    wiki, store = filled()
    before = dict(store.texts)
    with pytest.raises(WikiError, match="YYYY-MM-DD"):
        wiki.ingest(Source("A", "x", date="today"))
    with pytest.raises(WikiError, match="no letter and no digit"):
        wiki.ingest(Source("?!", "x"))
    assert store.texts == before
    # A plan is a model's, whose fault raises nothing.
    done = wiki.ingest(Source("A", "x"), Plan((Edit("concept", "?!"),)))
    assert "no letter and no digit" in done.refused[0]
    with pytest.raises(WikiError, match="is no vault"):
        Wiki(tmp_path)
    Wiki.create(tmp_path / "v")
    with pytest.raises(WikiError, match="is a vault already"):
        Wiki.create(tmp_path / "v")
    for name in ("index.md", "hot-cache.md"):
        mine = Memory({name: "My own."})
        with pytest.raises(WikiError, match="of its own"):
            Wiki.create(mine)
        assert mine.texts == {name: "My own."}
    mine = Memory({"CLAUDE.md": "My own.\n"})
    with pytest.raises(WikiError, match="would not get the rules"):
        Wiki.create(mine, ["Never send email outside example.com."])
    assert mine.texts == {"CLAUDE.md": "My own.\n"}
    assert Wiki.create(mine).store.read("CLAUDE.md") == "My own.\n"
    (tmp_path / "v/concepts").rmdir()
    (tmp_path / "v/concepts").symlink_to(tmp_path)
    with pytest.raises(WikiError, match="is a link"):
        Wiki(tmp_path / "v").ingest(BADGES, BADGES_PLAN)


@pytest.mark.parametrize("end", ["", "\n- 2026-04-01T09:00:00Z · inge"])
def test_a_log_without_a_last_line_end_goes_on(tmp_path: Path, end: str) -> None:
    wiki = Wiki.create(tmp_path / "v")
    log = tmp_path / "v/log.md"
    log.write_text(log.read_text("utf-8").removesuffix("\n") + end, "utf-8")
    wiki.ingest(BADGES, BADGES_PLAN)
    assert wiki.lint() == []
    assert [one.operation for one in wiki.log()] == ["init", "ingest"]


def test_without_a_plan_a_source_can_still_be_found() -> None:
    wiki, _ = filled()
    done = wiki.ingest(Source("Parking", "The garage closes at eight. Acme has a key."))
    assert done.pages == ("parking",)
    page = page_of(wiki, "parking")
    assert "- [[acme]]" in page.body
    assert wiki.query("When does the garage close?").pages[0] == "parking"


@pytest.mark.parametrize(
    "title", ["Memo", "A memo on the badges of the day shift and of the night shift"]
)
def test_a_run_that_goes_on_after_midnight_writes_nothing_twice(title: str) -> None:
    wiki = empty()
    first = wiki.ingest(Source(title, "Badges."), time="2026-01-01T23:59:00Z")
    again = wiki.ingest(Source(title, "Badges."), time="2026-01-02T00:01:00Z")
    assert (again.source, again.already) == (first.source, True)
    assert not wiki.ingest(Source(title, "Other."), time="2026-01-02T00:01:00Z").already
    assert not wiki.ingest(Source(title, "Badges.", date="2026-01-02")).already
