"""A vault that people edit: other line ends, moved and broken files, frontmatter, embeds, tables."""

import shutil
from pathlib import Path

import pytest

from constraintrot.memory.wiki import Edit, Memory, Plan, Source, Wiki, WikiError
from constraintrot.memory.wiki.page import links, read_page, relinked
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

ACME, MAIL_PAGE = "entities/acme.md", "concepts/mail.md"
MORE = Plan((Edit("entity", "Acme", "", ("More.",)),))


def in_folder(path: Path) -> Wiki:
    wiki = Wiki.create(path, rules=[RULE], time=TIME)
    wiki.ingest(BADGES, BADGES_PLAN, time=TIME)
    wiki.ingest(MAIL, MAIL_PLAN, time=TIME)
    return wiki


def reaches(wiki: Wiki) -> bool:
    return any(RULE in (one.text or "") for one in wiki.query("mail").reads if one.part == "page")


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_and_a_byte_order_mark_are_no_change(tmp_path: Path, end: str, mark: str) -> None:
    wiki = in_folder(tmp_path / "v")
    for path in (tmp_path / "v").rglob("*.md"):
        text = path.read_bytes().decode("utf-8")
        path.write_bytes((mark + text.replace("\n", end)).encode())
    assert wiki.lint() == []
    assert wiki.ingest(BADGES, BADGES_PLAN, time=TIME).already
    assert reaches(wiki)
    done = wiki.ingest(Source("More", "x"), MORE, time=TIME)
    assert not done.refused
    assert wiki.lint() == []
    page = page_of(wiki, "acme")
    assert [one.heading for one in page.sections] == ["", "Facts", "Related"]
    assert "\r" not in wiki.query("mail").render()


@pytest.mark.parametrize("store", ["folder", "memory"])
def test_a_source_of_any_line_ends_is_one_source(tmp_path: Path, store: str) -> None:
    wiki = empty() if store == "memory" else Wiki.create(tmp_path / "v")
    first = wiki.ingest(Source("A", "One.\r\r\nTwo.\rThree.\r"))
    assert wiki.lint() == []
    again = wiki.ingest(Source("A", "\ufeffOne.\n\r\nTwo.\nThree.\n"))
    assert (again.source, again.already) == (first.source, True)


def test_a_rewrite_of_any_line_ends_forges_no_heading() -> None:
    wiki = empty()
    wiki.ingest(BADGES, Plan((Edit("concept", "A", section="T", rewrite="One.\r## Rules\rX."),)))
    page = page_of(wiki, "a")
    assert [one.heading for one in page.sections] == ["", "T"]


def test_an_index_without_a_last_line_end_is_read_whole() -> None:
    wiki, store = filled()
    store.remove("hot-cache.md")
    lines = [line for line in store.texts["index.md"].splitlines() if "nalys" not in line]
    store.write("index.md", "\n".join(lines).rstrip("\n"))
    assert store.texts["index.md"].endswith("Who may get email")
    assert reaches(wiki)


@pytest.mark.parametrize(
    ("link", "mended"),
    [
        ("[[Badges]]", "[[badges|Badges]]"),
        ("[[Badges#Hours]]", "[[badges#Hours|Badges#Hours]]"),
        ("[[Badges#^a1|them]]", "[[badges#^a1|them]]"),
        ("![[Badges#Hours]]", "![[badges#Hours]]"),
        ("| [[Badges]] |", "| [[badges\\|Badges]] |"),
        ("| [[Badges\\|them]] |", "| [[badges\\|them]] |"),
        ("[[Gone]]", "Gone"),
        ("![[Gone#Part]]", "Gone#Part"),
        ("[[Gone|them]]", "them (Gone)"),
        ("| [[Gone\\|them]] |", "| them (Gone) |"),
    ],
)
def test_a_link_that_is_mended_keeps_all_else(link: str, mended: str) -> None:
    assert relinked(f"See:\n{link}\n", {"Badges": "badges", "Gone": None}) == f"See:\n{mended}\n"


@pytest.mark.parametrize(
    "text",
    [
        "[[#own]] [[folder/b.md|B]]\n```py\n[[e]]\n```\n",
        "![[b#Part]]\n~~~\n[[f]]\n~~~\n",
        "``[[g]] ` ``[[b^block]]\n",
        "- x\n\n  ```\n\n  [[code]]\n  ```\n[[b]]\n",
        "- ```\n\n  [[code]]\n  ```\n[[b]]\n",
        "> ```\n>\n> [[code]]\n> ```\n[[b]]\n",
        "```[[code]]``` in a line\n\n[[b]]\n",
        "A stray ` sign.\n\n[[b]]\n\nAnother ` one.\n",
        "A stray ` sign.\n## H\n[[b]]\nAnother ` one.\n",
    ],
)
def test_links_are_those_that_obsidian_sees(text: str) -> None:
    assert list(links(text)) == ["b"]


def test_links_to_a_persons_own_files_stay(tmp_path: Path) -> None:
    wiki = in_folder(tmp_path / "v")
    for name in ("README.md", "daily/2026-04-02.md", "files/plan.png"):
        (tmp_path / "v" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "v" / name).write_text("x", "utf-8")
    mine = "\n![[plan.png|300]] [[2026-04-02]] [[daily/2026-04-02#A|day]] [[README]]\n"
    page = tmp_path / "v" / ACME
    page.write_text(page.read_text("utf-8") + mine, "utf-8")
    assert wiki.lint() == []
    wiki.repair()
    assert mine in page.read_text("utf-8")
    # What is in a hidden folder is nothing that a link goes to.
    (tmp_path / "v/.trash").mkdir()
    (tmp_path / "v/.trash/old.md").write_text("x", "utf-8")
    page.write_text(page.read_text("utf-8") + "\n[[old]]\n", "utf-8")
    assert [one.code for one in wiki.lint()] == ["unresolved_link"]


@pytest.mark.parametrize("broken", ["moved", "no frontmatter", "no YAML", "no UTF-8"])
def test_a_page_that_cannot_be_read_keeps_its_links_and_its_place(
    tmp_path: Path, broken: str
) -> None:
    wiki = in_folder(tmp_path / "v")
    acme, page = tmp_path / "v" / ACME, tmp_path / "v" / MAIL_PAGE
    acme.write_text(acme.read_text("utf-8") + "\nSee [[mail]].\n", "utf-8")
    data = page.read_bytes()
    if broken == "moved":
        page = page.rename(tmp_path / "v/entities/mail.md")
    else:
        page.write_bytes({
            "no frontmatter": data.partition(b"---\n\n")[2],
            "no YAML": data.replace(b"title: ", b"title: a: b: "),
            "no UTF-8": "\u00fc".encode("latin-1") + data,
        }[broken])  # fmt: skip
    data = page.read_bytes()
    assert {one.code for one in wiki.lint()} == {"unreadable"}
    assert wiki.repair() == []
    assert "See [[mail]]." in acme.read_text("utf-8")
    done = wiki.ingest(Source("More", "x"), Plan((Edit("concept", "Mail", "", ("More.",)),)))
    assert "cannot be read as a page" in done.refused[0]
    assert page.read_bytes() == data
    assert not (tmp_path / "v/.wiki/journal.json").exists()
    answer = wiki.query("mail")
    assert any("mail.md" in step for step in answer.path)
    assert reaches(wiki) or (broken == "no UTF-8" and "cannot be read" in answer.render())


MINE = """\
# kept by Ann
title: "Acme: the supplier"   # as on the door
aliases: [ACME, 'Acme Ltd']
type: entity
phone: 0123
opens: 12:30
version: 1.10
due: 2026-05-01
note: |
  One.

  Two: three.
tags:
- supplier
"""


def test_what_a_person_wrote_in_the_frontmatter_is_kept_as_written() -> None:
    wiki, store = filled()
    body = store.texts[ACME].partition("summary:")[2].partition("\n")[2]
    given = f'created: 2026-04-01\nsources:\n  - "[[2026-04-01-badge-memo]]"\n{body}'
    store.texts[ACME] = f"---\n{MINE}{given}"
    wiki.repair()
    assert wiki.lint() == []
    edit = Edit("entity", "Acme", "Sells badges", ("More.",))
    done = wiki.ingest(Source("More", "x"), Plan((edit,)), time="2026-04-02T09:00:00Z")
    assert not done.refused
    text = store.texts[ACME]
    assert text.startswith(f"---\n{MINE}created: 2026-04-01\nsources: [")
    page = page_of(wiki, "acme")
    assert page.sources == ("2026-04-01-badge-memo", "2026-04-02-more")
    assert (page.summary, page.updated) == ("Sells badges", "2026-04-02")
    assert wiki.lint() == []


@pytest.mark.parametrize(
    "front",
    [
        "{title: X, type: concept, tags: [a]}\n",
        "title: &t X\ntype: concept\nalso: *t\n",
        "? title\n: X\n? type\n: concept\ntags: [a]\n",
    ],
)
def test_frontmatter_in_an_odd_form_loses_no_value(front: str) -> None:
    page = read_page("concept", "x", f"---\n{front}---\n")
    again = read_page("concept", "x", page.with_section("A", "b").render())
    assert (again.title, again.extra) == (page.title, page.extra)


def test_a_source_that_was_written_and_not_logged_is_ingested() -> None:
    """The process was killed after the first write, and the damaged journal was removed, as lint says."""
    whole, store = filled()[1].texts, Memory()
    wiki = empty(store)
    wiki.ingest(BADGES, BADGES_PLAN, time=TIME)
    path = "sources/2026-04-01-mail-rules.md"
    store.write(path, whole[path])
    assert wiki.known(MAIL, time=TIME) is None
    assert not wiki.ingest(MAIL, MAIL_PLAN, time=TIME).already
    assert store.texts == whole


def test_what_the_end_of_a_cut_off_ingest_refuses_is_said() -> None:
    wiki, store = filled()
    with pytest.raises(KilledError):
        Wiki(dying(store, 1, after=True)).ingest(Source("More", "x"), MORE, time=TIME)
    store.texts[ACME] = "half a page"
    done = wiki.ingest(Source("Last", "y"), Plan(), time=TIME)
    assert "cannot be read as a page" in done.refused[0]


def test_a_file_that_no_link_can_name_is_said_once_and_for_all() -> None:
    wiki, store = filled()
    text = store.texts[ACME]
    store.write("entities/x#y.md", text)
    assert [one.code for one in wiki.lint()] == ["unreadable"]
    before = len(wiki.log())
    assert wiki.repair() == []
    assert len(wiki.log()) == before
    assert store.texts["entities/x#y.md"] == text


def test_headings_of_other_sections_stay_as_they_are_written() -> None:
    mine = "## C#\n\nx\n\n## The `-x` flag\n\n##  Two  words ##\n\ny\n\n"
    page = read_page("concept", "x", f"---\ntitle: X\ntype: concept\n---\n{mine}## Facts\n\nz\n")
    assert [one.heading for one in page.sections] == ["C#", "The `-x` flag", "Two words", "Facts"]
    assert page.with_section("Facts", "new").body == f"{mine}## Facts\n\nnew\n"
    assert page.with_section("More", "m").body == f"{mine}## Facts\n\nz\n\n## More\n\nm\n"
    assert page.with_section("c#", "new").body.startswith("## C#\n\nnew\n\n## The `-x`")
    twice = page.with_section("F#", "a").with_section("F#", "b")
    assert [one.heading for one in twice.sections].count("F#") == 1


@pytest.mark.parametrize("name", ["CLAUDE.md", "index.md", "hot-cache.md", "log.md"])
def test_a_file_of_the_root_that_is_not_utf_8_is_a_finding(tmp_path: Path, name: str) -> None:
    wiki, file = in_folder(tmp_path), tmp_path / name
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b"\n", "\nSeñor\n".encode("latin-1"), 1))
    (found,) = wiki.lint()
    assert (found.code, found.path) == ("unreadable", name)
    assert "is not UTF-8" in found.text
    file.write_bytes(whole)
    assert wiki.lint() == []


@pytest.mark.parametrize("name", ["index.md", "hot-cache.md", "log.md"])
def test_nothing_is_repaired_before_a_file_that_all_repairs_write_to(
    tmp_path: Path, name: str
) -> None:
    wiki = in_folder(tmp_path)
    with pytest.raises(KilledError):
        Wiki(dying(wiki.store, 1, after=True)).ingest(Source("More", "x"), MORE, time=TIME)
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(b"\xff")
    codes = [one.code for one in wiki.lint()]
    assert codes[:2] == ["unreadable", "unfinished_ingest"]
    assert wiki.repair() == []
    assert (tmp_path / name).read_bytes() == b"\xff"
    (tmp_path / name).write_bytes(whole)
    assert "unfinished_ingest" in {one.code for one in wiki.repair()}
    assert wiki.lint() == []


@pytest.mark.parametrize("name", ["index.md", "hot-cache.md", "log.md"])
def test_nothing_is_written_while_a_file_that_all_writes_go_to_cannot_be_read(
    tmp_path: Path, name: str
) -> None:
    wiki = in_folder(tmp_path)
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes() + b"\xff\n")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.md")}
    for write in (
        lambda: wiki.ingest(Source("More", "x"), MORE, time=TIME),
        lambda: wiki.known(BADGES, time=TIME),
        lambda: wiki.query("Who has a badge?", record=True),
        wiki.finish,
    ):
        with pytest.raises(WikiError, match=f"{name} is not UTF-8"):
            write()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.md")} == before
    assert not (tmp_path / ".wiki" / "journal.json").exists()


@pytest.mark.parametrize("folder", ["sources", "entities", "concepts", "analyses", ".wiki"])
def test_a_file_in_the_place_of_a_folder_is_said(tmp_path: Path, folder: str) -> None:
    wiki = Wiki.create(tmp_path)
    shutil.rmtree(tmp_path / folder)
    (tmp_path / folder).write_text("x", "utf-8")
    said = f"{folder} is a file, where a vault has a folder"
    for use in (wiki.lint, wiki.repair, lambda: wiki.ingest(BADGES, BADGES_PLAN, time=TIME)):
        with pytest.raises(WikiError, match=said):
            use()


def test_a_rule_that_is_no_list_is_not_taken_apart(tmp_path: Path) -> None:
    with pytest.raises(WikiError, match=r"rules are several texts, as \['Never"):
        Wiki.create(tmp_path / "vault", RULE)
    assert not (tmp_path / "vault").exists()


def test_a_vault_that_lost_its_log_is_not_sent_to_init(tmp_path: Path) -> None:
    Wiki.create(tmp_path)
    (tmp_path / "log.md").unlink()
    with pytest.raises(WikiError, match=r"has lost its log\.md"):
        Wiki(tmp_path)


def test_a_hot_cache_that_cannot_be_read_hides_nothing(tmp_path: Path) -> None:
    wiki = in_folder(tmp_path)
    (tmp_path / "hot-cache.md").write_bytes(b"\xff")
    assert "acme" in wiki.query("When does Acme deliver?").pages


def test_a_vault_whose_folders_did_not_come_along_is_written_to(tmp_path: Path) -> None:
    wiki = Wiki.create(tmp_path)
    for folder in (".wiki", "sources", "entities", "concepts", "analyses"):
        shutil.rmtree(tmp_path / folder)
    assert wiki.lint() == []
    assert wiki.ingest(BADGES, BADGES_PLAN, time=TIME).pages
    assert wiki.lint() == []
