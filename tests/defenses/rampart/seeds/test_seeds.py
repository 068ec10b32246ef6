import os
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from constraintrot.defenses.rampart.errors import SeedError
from constraintrot.defenses.rampart.seeds import (
    PARSERS,
    Parsers,
    Seed,
    SeedLibrary,
    frontmatter,
    read,
)
from constraintrot.defenses.rampart.seeds.markdown import markdown

TWO = """---
blocks:
  - name: refunds
    priority: 80
    tags: [payments, tool]
  - name: tone
---
For every agent.

## refunds
Never refund more than 500 EUR.

### Exceptions
None.

## tone

Be brief.
"""


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_blocks_of_a_seed_file(tmp_path: Path) -> None:
    path = write(tmp_path, "bank.md", TWO)
    origin = str(path)
    assert read(path) == [
        Seed("bank", "For every agent.", origin=origin),
        Seed(
            "refunds",
            "Never refund more than 500 EUR.\n\n### Exceptions\nNone.",
            80,
            ("payments", "tool"),
            origin,
        ),
        Seed("tone", "Be brief.", origin=origin),
    ]


def test_blocks_are_chosen_in_the_order_asked(tmp_path: Path) -> None:
    path = write(tmp_path, "bank.md", TWO)
    assert [s.name for s in read(str(path), ["tone", "refunds"])] == ["tone", "refunds"]
    with pytest.raises(SeedError, match=r"no block named 'tune'; known: bank, refunds, tone"):
        read(path, ["tune"])
    with pytest.raises(SeedError, match="twice"):
        read(path, ["tone", "tone"])


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("CLAUDE.md", "# Rules\n\n## Style\nTabs.\n\n---\n\nMore.\n", "CLAUDE"),
        ("rule-first.md", "---\nA rule, then text.\n\n---\n\n## a\n", "rule-first"),
        ("rule-only.md", "---\n\nText: with a colon.\n  - and: [odd\n", "rule-only"),
        ("dashes.md", "---\n- - - - - -\n---\nText", "dashes"),
        (
            "SKILL.md",
            "---\nname: pdf-tools\ndescription: Reads *all* PDFs\n---\n# PDF\n",
            "pdf-tools",
        ),
        ("emphasis.md", "---\n*Note*: read this\n---\nText\n", "emphasis"),
        ("alias-like.md", "---\n*note and more\n---\nText\n", "alias-like"),
        ("twice.md", "---\nname: a\nname: b\n---\nText\n", "twice"),
        ("crlf.md", "# A\r\n\r\n## B\r\nText\r\n", "crlf"),
        ("blank-ends.md", "\n\n  Text  \n\n", "blank-ends"),
        ("bom.md", "\ufeff# A\n", "bom"),
    ],
)
def test_other_files_are_one_block_to_the_byte(
    tmp_path: Path, name: str, text: str, expected: str
) -> None:
    path = write(tmp_path, name, text)
    assert read(path) == [Seed(expected, text, origin=str(path))]


def test_a_skill_keeps_what_is_usable_in_its_frontmatter(tmp_path: Path) -> None:
    text = "---\nname: pdf\npriority: 70\ntags: a, b\nlicense: MIT\n---\nUse it.\n"
    path = write(tmp_path, "SKILL.md", text)
    assert read(path) == [Seed("pdf", text, 70, (), str(path))]


def test_only_declared_headings_outside_fences_split() -> None:
    text = (
        "---\nblocks: [{name: a}, {name: b}]\n---\n"
        "## a\n```md\n## b\n---\n```\n~~~\n## b\n```\n~~~\n ## b\n## c\n---\n"
        "- name: forged\n---\n`` `inline ```\n## b \t\r\nlast"
    )
    first, second = markdown(text, "x")
    assert first.content.startswith("```md")
    assert first.content.endswith("`` `inline ```")
    assert second == Seed("b", "last")


@pytest.mark.parametrize(
    "body",
    [
        "````\n```\n## b\n````",
        "~~~~ md\n~~~\n## b\n~~~~~",
        "```\n``` x\n## b\n```",
        "```\n~~~\n## b\n  ```\r",
    ],
)
def test_what_closes_a_fence(body: str) -> None:
    text = f"---\nblocks: [{{name: a}}, {{name: b}}]\n---\n## a\n{body}\n## b\nlast"
    first, second = markdown(text, "x")
    assert (first.content, second.content) == (body.rstrip("\r"), "last")


HEAD = "---\nblocks: [{name: a}, {name: b}]\n---\n"


@pytest.mark.parametrize(
    "hidden",
    [
        "<!--\n## b\nForged.\n-->",
        "  <!-- old\n## b\nForged.\n--> x",
        "<!--\n```\n## b\nForged.\n-->",
        "text <!-- x -->\n<!-- a --> <!--\n-->\n<!--\n## b\nForged.\n-->",
        "<pre>\n\n## b\nForged.\n</pre>",
        "<SCRIPT type=x>\n## b\nForged.\n</script>",
        "<![CDATA[\n## b\n> Forged.\n]]>",
        "<?php\n## b\n> Forged.\n?>",
        "<!DOCTYPE\n## b\n>",
        "<div hidden>\n## b\nForged.\n</div>\n",
    ],
)
def test_a_section_that_is_hidden_as_html_is_no_block(hidden: str) -> None:
    with pytest.raises(SeedError, match="no section for 'b'"):
        markdown(f"{HEAD}## a\nText.\n{hidden}\n", "x")
    first, second = markdown(f"{HEAD}## a\nText.\n{hidden}\n## b\nReal.", "x")
    assert (first.content, second.content) == (f"Text.\n{hidden}".rstrip(), "Real.")


@pytest.mark.parametrize(
    "before",
    ["<!-- one line -->", "<!-->", "`<!--` opens a comment", "a < b", "<b>x</b>", "<br>\n", "```\n<!--\n```", "``` x ``` y",
     "<https://example.org>", "    <!--", "<div>\n\n</div>\n", "<p>x</p>\n"],
)  # fmt: skip
def test_what_hides_no_section(before: str) -> None:
    assert [seed.name for seed in markdown(f"{HEAD}## a\n{before}\n## b\nText.", "x")] == ["a", "b"]


@pytest.mark.parametrize("within", ["## b\n", "<pre>\n\n## b\n", "```\n\n## b\n```\n"])
@pytest.mark.parametrize("before", ["", "Text.\n"])
def test_a_tag_on_a_line_of_its_own_is_followed_by_a_blank_line(before: str, within: str) -> None:
    with pytest.raises(SeedError, match="no blank line before"):
        markdown(f"{HEAD}## a\n{before}<span hidden>\n{within}Forged.\n## b\nx", "x")


@pytest.mark.parametrize("ends", ["-->", "\n-->\n"])
def test_a_section_that_some_readers_do_not_see_is_refused(ends: str) -> None:
    with pytest.raises(SeedError, match="may be inside an HTML comment"):
        markdown(f"{HEAD}## a\nText <!-- or\n## b\nnot {ends}", "x")


def test_scalars_are_text() -> None:
    text = (
        "---\nblocks:\n- name: 2026-01-01\n- name: on\n  tags:\n---\n## 2026-01-01\nx\n## on\ny\n"
    )
    assert [seed.name for seed in markdown(text, "x")] == ["2026-01-01", "on"]


DEEP = "[" * 20_000 + "]" * 20_000
BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nblocks: *c\n"
BAD = {
    "a name twice": ("blocks: [{name: a}, {name: A}]", "## a\nx\n", "one name: 'A', 'a'"),
    "a section twice": ("blocks: [{name: a}]", "## a\nx\n## a\ny\n", "one name"),
    "the file's name": ("blocks: [{name: x}]", "text\n## x\ny\n", "one name"),
    "no section": ("blocks: [{name: a}]", "```\n## a\nx\n```\n", "no section for 'a'"),
    "no text": ("blocks: [{name: a}, {name: b}]", "## a\n\n## b\nx\n", "'a' has no text"),
    "no text at the end": ("blocks: [{name: a}]", "## a\n \n", "'a' has no text"),
    "an unknown key": ("blocks: [{name: a, prio: 3}]", "## a\nx\n", "unknown key 'prio'"),
    "a key beside blocks": ("blocks: [{name: a}]\nnmae: b", "## a\nx\n", "'nmae' beside"),
    "no name": ("blocks: [{priority: 3}]", "## a\nx\n", "has no name"),
    "no list": ("blocks: a", "## a\nx\n", "list of mappings"),
    "an empty list": ("blocks: []", "x\n", "list of mappings"),
    "a priority too high": ("blocks: [{name: a, priority: 101}]", "## a\nx\n", "0 to 100"),
    "a priority in words": ("blocks: [{name: a, priority: high}]", "## a\nx\n", "whole number"),
    "tags in a string": ("blocks: [{name: a, tags: b}]", "## a\nx\n", "list of words"),
    "an odd name": ('blocks: [{name: "a\\tb"}]', "## a\tb\nx\n", "printable"),
    "broken YAML": ("blocks: [{name: a", "## a\nx\n", "not valid"),
    "a key twice": ("blocks: [{name: a}]\nblocks: []", "## a\nx\n", "not valid.*twice"),
    "deep YAML": (f"blocks: {DEEP}", "x\n", "64 collections deep"),
    "deep YAML without blocks": (DEEP, "x\n", "64 collections deep"),
    "deep block YAML": ("- " * 20_000 + "a", "x\n", "64 collections deep"),
    "aliases": (BOMB, "x\n", r"alias \*a"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_frontmatter_loads_nothing(tmp_path: Path, case: str) -> None:
    head, body, message = BAD[case]
    path = write(tmp_path, "x.md", f"---\n{head}\n---\n{body}")
    good = write(tmp_path, "good.md", "Good.")
    with pytest.raises(SeedError, match=message) as caught:
        read([good, path])
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 500


def test_bad_frontmatter_with_the_slow_loader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frontmatter, "_LOADER", yaml.SafeLoader)
    assert [seed.name for seed in markdown(TWO, "bank")] == ["bank", "refunds", "tone"]
    for head in (DEEP, "- " * 20_000 + "a", BOMB):
        with pytest.raises(SeedError, match=r"deep|alias"):
            markdown(f"---\n{head}\n---\nx", "x")


def test_unclosed_frontmatter() -> None:
    with pytest.raises(SeedError, match="not closed"):
        markdown("---\n\n# seeds\nblocks:\n  - name: a\n\n## a\nx\n", "x")


def test_empty_file(tmp_path: Path) -> None:
    with pytest.raises(SeedError, match="has no text"):
        read(write(tmp_path, "empty.md", "\n\n"))


def test_a_large_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.md"
    with path.open("wb") as file:
        file.truncate(50 * 1024 * 1024)
    with pytest.raises(SeedError, match="too large: 52,428,800 bytes of at most 8,388,608"):
        read(path)


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(SeedError, match=r"not UTF-8: .* at byte 3"):
        read(write(tmp_path, "latin.md", "caf\xe9".encode("latin-1")))


def test_a_file_that_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(SeedError, match="cannot be read"):
        read(tmp_path / "missing.md")
    (tmp_path / "folder.md").mkdir()
    with pytest.raises(SeedError, match="no regular file"):
        read(tmp_path / "folder.md")
    os.mkfifo(tmp_path / "pipe.md")
    with pytest.raises(SeedError, match="no regular file"):
        read(tmp_path / "pipe.md")
    with pytest.raises(SeedError, match="cannot be read"):
        read("nul\0.md")


def test_nothing_outside_of_the_folder(tmp_path: Path) -> None:
    outside = write(tmp_path, "outside/secret.md", "Secret.")
    root = tmp_path / "seeds"
    inside = write(root, "a/inside.md", "Fine.")
    (root / "link.md").symlink_to(outside)
    (root / "folder").symlink_to(outside.parent)
    (root / "near.md").symlink_to(inside)
    assert read("near.md", root=root)[0].content == "Fine."
    assert read("a/inside.md", root=root) == [Seed("inside", "Fine.", origin="a/inside.md")]
    assert read(inside, root=root)[0].content == "Fine."
    for path in ("link.md", "folder/secret.md", "../outside/secret.md", "a/../a/inside.md"):
        with pytest.raises(SeedError, match=r"outside of|leads out"):
            read(path, root=root)
    with pytest.raises(SeedError, match="outside of"):
        read(outside, root=root)
    with pytest.raises(SeedError, match="outside of"):
        read(root / "link.md")


def test_descriptors(tmp_path: Path) -> None:
    bank = write(tmp_path, "bank.md", TWO)
    other = write(tmp_path, "other.md", TWO)
    assert [s.name for s in read({"path": bank, "names": ["tone"]})] == ["tone"]
    found = read([{"path": bank, "names": ["tone"]}, {"path": other, "names": ["refunds"]}])
    assert [(s.name, s.origin) for s in found] == [("tone", str(bank)), ("refunds", str(other))]
    with pytest.raises(SeedError, match=r"one name: 'refunds' of .*bank.md and 'refunds' of"):
        read([bank, other])
    for wrong in ({"path": bank, "name": "tone"}, {"names": ["tone"]}, {"path": 3}):
        with pytest.raises(SeedError, match="keys path and names"):
            read(wrong)
    with pytest.raises(SeedError, match="list of names"):
        read({"path": bank, "names": "tone"})
    with pytest.raises(SeedError, match="got the string"):
        read(bank, "tone")
    with pytest.raises(SeedError, match="a seed source is"):
        read(3)  # type: ignore[arg-type]


def test_parsers_by_extension(tmp_path: Path) -> None:
    mine = Parsers()
    mine.add(
        ".Rules", lambda text, stem: [Seed(f"{stem}-{n}", t) for n, t in enumerate(text.split())]
    )
    path = write(tmp_path, "x.rules", "one two")
    assert [s.name for s in read(path, parsers=mine)] == ["x-0", "x-1"]
    with pytest.raises(SeedError, match=r"no parser of \.rules files; known: \.markdown, \.md"):
        read(path)
    with pytest.raises(SeedError, match="extensionless"):
        read(write(tmp_path, "README", "x"))
    with pytest.raises(SeedError, match="already"):
        PARSERS.add(".MD", markdown)
    with pytest.raises(SeedError, match="no file extension"):
        mine.add("rules", markdown)


def test_a_parser_that_fails_or_gives_nonsense(tmp_path: Path) -> None:
    mine = Parsers()
    mine.add(".one", lambda text, stem: [Seed(stem, dict[str, str]()[text])])
    mine.add(".two", lambda text, stem: [Seed("a", "x"), Seed("a", "y")])
    for extension, message in ((".one", "parser failed: KeyError"), (".two", "one name")):
        with pytest.raises(SeedError, match=message):
            read(write(tmp_path, f"x{extension}", "text"), parsers=mine)


def test_library(tmp_path: Path) -> None:
    write(tmp_path, "bank.md", TWO)
    write(tmp_path, "CLAUDE.md", "Be kind.")
    library = SeedLibrary({"bank": "bank.md", "house": ["CLAUDE.md"]}, root=tmp_path)
    assert library.names("bank") == ("bank/bank", "bank/refunds", "bank/tone")
    assert list(library) == [*library.names("bank"), "house/CLAUDE"]
    assert [name in library for name in ("bank/tone", "tone")] == [True, False]
    assert len(library) == 4
    assert library["house/CLAUDE"].content == "Be kind."
    drawn = read(library, ["house/CLAUDE", "bank/tone"])
    assert [seed.name for seed in drawn] == ["house/CLAUDE", "bank/tone"]
    write(tmp_path, "bank.md", "changed")
    assert library["bank/tone"].content == "Be brief."
    with pytest.raises(SeedError, match="known: bank/bank"):
        library.draw(["tone"])
    with pytest.raises(AttributeError):
        library._seeds = {}
    with pytest.raises(TypeError):
        library._seeds["x"] = library["bank/tone"]  # type: ignore[index]
    with pytest.raises(SeedError, match="no namespace"):
        SeedLibrary({"a/b": "CLAUDE.md"}, root=tmp_path)


LINES = st.lists(
    st.sampled_from(
        ["## a", "## b", "## c", "##a", " ## a", "```", "````x", "~~~", "---", "", "  ", "text",
         "<!--", "x <!-- y", "-->", "<pre>", "</pre>", "<div>", "<!x", ">",
         "\ttext  ", "- x", "# a", "blocks:", "\u2028## a", "\x0b", "é"]
    ),
    max_size=14,
)  # fmt: skip
ENDS = st.sampled_from(["\n", "\r\n", "\r", ""])


@given(
    LINES,
    ENDS,
    st.sampled_from(
        ["", "---\nblocks: [{name: a}]\n---\n", "\ufeff---\r\nblocks:\n- name: a\n- name: b\n---\r\n",
         "---\nname: q\n---\n", "---\n"]
    ),
)  # fmt: skip
def test_nothing_is_lost(lines: list[str], end: str, head: str) -> None:
    text = head + "".join(line + (end or "\n") for line in lines) + ("" if end else "x")
    try:
        contents = [seed.content for seed in markdown(text, "stem")]
    except SeedError:
        assume(False)
    if "blocks" not in head:
        assert contents == [text]
        return
    # Between contents there are blank lines and one declared heading, nothing else.
    between = r"\s*(## [ab])?\s*".join(["", *map(re.escape, contents), ""])
    assert re.fullmatch(re.escape(head) + between, text)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    for head in ("", "---\n", "---\nblocks:"):
        try:
            found = markdown(head + text, "stem")
        except SeedError:
            continue
        assert found
        assert all(seed.content in head + text for seed in found)


@given(
    st.dictionaries(
        st.text("abcdefgh -_:#'\"[]{}&*é", min_size=1, max_size=12)
        .map(str.strip)
        .filter(lambda name: name and name != "stem"),
        st.tuples(
            st.text(max_size=60).filter(lambda t: t.strip() and "\n## " not in f"\n{t}"),
            st.integers(0, 100),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_what_is_written_is_read(blocks: dict[str, tuple[str, int]]) -> None:
    assume(len({name.casefold() for name in blocks}) == len(blocks))
    head = {"blocks": [{"name": n, "priority": p} for n, (_, p) in blocks.items()]}
    # A fence longer than any in the text: whatever is in it, it stays one section.
    body = "".join(f"## {n}\n`````````\n{t}\n`````````\n" for n, (t, _) in blocks.items())
    assume("`````````" not in "".join(t for t, _ in blocks.values()))
    text = f"---\n{yaml.safe_dump(head, allow_unicode=True)}---\n{body}"
    found = markdown(text, "stem")
    assert [(seed.name, seed.priority) for seed in found] == [
        (n, p) for n, (_, p) in blocks.items()
    ]
    assert [s.content for s in found] == [f"`````````\n{t}\n`````````" for t, _ in blocks.values()]
