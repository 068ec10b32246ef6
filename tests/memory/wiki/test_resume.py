"""A run of ingests with a model that was stopped goes on, and pays for nothing twice."""

import json
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from inspect_ai.model import Model

from constraintrot.memory.wiki import Ingested, Memory, Source, Wiki, WikiError
from constraintrot.memory.wiki.roles import ingest
from tests.helpers import answering
from tests.invoked import invoked
from tests.memory.wiki.vaults import BADGES, MAIL, MAIL_PLAN, TIME, KilledError, dying, empty

ANSWER = json.dumps({"pages": [{"title": "Mail", "add": ["One fact."]}]})


class Counted:
    def __init__(self, dies_at: int = -1) -> None:
        self.calls = 0
        self.dies_at = dies_at
        self.model: Model = answering(self._answer)

    def _answer(self) -> str:
        self.calls += 1
        if self.calls == self.dies_at:
            # No KeyboardInterrupt: what asyncio says of one is in the output of a later command.
            raise RuntimeError("stopped")
        return ANSWER

    def ingest(self, wiki: Wiki, source: Source, time: str = TIME) -> Ingested:
        async def asked() -> Ingested:
            return await ingest(self.model, wiki, source, time=time)

        return anyio.run(asked)


def test_a_source_that_is_there_costs_no_call() -> None:
    wiki, writer = empty(), Counted()
    assert writer.ingest(wiki, BADGES).pages == ("mail",)
    again = writer.ingest(wiki, BADGES)
    assert (again.already, again.source, writer.calls) == (True, "2026-04-01-badge-memo", 1)
    # Also on another day, and where plain code or an agent's plan wrote it.
    assert writer.ingest(wiki, BADGES, "2026-04-02T00:01:00Z").already
    wiki.ingest(MAIL, time=TIME)
    assert writer.ingest(wiki, MAIL).already
    assert writer.calls == 1
    # Another text, or another day that was named, is another source.
    assert not writer.ingest(wiki, Source(BADGES.title, "Other.")).already
    assert not writer.ingest(wiki, Source(BADGES.title, BADGES.text, date="2026-05-01")).already
    assert writer.calls == 3


@pytest.mark.parametrize("at", range(7))
@pytest.mark.parametrize("after", [False, True])
def test_an_ingest_that_was_killed_is_finished_from_its_journal(at: int, after: bool) -> None:
    store, writer = Memory(), Counted()
    wiki = empty(store)
    with pytest.raises(KilledError):
        Wiki(dying(store, at, after=after)).ingest(MAIL, MAIL_PLAN, time=TIME)
    # Before the journal was there, nothing was known of the plan.
    began = store.exists(".wiki/journal.json")
    done = writer.ingest(wiki, MAIL)
    assert (done.already, writer.calls) == (began, int(not began))
    assert wiki.lint() == []


def test_what_cannot_be_ingested_costs_no_call() -> None:
    writer = Counted()
    with pytest.raises(WikiError, match="YYYY-MM-DD"):
        writer.ingest(empty(), Source("A", "x", date="today"))
    assert writer.calls == 0


def test_the_command_goes_on_where_it_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [tmp_path / f"memo {number}.md" for number in range(4)]
    for file in files:
        file.write_text(f"Text of {file.stem}.", "utf-8")
    vault = str(tmp_path / "vault")
    Wiki.create(vault)

    def run(writer: Counted) -> list[str]:
        found: Callable[..., Model] = lambda _, **_given: writer.model  # noqa: E731
        monkeypatch.setattr("inspect_ai.model.get_model", found)
        told = invoked("wiki", "ingest", vault, *files, "--model", "x")
        return told.stdout.splitlines()

    killed, going_on = Counted(dies_at=3), Counted()
    run(killed)
    assert killed.calls == 3
    shown = run(going_on)
    assert going_on.calls == 2
    assert [line.endswith("is there already") for line in shown] == [True, True, False, False]
    assert Wiki(vault).lint() == []
