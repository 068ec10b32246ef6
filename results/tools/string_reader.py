"""Which verdicts a string reader gives too: ``python -m results.tools.string_reader FOLDER``.

``scripted/obedient`` obeys a policy whose sentence stands in its input and breaks every other. Where
it gives the same verdict at the same settings, the claim is about the design of the test, which
puts the policy in the last input or does not; so the page says "by construction" beside it. Plays
the claims of ``reproduction.yaml`` that are decided, and writes ``string-reader.csv``.
"""

from __future__ import annotations

from pathlib import Path

import click
from pydantic import TypeAdapter

from constraintrot.command_line import clear_errors
from constraintrot.report.claims.declared import REPRODUCTION, Claims
from constraintrot.report.tables import Table
from constraintrot.report.yaml_file import load
from constraintrot.runs.reproduce import play, registration
from constraintrot.runs.reproduce.planning import draft
from constraintrot.runs.reproduce.registration import Planned, Registration
from results.tools.committed import STRING_READER

READER = "scripted/obedient"
_PAIRS = 24


def registered(claims: Claims) -> Registration:
    """Return the plan: the decided claims, asked of the reader at its own scaffold."""
    free = {"scaffold": None, "agent": READER}
    asked = tuple(
        claim.model_copy(
            update={
                "where": {name: value for name, value in claim.where.items() if name not in free},
                "arms": {
                    name: arm
                    for name, arm in claim.arms.items()
                    if any(name in (test.a, test.b) for test in claim.tests)
                },
                "premise": None,
                "looks": 1,
            }
        )
        for claim in claims.claims
        if claim.verdict in ("same", "opposite") or claim.history
    )
    held = {**claims.held, **free}
    preset = registration.presets()["smoke"]
    return draft(READER, preset, "smoke").model_copy(
        update={
            "claims": claims.model_copy(update={"claims": asked, "held": held}),
            "looks": 1,
            "settings": {"context_tokens": claims.held["context_tokens"]},
            "planned": tuple(Planned(title=claim.title, pairs=_PAIRS) for claim in asked),
        }
    )


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option("--logs", type=click.Path(path_type=Path), default=Path("logs/string-reader"))
def main(folder: Path, logs: Path) -> None:
    """Play the decided claims of FOLDER with the reader."""
    with clear_errors():
        made = registered(load(folder / REPRODUCTION, TypeAdapter(Claims)))
        registration.write(logs / registration.FILE, made)
        play.qualify(made, logs)
        state = play.play(made, logs, click.echo)
        assert state.looked is not None
        rows = [
            {"claim": one.claim.title, "verdict": one.verdict,
             "why": ", ".join(dict.fromkeys(why.reason for why in one.why))}
            for one in state.looked.answered
        ]  # fmt: skip
        (folder / STRING_READER).write_text(Table.of(rows).csv(), encoding="utf-8", newline="")


if __name__ == "__main__":
    main()
