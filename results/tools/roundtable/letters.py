"""The roundtable by messages: every transfer is a model call that reads and rewrites.

The baseline of the paper's Table 5, run instead of estimated. It is naive on purpose:
nothing is cached, merged or forwarded unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence

from results.tools.roundtable.meter import Meter
from results.tools.roundtable.workshop import (
    AGENTS,
    CHOOSE,
    PASS_ON,
    PROPOSE,
    TABLES,
    Note,
    Workshop,
    asked,
    framed,
    held,
    proposal,
    read_choice,
)


async def correspond(workshop: Workshop, meter: Meter) -> int:
    """Play the workshop; returns the number of the winning table, from 0."""
    summaries: list[Note] = []
    for table in range(TABLES):
        received = await _send(meter, workshop.mandate(table), f"the chair of table {table + 1}")
        mandate = Note("message from the chairman", received)
        proposals = [await _agent(workshop, meter, table, at, mandate) for at in range(AGENTS)]
        summaries.append(await _conclude(workshop, meter, table, mandate, proposals))
    meter.received += sum(note.tokens for note in summaries)
    answer = await meter.ask("reasoning", asked(framed([*workshop.shared, *summaries]), CHOOSE))
    choice = read_choice(answer, TABLES)
    meter.readable.append(float(choice.pick is not None))
    return choice.pick or 0


async def _agent(workshop: Workshop, meter: Meter, table: int, at: int, mandate: Note) -> Note:
    receiver = f"agent {at + 1} of your table"
    message = await _send(meter, [mandate, *workshop.subtopics[at]], receiver)
    note = Note("message from your chair", message)
    compiled = note.framed
    meter.mandate.append(held(compiled, workshop.mandate(table)))
    meter.received += note.tokens
    text = await meter.ask("reasoning", asked(compiled, PROPOSE))
    return proposal(at + 1, await _send(meter, [Note("proposal", text)], "your chair"))


async def _conclude(
    workshop: Workshop, meter: Meter, table: int, mandate: Note, proposals: Sequence[Note]
) -> Note:
    notes = [mandate, *proposals]
    compiled = framed(notes)
    meter.mandate.append(held(compiled, workshop.mandate(table)))
    meter.received += sum(note.tokens for note in notes)
    choice = read_choice(await meter.ask("reasoning", asked(compiled, CHOOSE)), AGENTS)
    meter.readable.append(float(choice.pick is not None and choice.summary is not None))
    summary = choice.summary or proposals[choice.pick or 0].text
    return proposal(table + 1, await _send(meter, [Note("summary", summary)], "the chairman"))


async def _send(meter: Meter, notes: Sequence[Note], receiver: str) -> str:
    prompt = asked(framed(notes), PASS_ON.format(receiver=receiver))
    return await meter.ask("coordination", prompt)
