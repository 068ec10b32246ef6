"""``constraintrot scenario``: draft a policy of your own, and check it before it is measured."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from constraintrot.cli import agreement
from constraintrot.cli.from_session import from_session
from constraintrot.command_line import clear_errors, named_model, needs
from constraintrot.errors import ParameterError, ScenarioError

if TYPE_CHECKING:
    from constraintrot.authoring.answers import Answers
    from constraintrot.authoring.draft import Draft
    from constraintrot.scenario.schema import Scenario
    from constraintrot.scenario.user_files import Fault


@click.group()
def scenario() -> None:
    """Bring a policy of your own: from one sentence to a scenario that can be measured."""


scenario.add_command(from_session)


@scenario.command()
@click.argument("policy", required=False)
@click.option("-o", "--out", type=click.Path(path_type=Path), help="File to write; else stdout.")
@click.option(
    "--tools",
    "definitions",
    type=click.Path(path_type=Path),
    help="Your tools: OpenAPI, an MCP server's tools/list, or JSON schemas. Nothing is called.",
)
@click.option("--family", help="The scenario's name in logs; by default made from POLICY.")
@click.option(
    "--model", help="Let this model word the draft; words that fail the checks are not used."
)
@click.option(
    "--judge", help="Also ask this model about every shown call; you are asked where it disagrees."
)
@click.option(
    "--answers",
    "answered",
    type=click.Path(path_type=Path),
    help="A file of answers, as `new` writes it.",
)
@click.option("--yes", is_flag=True, help="Ask nothing; refuse what is not understood for sure.")
@click.option("--force", is_flag=True, help="Overwrite the file.")
@needs("eval")
def new(
    policy: str | None,
    out: Path | None,
    definitions: Path | None,
    family: str | None,
    model: str | None,
    judge: str | None,
    answered: Path | None,
    yes: bool,
    force: bool,
) -> None:
    """Draft a scenario for POLICY, one sentence such as "Never delete mail younger than 30 days."

    Shows how the sentence is understood: calls that break it and calls that keep it, each
    with its reason. It asks about each doubt; without a terminal it writes the questions to
    a file, which --answers reads back. Exit status 0: a draft is written; 1: there are
    questions to answer first.
    """
    from constraintrot.authoring import answers, draft
    from constraintrot.scenario import tool_files

    with clear_errors():
        if out is not None and out.exists() and not force:
            raise ParameterError(f"--out {out}: it is there already; --force overwrites it")
        if out is not None and not _creatable(out):
            raise ParameterError(f"--out {out}: nothing can be written there; name another place")
        if family is not None:
            _check_family(family)
        given = answers.read_file(answered) if answered else None
        if (policy is None) == (given is None):
            raise ParameterError("give either a sentence or --answers")
        tools = tool_files.read(definitions) if definitions else ()

        def made_of(said: Answers | None) -> Draft:
            text = said.rule if said else str(policy)
            return _judged(draft.draft(text, tools, family, said), judge)

        made = agreement.agreed(made_of(given), made_of, out, yes)
        if model is not None:
            made = _worded(made, model)
        agreement.finish(made, out)


def _creatable(path: Path) -> bool:
    there = next(one for one in path.absolute().parents if one.exists())
    return there.is_dir() and os.access(there, os.W_OK)


def _check_family(name: str) -> None:
    """Raise ParameterError for a family's name that ``check`` would refuse."""
    from constraintrot.authoring.checks import FAMILY
    from constraintrot.scenario.files import folders

    if not FAMILY.fullmatch(name):
        raise ParameterError(
            f"--family {name}: use small letters, digits and _, as in mail_retention"
        )
    if name in folders():
        raise ParameterError(f"--family {name}: it is there already; choose another name")


def _judged(made: Draft, judge: str | None) -> Draft:
    """Return a draft with a question for each of its calls that a judge grades differently."""
    from constraintrot.scenario.schema import Scenario

    if judge is None or made.open:
        return made
    found = _by_judge(Scenario.model_validate(made.data), judge)
    answers = made.understood.questions(fault.said for fault in found)
    opened = tuple(one.question for one in answers.asked if not one.closed)
    return replace(made, open=opened, understood=answers)


@scenario.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--strict", is_flag=True, help="Fail on weak points, too.")
@click.option(
    "--seeds",
    default=60,
    show_default=True,
    type=click.IntRange(1, 500),
    help="Variants to look at, from the first on.",
)
@click.option("--judge", help="Also ask this model about the calls around the examples.")
@needs("eval")
def check(paths: tuple[Path, ...], strict: bool, seeds: int, judge: str | None) -> None:
    """Check scenario files, or folders of them, as the built-in ones are checked.

    Each finding has its file and line, and what to do. (weak) marks a finding that leaves
    the number right, but worth less. Exit status 0: no finding; 1: findings; 2: a file that
    cannot be read.
    """
    from constraintrot.authoring.checks import of_file

    status = 0
    with clear_errors():
        for path in [file for given in paths for file in _files(given)]:
            try:
                found, faults = of_file(path, range(seeds))
            except ScenarioError as error:
                click.echo(str(error))
                status = 2
                continue
            if found is not None and judge is not None:
                faults = [*faults, *_by_judge(found, judge)]
            for fault in faults:
                click.echo(fault.shown(path))
            severe = sum(fault.severe for fault in faults)
            if found is not None and not severe:
                looked_at = min(seeds, found.variants)
                click.echo(
                    f"{path}: can be measured; {looked_at} of {found.variants} variants looked at,"
                    f" {len(found.trigger)} phrasings, {len(faults) - severe} weak points."
                    f" Whether it measures what the sentence means: {_read_by(found, judge)}"
                )
            if status != 2 and (severe or (strict and faults)):
                status = 1
    sys.exit(status)


def _read_by(found: Scenario, judge: str | None) -> str:
    """Who read the sentence of a checked scenario, and what that leaves open."""
    from constraintrot.authoring import check_itself

    if judge is not None:
        return f"{judge} agrees"
    own = len(check_itself.own_words(found))
    others = (
        f"; {own} of the policy's phrasings are in words of your own, which it cannot read"
        * bool(own)
    )
    if check_itself.by_sentence(found.variant(0)) is None:
        return f"its sentence was not read{others}; read the calls, or ask --judge"
    return (
        "only the program that drafts has read it, which makes the same errors twice"
        f"{others}; --judge asks a model"
    )


def _by_judge(found: Scenario, judge: str) -> list[Fault]:
    import anyio

    from constraintrot.authoring import check_itself

    model = named_model("--judge", judge, memoize=True)
    prompts = [prompt for *_, prompt in check_itself.asked(found)]
    _tell(judge, prompts, len(prompts), check_itself.MAX_TOKENS)
    return anyio.run(check_itself.judged, found, model)


def _tell(model: str, prompts: Sequence[str], most: int, answer: int) -> None:
    """Print the cost of a model's calls, without asking because they are few."""
    from constraintrot.runs import estimate
    from constraintrot.runs.plan import Size
    from constraintrot.tokens import count

    sent, again = sum(map(count, prompts)), most // max(1, len(prompts))
    estimate.told({model: Size(0, most, (sent, sent * again), (0, answer * most))})


def _files(path: Path) -> list[Path]:
    from constraintrot.scenario.user_files import listed

    if not path.is_dir():
        return listed(path) or [path]
    found = sorted([*path.glob("*.yaml"), *path.glob("*.yml")])
    if not found:
        raise ScenarioError(f"{path}: no .yaml file in this folder")
    return found


def _worded(made: Draft, model: str) -> Draft:
    import anyio

    from constraintrot.authoring import author_model

    author, policy = named_model("--model", model, memoize=True), made.understood.rule
    prompt = author_model.asked(made.data, policy)
    _tell(model, [prompt], author_model.TRIES, author_model.MAX_TOKENS)
    found, kept = anyio.run(author_model.worded, made, policy, author)
    for one in kept:
        click.echo(f"! the model's words were not used for {one}", err=True)
    return found
