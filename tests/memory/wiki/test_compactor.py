"""The wiki as a compactor, and its writer and maintainers as models."""

from typing import Any

import anyio
import pytest
from inspect_ai.model import ChatMessageUser, get_model

from constraintrot.memory.compactors import WIKI, WikiCompaction
from constraintrot.memory.wiki import STEPS, Memory, Source, Wiki, schema
from constraintrot.memory.wiki.roles import ingest
from results.tools.wiki.maintainer import maintained, steps_in
from tests.conftest import Run
from tests.helpers import answering, by_condition, samples
from tests.memory.compacting import SYSTEM, compacted, turns
from tests.memory.wiki.vaults import RULE, TIME, empty


@pytest.mark.parametrize(("style", "violated"), [("keep", 0.0), ("drop", 1.0)])
def test_a_verdict_follows_what_the_writer_keeps(
    shared_run: Run, style: str, violated: float
) -> None:
    log = shared_run(
        "soft_deploy", compactor="wiki", conditions="compaction", variants=1, rounds=2,
        model_roles={"summarizer": f"scripted/summarizer-{style}"},
    )  # fmt: skip
    assert by_condition(log) == {"compaction": violated}
    (sample,) = samples(log)["compaction"]
    told: list[Any] = [e.data for e in sample.events if e.event == "info" and e.source == WIKI]
    assert [one["pages"] for one in told] == [["conversation-so-far"]] * 2
    assert all(one["cost"]["writer"]["calls"] == 1 for one in told)
    assert told[1]["graph"]["unresolved"] == 0


def test_the_vault_travels_with_the_conversation_and_grows() -> None:
    strategy = WikiCompaction(budget=400)
    first = compacted(strategy, [SYSTEM, *turns(RULE, "Two.", "Three.", "Four.")])
    files: dict[str, str] = (first[1].metadata or {})[WIKI]["files"]
    path = "sources/2026-01-01-conversation-part-1.md"
    assert RULE in files[path]
    # A provider merged what came next into the wiki's message.
    merged = ChatMessageUser(content=f"{first[1].text}\n\nFive.", metadata=first[1].metadata)
    second = compacted(strategy, [SYSTEM, merged, *first[2:], *turns("Six.", "Seven.")])
    wiki = Wiki(Memory((second[1].metadata or {})[WIKI]["files"]))
    assert wiki.lint() == []
    assert "Five." in (wiki.store.read("sources/2026-01-01-conversation-part-2.md") or "")
    assert wiki.store.read(path) == files[path]
    assert second[0] == SYSTEM
    assert [one.text for one in second[2:]] == ["Six.", "Noted.", "Seven.", "Noted."]


def test_where_nothing_can_be_read_of_a_writer_the_page_is_by_code() -> None:
    wiki = empty()
    source = Source("Memo", "Badges come on Mondays.")
    done = anyio.run(ingest, answering("I would rather not."), wiki, source)
    assert done.pages == ("memo",)
    assert done.refused == ("no plan: 'I would rather not.'; the page is by plain code",)
    assert "memo" in wiki.query("When do badges come?").pages
    assert wiki.lint() == []
    # A writer that finds nothing to write is taken at its word.
    assert anyio.run(ingest, answering('{"pages": []}'), wiki, Source("Note", "x")).pages == ()


def left(model: str, wording: schema.Wording) -> list[set[str]]:
    async def all_of() -> list[set[str]]:
        found: list[set[str]] = []
        for number in range(40):
            source = Source(f"Memo {number}", "Text.")
            text = schema.render(wording=wording)
            done, fault = await maintained(get_model(model), text, source)
            assert not fault
            found.append({*map(str, STEPS)} - done)
        return found

    return anyio.run(all_of)


def test_maintainers_leave_what_they_are_made_to_leave() -> None:
    for wording in schema.WORDINGS:
        assert left("scripted/maintainer-dutiful", wording) == [set()] * 40
    forgetful = [left("scripted/maintainer-forgetful", wording) for wording in schema.WORDINGS]
    # Six writes of forty sources, of which three in ten are left, whatever the wording.
    assert all(45 < sum(map(len, one)) < 100 for one in forgetful)
    assert forgetful[0] != forgetful[1]
    heeding = [left("scripted/maintainer-heeding", wording) for wording in schema.WORDINGS]
    assert sum(map(len, heeding[0])) < 20
    assert heeding[1:] == forgetful[1:]


@pytest.mark.parametrize(
    ("answer", "steps"),
    [
        ('{"writes": [{"file": "./index.md", "text": "x"}, {"file": "/log.md", "text": "y"}]}', {"index", "log"}),
        ('{"writes": [{"file": "index.md", "text": " "}, {"file": "entities/a.md"}, 3]}', set()),
        ('{"writes": [{"file": "concepts/a.md", "text": "x"}], "later": ["hot-cache.md"]}', {"pages"}),
    ],
)  # fmt: skip
def test_a_write_is_a_file_with_a_text(answer: str, steps: set[str]) -> None:
    assert steps_in(answer) == (steps, "")
    assert steps_in("Done!")[1] == "no writes: 'Done!'"


def test_a_schema_says_the_six_writes_in_their_order() -> None:
    for wording in schema.WORDINGS:
        told = schema.steps_of(schema.render([RULE], wording))
        assert tuple(told) == STEPS
        assert ("vault rots" in told["index"]) == (wording == "consequence")
        assert told["log"].startswith("Remember") == (wording == "reminder")
    swapped = schema.render().replace("`index.md`. If", "`hot-cache.md`. If")
    swapped = swapped.replace("Rewrite `hot-cache.md`", "Rewrite `index.md`")
    assert {"index", "hot-cache"} <= schema.steps_of(swapped).keys()
    assert tuple(schema.steps_of(swapped)) != STEPS
    assert Wiki.create(Memory(), [RULE], "reminder", time=TIME).lint() == []
