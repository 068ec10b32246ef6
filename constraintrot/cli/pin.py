"""``constraintrot pin``: standing policies in the coding agents that people use."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from constraintrot.cli.pin_list import POLICIES, export_command, source_of, trust_command
from constraintrot.command_line import options
from constraintrot.errors import ParameterError
from constraintrot.report.untrusted import cut

if TYPE_CHECKING:
    from constraintrot.coding_agents.pins.checking import Health
    from constraintrot.coding_agents.pins.compiled import Source
    from constraintrot.coding_agents.pins.installing import Change
    from constraintrot.coding_agents.pins.record import Pin, Record
    from constraintrot.coding_agents.proof.proof import Proof

_SHOWN = 90  # characters of a rule that are printed
_CHANGE = options(
    click.option("--project", "project", is_flag=True, help="In this folder's settings only."),
    click.option("--user", "user", is_flag=True, help="In your own settings (the default)."),
    click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing."),
)


@click.group()
def pin() -> None:
    """Keep standing policies in a coding agent's context through its own compaction.

    Agents: claude, codex, copilot, opencode, openhands, gemini, pi, qwen.
    """


pin.add_command(export_command)
pin.add_command(trust_command)


@pin.command("install")
@click.argument("agent")
@POLICIES
@_CHANGE
@click.option(
    "--summarizer-prompt",
    is_flag=True,
    help="Tell the agent's summarizer too (codex, opencode). It may or may not obey; this is no pin.",
)
def install_command(
    agent: str,
    rules: Path | None,
    seeds: Path | None,
    project: bool,
    user: bool,
    dry_run: bool,
    summarizer_prompt: bool,
) -> None:
    """Put the policies into AGENT by the hook that it offers, or bring them up to date.

    With --project alone, they come from the repository's signed list (constraintrot pin trust).
    """
    from constraintrot.coding_agents.pins.compiled import contents_of
    from constraintrot.coding_agents.pins.installing import install, source_in

    source = source_of(rules, seeds)
    which = _pin(agent, project, user)
    if project and source is None and not which.folder.exists():
        source = source_in(which.project)
    before = contents_of(which.folder)
    change = install(which, source, summarizer=summarizer_prompt, dry_run=dry_run)
    if source is not None:
        _print_rules(source, which.folder, before)
    _print_change(change, dry_run)
    if dry_run:
        return
    click.echo(f"{which.agent.title}: pinned; {which.agent.lands}.")
    if which.agent.by_hand:
        click.echo(f"! {which.agent.by_hand}")
    if project:
        click.echo(f"! {which.settings} names this machine's paths: do not commit it.")
    click.echo(f"constraintrot pin status {agent} proves that they arrive.")


@pin.command("uninstall")
@click.argument("agent")
@_CHANGE
def uninstall_command(agent: str, project: bool, user: bool, dry_run: bool) -> None:
    """Take the policies out of AGENT, and leave its settings as they were."""
    from constraintrot.coding_agents.pins.installing import uninstall

    which = _pin(agent, project, user)
    _print_change(uninstall(which, dry_run=dry_run), dry_run)
    if not dry_run:
        click.echo(f"{which.agent.title}: no policy is pinned any more.")


@pin.command("status")
@click.argument("agent", required=False)
@click.option("--no-play", is_flag=True, help="Check the files and run the hook; start no agent.")
@click.option(
    "--program", type=click.Path(path_type=Path, exists=True), help="The agent's program."
)
@click.option(
    "--network",
    type=click.Choice(["none", "host"]),
    default="none",
    show_default=True,
    help="host: play with this machine's network if the system cannot take it away.",
)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable.")
def status_command(
    agent: str | None, no_play: bool, program: Path | None, network: str, as_json: bool
) -> None:
    """Prove each pin: play a compaction in the agent, and look for the policies afterwards.

    Your own agent runs in a throw-away home with a copy of your settings, against an endpoint on
    this machine, without the network. Exit status 1 if a pin is not in order or not proved.
    """
    from constraintrot.coding_agents.pins.agents import agent_named
    from constraintrot.coding_agents.pins.checking import health
    from constraintrot.coding_agents.pins.record import records, together

    name, here = agent_named(agent).name if agent else None, Path.cwd()
    known = records()
    asked = [record for record in known if name in (None, record.agent)]
    if not asked and not as_json:
        click.echo(f"no pin is installed{f' for {name}' if name else ''}")
    shown: list[tuple[Health, Proof | None]] = []
    proofs: dict[str, Proof | None] = {}
    for record in asked:
        state, group = health(record, here), together(record, known, here)
        key = repr(group) if state.text and not no_play else ""
        if key and key not in proofs:
            proofs[key] = _played(group, program, network)
        if (proof := proofs.get(key)) and proof.untrusted:
            state.faults.append(proof.untrusted)
        shown.append((state, proof))
        if not as_json:
            _print_health(*shown[-1])
    if as_json:
        click.echo(json.dumps(_facts(shown, here), ensure_ascii=False, indent=2))
    elif asked:
        _print_in_force(shown, here)
    if not asked or any(state.faults or (proof and not proof.held) for state, proof in shown):
        sys.exit(1)


def _pin(agent: str, project: bool, user: bool) -> Pin:
    from constraintrot.coding_agents.pins.agents import agent_named
    from constraintrot.coding_agents.pins.record import Pin

    if project and user:
        raise ParameterError("give --project or --user, not both")
    return Pin(agent_named(agent), "project" if project else "user", Path.cwd())


def _print_rules(source: Source, folder: Path, before: Mapping[str, str]) -> None:
    """Print the rules of a list, and those of the list before that it does not hold."""
    from constraintrot.coding_agents.pins.compiled import registry_of

    now = {block.name: block.content for block in registry_of(source, folder.parent)[0].pins()}
    gone = {name: text for name, text in before.items() if text not in now.values()}
    for told, rules in (("pinned", now), ("! no longer pinned", gone)):
        for name, text in rules.items():
            click.echo(f"{told} {name}: {cut(' '.join(text.split()), _SHOWN)}")


def _print_change(change: Change, dry_run: bool) -> None:
    for diff in change.diffs:
        click.echo(diff)
    if not change.diffs:
        click.echo("the settings are as they should be; nothing to change")
    for note in change.notes:
        click.echo(f"! {note}")
    if dry_run:
        click.echo("(not done: --dry-run)")


def _played(group: Sequence[Record], program: Path | None, network: str) -> Proof | None:
    from constraintrot.coding_agents.pins.checking import program_of
    from constraintrot.coding_agents.proof.proof import prove

    agent = group[-1].agent
    found = program.absolute() if program else program_of(agent)
    if found is None:
        return None
    click.echo(f"{agent}: playing a compaction with {found} ...", err=True)
    return prove(group, found, network=network == "host")


def _in_force(state: Health) -> bool:
    return state.applies and state.hook_answers and not state.faults


def _facts(shown: Sequence[tuple[Health, Proof | None]], here: Path) -> dict[str, Any]:
    pins = [
        {
            **state.facts(),
            "in_force": _in_force(state) and (proof is None or proof.held),
            "proof": proof and {**vars(proof), "held": proof.held},
        }
        for state, proof in shown
    ]
    return {"version": 1, "folder": str(here), "pins": pins}


def _print_in_force(shown: Sequence[tuple[Health, Proof | None]], here: Path) -> None:
    from constraintrot.coding_agents.pins.agents import agent_named

    click.echo(f"in force in {here}:")
    for title in dict.fromkeys(state.title for state, _ in shown):
        here_in_force = [
            (state, proof)
            for state, proof in sorted(shown, key=lambda one: one[0].scope, reverse=True)
            if state.title == title and _in_force(state)
        ]
        lists = [f"the list {one.scope!r}, revision {one.revision}" for one, _ in here_in_force]
        told = " and ".join(lists) or "nothing"
        # An agent may not run a hook that the user has not trusted there, which only a play shows.
        if any(
            not proof and "trusted" in agent_named(one.agent).by_hand
            for one, proof in here_in_force
        ):
            told += ", if you have trusted its hook: that was not seen"
        click.echo(f"  {title}: {told}")


def _print_health(state: Health, proof: Proof | None) -> None:
    from constraintrot.coding_agents.pins.agents import agent_named
    from constraintrot.coding_agents.pins.checking import program_of

    click.echo(f"{state.title}, {state.scope}: {state.settings}")
    if not state.applies and state.project:
        click.echo(f"  holds in {state.project}, and is not read in this folder")
    _lines("  ", state.says)
    _lines("  ! ", state.faults)
    if proof is None:
        missing = "" if program_of(state.agent) else ", because its program is not on this PATH"
        told = f"  {state.title} itself was not played{missing}: only the hook was proved"
        click.echo(told if state.hook_answers else "  nothing was proved")
        if by_hand := agent_named(state.agent).by_hand:
            click.echo(f"  not seen from here: {by_hand}")
        return
    _lines("  ", proof.lines())


def _lines(start: str, texts: Iterable[str]) -> None:
    for text in texts:
        click.echo(start + text)
