"""The page is inert, self-contained, and usable without a mouse or eyes."""

import base64
import csv
import hashlib
import json
from functools import lru_cache
from pathlib import Path

import pandas as pd

from constraintrot.report.page import drawing
from constraintrot.report.page.html import PlainTable, html, plain_page
from constraintrot.report.page.write import NAMES
from constraintrot.stats.interval import Interval
from constraintrot.stats.rate import BCA, EXACT, METHODS
from tests.report.page.helpers import arm, paged, read
from tests.report.page.test_page import full

VOID = {"meta", "br", "img", "link", "hr", "input", "use", "path"}


@lru_cache(maxsize=1)
def everything() -> str:
    """The page that holds something of everything."""
    return html(full())


def test_a_hostile_transcript_is_inert(hostile_report: Path) -> None:
    text = (hostile_report / "report.html").read_text(encoding="utf-8")
    found = read(text)
    tags = {tag for tag, _ in found.tags}
    assert [tag for tag, _ in found.tags].count("script") == 1
    assert not tags & {"iframe", "object", "embed", "form", "link", "base", "image"}
    assert not [tag for tag, _ in found.tags if tag == "img"]
    assert not [name for _, given in found.tags for name in given if name.startswith("on")]
    assert sum(tag == "style" for tag, _ in found.tags) == 1 + text.count("<defs>\n  <style")
    assert "document.title='owned'" in found.text
    assert "⟨U+202E⟩" in text
    assert "{{ 7 * 7 }}" in found.text
    for sign in "\x00\x1b\u202e\u2066\u200b":
        assert sign not in text
    assert "characters cut]" in text
    for name in NAMES:
        size = (hostile_report / name).stat().st_size
        assert size < 3_000_000, name
    for path in (hostile_report / name for name in NAMES):
        assert "\u202e" not in path.read_bytes().decode("utf-8", "ignore")


def test_hostile_cells_are_no_formulas(hostile_report: Path) -> None:
    table = pd.read_csv(hostile_report / "episodes.csv", keep_default_na=False, dtype=str)
    texts = [text for name in table for text in table[name] if name not in ("tokens_added",)]
    assert not [text for text in texts if text.startswith(("=", "+", "@", "\t", "\r"))]
    assert any(text.startswith("'=cmd") for text in table["reason"])
    assert json.loads((hostile_report / "summary.json").read_text(encoding="utf-8"))["cells"]


def test_hostile_markdown_is_inert(hostile_report: Path) -> None:
    text = (hostile_report / "report.md").read_text(encoding="utf-8")
    outside = "".join(text.split("```")[::2])
    assert "<script" not in outside.replace("\\<script", "")
    assert "](javascript" not in outside.replace("\\](javascript", "").replace("\\]\\(", "")


def test_a_model_s_name_may_hold_slashes_and_html() -> None:
    name = "org/<b onmouseover=x>M</b>/v1 $\\alpha$ & 'co'"
    page = paged(arm("control", 3, 0, agent=name), arm("compaction", 3, 2, agent=name))
    found = read(html(page))
    assert "b" not in {tag for tag, given in found.tags if "onmouseover" in given}
    assert name in found.text
    assert not found.having("onmouseover")


def test_nothing_is_fetched_and_nothing_runs_but_the_script_that_the_policy_names() -> None:
    text = everything()
    found = read(text)
    (policy,) = [
        g["content"] for t, g in found.tags if g.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    script = text.split("<script>")[1].split("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert rules["script-src"] == f"'sha256-{digest}'"
    assert len(script) < 4_000
    assert "innerHTML" not in script
    for name in ("href", "xlink:href", "src"):
        assert all(link.startswith("#") for link in found.having(name))
    assert "@import" not in text
    assert "url(http" not in text


def test_the_intervals_that_are_used_are_said() -> None:
    said = " ".join(read(everything()).text.split())
    assert "Wilson" not in said
    assert METHODS in said
    methods = {one.estimate.method for one in full().cells if isinstance(one.estimate, Interval)}
    assert methods
    assert all(any(name in one for name in (EXACT, BCA)) for one in methods)


def test_a_link_names_what_it_leads_to_and_stays_when_episodes_are_added() -> None:
    """A rate, a comparison, an episode: the same ids in the report of a larger run."""
    parts = [arm("control", 3, 0), arm("compaction", 3, 2)]
    first, later = (read(html(paged(*given))) for given in (parts, [arm("floor", 3, 3), *parts]))
    kept = {name for name in first.having("id") if name[:2] in ("c-", "p-", "e-", "s-", "t-")}
    assert {name[0] for name in kept} == set("cpest")
    assert kept <= set(later.having("id"))
    here = [given["href"] for tag, given in first.tags if given.get("class") == "here"]
    assert {f"#{name}" for name in kept if name[0] in "est"} <= set(here)


def test_ids_are_unique_and_every_link_has_its_target() -> None:
    found = read(everything())
    ids = found.having("id")
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in found.having("href")} <= set(ids)


def test_it_can_be_read_by_keyboard_and_screen_reader() -> None:
    found = read(everything())
    (html_tag,) = [given for tag, given in found.tags if tag == "html"]
    assert html_tag["lang"] == "en"
    assert next(given["class"] for tag, given in found.tags if tag == "a") == "skip"
    tables = [given for tag, given in found.tags if tag == "table"]
    captions = [given for tag, given in found.tags if tag == "caption"]
    assert len(tables) == len(captions) > 10
    assert {given.get("scope") for tag, given in found.tags if tag == "th"} == {"row", "col"}
    boxes = [given for _, given in found.tags if given.get("class") == "scroll"]
    assert all(
        box["tabindex"] == "0" and box["role"] == "region" and box["aria-label"] for box in boxes
    )
    drawn = [given for _, given in found.tags if given.get("role") == "img"]
    assert len(drawn) == sum(tag == "svg" for tag, _ in found.tags) >= 7
    assert all(len(given["aria-label"] or "") > 20 for given in drawn)
    heads = [tag for tag, _ in found.tags if tag in ("h1", "h2", "h3")]
    assert heads.count("h1") == 1


def test_drawings_take_their_colours_from_the_page() -> None:
    text = everything()
    assert "var(--series-1)" in text
    assert "#0102" not in text


def test_a_page_of_plain_tables_has_no_script() -> None:
    rows = [["Agent 1", "verbatim", "<b>lost</b>"]]
    page = plain_page(
        "What is left",
        [PlainTable("By whom", ["agent", "a", "b"], rows)],
        [("Why", ["#1 -> #2"])],
    )
    assert '<td role="cell" data-head="b">&lt;b&gt;lost&lt;/b&gt;</td>' in page
    assert '<th role="rowheader" scope="row">Agent 1</th>' in page
    assert "<li>#1 -&gt; #2</li>" in page
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")


def test_the_first_line_counts_one_policy_and_two_policies() -> None:
    one = html(paged(arm("floor", 3, 3)))
    assert "3 episodes, 1 agent, 1 policy.</p>" in one
    two = html(paged(arm("floor", 3, 3), arm("floor", 3, 3, family="hard_pii", kind="hard")))
    assert "6 episodes, 1 agent, 2 policies.</p>" in two


# Figures for papers: each as SVG and PDF, with the data that it shows.


def test_each_figure_comes_as_svg_and_pdf_with_its_data(tmp_path: Path) -> None:
    page = paged(arm("control", 8, 1), arm("compaction", 8, 6))
    first, again = (drawing.write(page.figures, tmp_path / name) for name in ("one", "two"))
    assert len(first) == 3 * len(list(page.figures)) > 3
    for path, other in zip(first, again, strict=True):
        assert path.read_bytes() == other.read_bytes()
    svg, pdf, data = first[:3]
    assert pdf.read_bytes().startswith(b"%PDF")
    drawn = svg.read_text()
    assert "var(--" not in drawn
    assert not [one for one in (drawing.INK, drawing.BACK, *drawing.SERIES) if one in drawn]
    rows = list(csv.DictReader(data.open()))
    assert {row["row"]: (row["k"], row["n"]) for row in rows} == {
        "control": ("1", "8"), "compaction": ("6", "8"),
    }  # fmt: skip
    assert all(float(row["lower"]) < float(row["estimate"]) < float(row["upper"]) for row in rows)


def test_a_caption_names_no_other_folder(tmp_path: Path) -> None:
    page = paged(
        arm("control", 3, 0, agent="../../evil"), arm("compaction", 3, 3, agent="../../evil")
    )
    assert {path.parent for path in drawing.write(page.figures, tmp_path)} == {tmp_path}
