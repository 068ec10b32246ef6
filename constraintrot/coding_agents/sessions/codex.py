"""Codex: ``~/.codex/sessions/Y/M/D/rollout-*.jsonl``.

A ``compacted`` line holds the whole new context. If the provider compacts on its own side,
the summary is an encrypted item that cannot be read; published sessions may lack that item.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from constraintrot.coding_agents.sessions.events import (
    Channel,
    Compaction,
    Event,
    Facts,
    Format,
    Kept,
    Losses,
    Message,
    Record,
)
from constraintrot.coding_agents.sessions.json_lines import at, plain, string
from constraintrot.coding_agents.sessions.tools import Calls

# Characters of user turns kept beside a summary, in versions without the whole new context.
_NEWEST = 80_000
_PROJECT = ("# AGENTS.md instructions", "<user_instructions>", "<INSTRUCTIONS>")
_SYSTEM = ("<environment_context>", "<permissions", "<collaboration", "<turn_aborted>", "<skill",
           "<hook_prompt", "<user_action>", "<goal_context>", "<codex_internal_context",
           "<extension_context>", "<additional_context", "<recommended_plugins")  # fmt: skip
# In the user's name: the output of the user's command, and another agent's report.
_OTHERS: Mapping[str, Channel] = {
    "<user_shell_command>": "tool", "<subagent_notification>": "agent",
}  # fmt: skip
# An editor's list of files and selections, before the typed text.
_EDITOR = ("# Context from my IDE setup", "# Files mentioned by the user")
_TYPED = "## My request for Codex:"
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
# Events that repeat what other lines say.
_UNUSED = (b"agent_", b"user_message", b"token_count", b"exec_command", b"mcp_tool", b"patch_apply",
           b"item_completed")  # fmt: skip
_OUTPUTS = ("function_call_output", "custom_tool_call_output")


def sniff(record: Record) -> bool:
    return "payload" in record and record.get("type") in (
        "session_meta", "response_item", "event_msg", "turn_context", "compacted",
    )  # fmt: skip


def read(lines: Iterable[tuple[int, Record]], losses: Losses) -> Iterator[Event]:
    calls = Calls()
    # Hashes of the user's turns, because a session may have many long turns.
    typed: set[int] = set()
    # Keys of the turns in the context, which may be rolled back.
    turns: list[str] = []
    aside: bool | None = None
    for number, record in lines:
        kind, payload = record.get("type"), record.get("payload")
        time = string(record, "timestamp")
        if kind == "session_meta":
            if aside is None:
                # A sub-agent's file may continue with the lines of its parent session.
                named = string(payload, "thread_source") == "subagent"
                aside = named or at(payload, "source", "subagent") is not None
            yield Facts(
                string(payload, "id"), string(payload, "cwd"), string(payload, "cli_version")
            )
            told = plain(at(payload, "base_instructions")) or string(payload, "instructions")
            if told:
                yield Message("system", told, "system", number, time)
        elif kind == "response_item":
            for one in _item(number, payload, time, calls):
                if one.channel == "user":
                    typed.add(hash(one.text))
                    turns.append(one.key)
                asked = aside and one.channel == "user"
                yield replace(one, channel="agent") if asked else one
        elif at(payload, "type") == "thread_rolled_back":
            count = at(payload, "num_turns")
            dropped = turns[-count:] if isinstance(count, int) and count > 0 else []
            del turns[len(turns) - len(dropped) :]
            if dropped:
                yield Compaction(number, time, kept=Kept(before=dropped[0]), counted=False)
        elif kind == "compacted":
            turns.clear()
            yield from _compacted(number, payload, time, typed)


def _compacted(number: int, payload: object, time: str, typed: set[int]) -> Iterator[Event]:
    written = at(payload, "replacement_history")
    if not isinstance(written, list):
        kept = Kept(
            channels=frozenset(["user", "project file", "system"]), newest_characters=_NEWEST
        )
        yield Compaction(number, time, kept=kept)
        summary = string(payload, "message")
        yield Message("user", summary, "summary", number, time, attached=True)
        return
    calls = Calls()
    summary = string(payload, "message")
    new = [
        replace(one, channel="summary") if summary and one.text == summary else one
        for item in written
        for one in _item(number, item, time, calls)
    ]
    opaque = any(
        at(item, "type") in ("compaction", "compaction_summary")
        and string(item, "encrypted_content")
        for item in written
    )
    told = [one for one in new if one.channel not in ("system", "project file")]
    opaque = opaque or (bool(told) and all(hash(one.text) in typed for one in told))
    yield Compaction(
        number, time, replacement=tuple(new), certainty="opaque" if opaque else "written"
    )


def _item(number: int, item: object, time: str, calls: Calls) -> Iterator[Message]:
    kind = at(item, "type")
    if kind == "message":
        text = plain(at(item, "content"))
        role = at(item, "role")
        if role == "user":
            yield from _of_user(number, item, time)
        elif not text:
            return
        elif role == "assistant":
            yield Message("assistant", text, "agent", number, time)
        else:
            yield Message("system", text, "system", number, time, attached=True)
    elif kind in _CALLS:
        made = calls.made(at(item, "call_id"), _name(item), _arguments(item))
        yield Message("assistant", "", "agent", number, time, calls=(made,))
    elif kind in _OUTPUTS:
        # Unlike in other formats, an instruction file that Codex reads is an ordinary file.
        given = calls.result(at(item, "call_id"), plain(at(item, "output")), number, time)
        yield replace(given, channel="file" if given.channel == "nested file" else given.channel)


def _of_user(number: int, item: object, time: str) -> Iterator[Message]:
    """Yield the parts of a user message: the typed text, and Codex's additions."""
    content = at(item, "content")
    typed = list[str]()
    for part in content if isinstance(content, list) else [content]:
        text = plain(part)
        if text.lstrip().startswith(_EDITOR):
            shown, _, text = text.rpartition(_TYPED)
            text = text.strip()
            yield Message("user", shown, "file", number, time)
        begun = text.lstrip().casefold()
        other = next((its for tag, its in _OTHERS.items() if begun.startswith(tag)), None)
        if text.lstrip().startswith(_PROJECT):
            yield Message("user", text, "project file", number, time, "AGENTS.md", attached=True)
        elif other or begun.startswith(_SYSTEM):
            yield Message("user", text, other or "system", number, time, attached=not other)
        elif text:
            typed.append(text)
    if typed:
        yield Message("user", "\n".join(typed), "user", number, time, key=f"line {number}")


def _name(item: object) -> str:
    name, namespace = string(item, "name") or "local_shell", string(item, "namespace")
    if namespace.startswith("mcp__"):
        return f"{namespace}__{name}"
    return f"namespace:{namespace}.{name}" if namespace else name


def _arguments(item: object) -> object:
    given = (at(item, key) for key in ("arguments", "input", "action"))
    return next((one for one in given if one is not None), {})


FORMAT = Format(
    name="codex",
    title="Codex",
    sniff=sniff,
    read=read,
    skip=(
        b'"type":"turn_context"',
        b'"payload":{"type":"reasoning"',
        *(b'"type":"event_msg","payload":{"type":"' + kind for kind in _UNUSED),
    ),
    places=(
        "~/.codex/sessions/*/*/*/rollout-*.jsonl",
        "~/.codex/archived_sessions/rollout-*.jsonl",
    ),
    project_files=("AGENTS.md",),
)
