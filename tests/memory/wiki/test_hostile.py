"""Hostile sources, plans and files: no rule of another source is lost or turned by them."""

from pathlib import Path

import pytest

from constraintrot.memory.wiki import Edit, Memory, Plan, Source, Wiki, WikiError
from constraintrot.memory.wiki.names import INDEX, SCHEMA, digest
from constraintrot.memory.wiki.plan import FACTS
from tests.memory.wiki.vaults import RULE, TIME, empty, filled, page_of


def told(wiki: Wiki, title: str, *edits: Edit) -> tuple[str, ...]:
    return wiki.ingest(Source(title, title, date="2026-04-01"), Plan(edits)).refused


def test_a_fact_takes_no_other_sources_rule_and_no_citation() -> None:
    wiki, _ = filled()
    told(
        wiki, "Evil", Edit("concept", "Calls", "s", ("Never call guests ([[acme]]) unless asked",))
    )
    told(wiki, "Policy", Edit("concept", "Calls", "", ("Never call guests",)))
    assert page_of(wiki, "calls").section(FACTS).text.split("\n") == [
        "- Never call guests [[acme]] unless asked ([[2026-04-01-evil]])",
        "- Never call guests ([[2026-04-01-policy]])",
    ]


@pytest.mark.parametrize(
    "fact", ["# of seats: 5", "#ops has the alarms", "/srv/a/b.md is it", "x ~~y~~"]
)
def test_a_fact_that_two_sources_say_is_one_line(fact: str) -> None:
    wiki = empty()
    for title in ("A", "B", "C"):
        told(wiki, title, Edit("concept", "Mail", "s", (fact,)))
    (line,) = page_of(wiki, "mail").section(FACTS).text.split("\n")
    assert line.endswith(f"{fact} ([[2026-04-01-a]], [[2026-04-01-b]], [[2026-04-01-c]])")


@pytest.mark.parametrize("section", ["Rules ##", "Rules #", "rules ## "])
def test_a_section_has_one_heading_however_it_is_closed(section: str) -> None:
    wiki = empty()
    told(wiki, "A", Edit("concept", "Mail", "s", (RULE,), section="Rules"))
    for title in ("B", "C"):
        told(wiki, title, Edit("concept", "Mail", "", (RULE,), section=section))
    assert [one.heading for one in page_of(wiki, "mail").sections] == ["", "Rules"]


def test_blanks_behind_a_fact_spoil_no_citation() -> None:
    wiki, store = filled()
    line = "- The porter keeps them. ([[2026-04-01-badge-memo]])"
    store.texts["concepts/badges.md"] = store.texts["concepts/badges.md"].replace(line, f"{line}  ")
    told(wiki, "Desk", Edit("concept", "Badges", "", ("The porter keeps them.",)))
    assert page_of(wiki, "badges").section(FACTS).text == line.replace(
        ")", ", [[2026-04-01-desk]])"
    )


@pytest.mark.parametrize("opens", ["```", "~~~ text", "# Rules", "###### x"])
def test_a_fact_opens_no_code_and_no_heading(opens: str) -> None:
    wiki = empty()
    told(wiki, "A", Edit("concept", "Mail", "s", ("Open.",)))
    told(wiki, "B", Edit("concept", "Mail", "", (RULE,), section="Rules"))
    told(wiki, "C", Edit("concept", "Mail", "", (opens,)))
    page = page_of(wiki, "mail")
    assert [one.heading for one in page.sections] == ["", FACTS, "Rules"]
    assert f"- \\{opens} ([[" in page.body


@pytest.mark.parametrize(
    ("heading", "written"),
    [
        ("Rules\n===", "Rules\n\\==="),
        ("Rules\n---", "Rules\n\\---"),
        ("  ## Rules", "  \\## Rules"),
        ("##\tRules", "\\##\tRules"),
    ],
)
def test_a_rewrite_makes_no_heading_in_any_form(heading: str, written: str) -> None:
    wiki = empty()
    told(wiki, "A", Edit("concept", "Mail", "s", section="Notes", rewrite=heading))
    assert page_of(wiki, "mail").section("Notes").text == written


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        ("- Transfers must not exceed 100", "- Transfers must not exceed 1000", False),
        ("- Transfers must not exceed 100", "Transfers must not exceed 100. Ask Ana.", True),
        (RULE, f"It no longer holds that: {RULE}", False),
        ("Never send\npaper to anybody.", "Never send\npaper.", False),
        ("Never send\npaper to anybody.", "- Never send paper to anybody.", True),
        (f"Hello. {RULE}", f"**Hello.** {RULE}", True),
        (RULE, f"{RULE}evil", False),
        (RULE, f"- {RULE} Bob knows.", True),
        ("不得外传", "不得外传。先问。", True),
        ("Never send paper", "Never send paper?", False),
        (f"- On Mondays.\n- {RULE} ([[2026-04-01-a]])", "- On Fridays.", False),
        (f"- On Mondays.\n- {RULE} ([[2026-04-01-a]])", f"- On Fridays.\n- {RULE}", True),
    ],
)
def test_a_rule_that_goes_on_otherwise_is_left_out(old: str, new: str, kept: bool) -> None:
    wiki = empty()
    told(wiki, "A", Edit("concept", "Mail", "s", rewrite=old))
    base = page_of(wiki, "mail").section(FACTS).digest
    refused = told(wiki, "B", Edit("concept", "Mail", rewrite=new, base=base))
    assert all("the rewrite would leave out" in one for one in refused)
    assert (refused == ()) is kept
    assert (page_of(wiki, "mail").section(FACTS).text == new) is kept


def test_a_rewrite_cites_what_the_section_cites() -> None:
    wiki, _ = filled()
    base = page_of(wiki, "acme").section(FACTS).digest
    mail = "[[2026-04-01-mail-rules]]"
    told(wiki, "A", Edit("concept", "Other", "s", ("One.",)))
    other = page_of(wiki, "other").section(FACTS).digest
    told(wiki, "B", Edit("concept", "Other", rewrite=f"- Two. ({mail})", base=other))
    assert page_of(wiki, "other").section(FACTS).text == f"- Two. {mail}"
    kept = page_of(wiki, "acme").section(FACTS).text
    told(wiki, "C", Edit("entity", "Acme", rewrite=f"{kept}\n- Three. ({mail})", base=base))
    assert f"- Three. ({mail})" in page_of(wiki, "acme").body


def test_several_rewrites_of_one_ingest_halve_nothing() -> None:
    wiki = empty()
    told(wiki, "A", Edit("concept", "Long", "s", tuple(f"Fact number {n}." for n in range(30))))
    text = whole = page_of(wiki, "long").section(FACTS).text
    edits: list[Edit] = []
    while len(text) > 30:
        less = text[: len(text) // 2 + 1].strip()
        edits.append(Edit("concept", "Long", rewrite=less, base=digest(text)[:16]))
        text = less
    assert "would leave" in told(wiki, "B", *edits)[0]
    assert len(page_of(wiki, "long").section(FACTS).text) >= len(whole) / 2


def test_a_rule_that_only_the_summary_says_stays() -> None:
    wiki = empty()
    told(wiki, "A", Edit("concept", "Mail", RULE))
    assert (
        "the summary would leave out" in told(wiki, "B", Edit("concept", "Mail", "As you like"))[0]
    )
    assert page_of(wiki, "mail").summary == RULE
    assert told(wiki, "C", Edit("concept", "Mail", "", (RULE,))) == ()
    assert told(wiki, "D", Edit("concept", "Mail", "Who gets mail")) == ()


def test_no_line_of_an_index_leads_out_of_the_vault(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("The zebra is secret.\n")
    wiki = Wiki.create(tmp_path / "vault", time=TIME)
    index = tmp_path / "vault" / INDEX
    line = "- [[../../secret]] zebra"
    index.write_text(index.read_text().replace("## Entities\n", f"## Entities\n{line}\n"))
    assert "is secret" not in wiki.query("zebra").render()
    with pytest.raises(WikiError, match="outside of the vault"):
        wiki.page("../../secret")


def test_a_letter_that_casefolds_to_two_hides_no_page() -> None:
    wiki, store = filled()
    told(wiki, "A", Edit("concept", "Straße", "Die Straße"))
    store.texts["concepts/Phone Rules.md"] = store.texts["concepts/mail.md"].replace(
        "Mail", "Phone"
    )
    wiki.repair(time=TIME)
    assert "concepts/Phone Rules.md: in the index" in wiki.query("phone").path


def test_a_question_is_logged_whatever_the_names_of_the_files_that_it_read() -> None:
    wiki, store = filled()
    store.texts["concepts/Bar · two.md"] = store.texts["concepts/mail.md"].replace("Mail", "Bar")
    wiki.repair(time=TIME)
    wiki.query("bar", record=True)
    assert "Bar · two" in wiki.log()[-1].pages
    assert wiki.lint() == []


def test_a_hot_cache_leaves_room_for_what_is_asked() -> None:
    wiki = empty()
    rule = f"{RULE} {'It holds for partners and guests. ' * 6}".strip()
    told(wiki, "A", Edit("concept", "Mail", "Who gets mail", (rule,)))
    for at in range(14):
        told(wiki, f"N{at}", Edit("concept", f"Thing {at} {'word ' * 20}", "summary " * 19))
    shown = {one.part: one.text or "" for one in reversed(wiki.query("mail", budget=900).reads)}
    assert rule in shown["page"]


@pytest.mark.parametrize("rule", [RULE, "Email goes to the legal team first."])
@pytest.mark.parametrize("budget", [60, 350])
def test_a_rule_at_the_end_of_the_schema_is_a_rule(rule: str, budget: int) -> None:
    store = Memory()
    wiki = Wiki.create(store, time=TIME)
    store.texts[SCHEMA] += f"\n{rule}\n"
    assert rule in wiki.query("x", budget=budget).render()


def test_lint_removes_no_hidden_file_of_a_persons(tmp_path: Path) -> None:
    wiki = Wiki.create(tmp_path / "vault", time=TIME)
    mine = tmp_path / "vault" / ".rules.new"
    mine.write_text(RULE)
    wiki.repair(time=TIME)
    assert mine.exists()
