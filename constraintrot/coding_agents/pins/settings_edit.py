"""Adding our hooks to the text of a settings file, and taking them out again.

Nothing else in the text changes. Our entries are recognised by the path of our hook in their
command, even if the user has moved them.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from constraintrot.coding_agents.pins.agents import Agent
from constraintrot.coding_agents.pins.file_edit import FileState, PinInstallError
from constraintrot.coding_agents.pins.json_spans import (
    JsonError,
    Node,
    added,
    line_end,
    parse,
    removed,
)

# Each removal parses the text anew, so their number is limited.
_MOST = 100

Entry = Mapping[str, object]
"""One entry of an event's list: a matcher, if any, and hooks."""


def with_hooks(text: str, entries: Mapping[str, Entry]) -> str:
    """Return a settings file's text with one more entry for each event.

    Raises:
        PinInstallError: the text is not a JSON object, has hooks of another shape, or cannot
            be changed without changing something else.
    """
    if not text.strip():
        text = "{}" + line_end(text)
    before, wanted = text, cast("dict[str, Any]", root_of(text))
    for event, entry in entries.items():
        root = _root(text)
        hooks = _expect(root.get("hooks"), "object", '"hooks"')
        if hooks is None:
            text = added(text, root, {event: [entry]}, key="hooks")
            continue
        events = _expect(hooks.get(event), "array", f'"hooks"."{event}"')
        if events is None:
            text = added(text, hooks, [entry], key=event)
        else:
            text = added(text, events, entry)
    for event, entry in entries.items():
        wanted.setdefault("hooks", {}).setdefault(event, []).append(entry)
    return _checked(before, text, wanted)


def with_value(text: str, keys: Sequence[str], value: object) -> str:
    """Return a settings file's text with one value changed, or added; a byte order mark stays."""
    mark, text = text[: text.startswith("\ufeff")], text.removeprefix("\ufeff")
    node = _root(text := text if text.strip() else "{}")
    for at, key in enumerate(keys, start=1):
        child = node.get(key)
        if child is None or (child.kind != "object" and at < len(keys)):
            for inner in reversed(keys[at:]):
                value = {inner: value}
        if child is None:
            return mark + added(text, node, value, key=key)
        if child.kind != "object" or at == len(keys):
            return mark + text[: child.start] + json.dumps(value) + text[child.end :]
        node = child
    raise ValueError("a value has at least one key")


def check_dialect(state: FileState, agent: Agent) -> None:
    """Check that an agent reads its settings file, and the user's hooks beside ours."""
    beyond = dict(_root(state.text).beyond) if state.text.strip() else {}
    if state.marked:
        beyond["byte order mark"] = 1
    for what, line in beyond.items():
        if what not in agent.allows:
            raise PinInstallError(
                f"line {line} has a {what}, for which {agent.title} reads nothing of the file, no"
                " hook either; take it out first"
            )
    if agent.one_file:
        _check_form(cast("dict[str, Any]", root_of(state.text)), agent)


def _check_form(root: Mapping[str, Any], agent: Agent) -> None:
    """Check that the hooks have the form of ours; OpenHands accepts two forms, but not mixed."""
    for key in root:
        if key != "hooks":
            raise PinInstallError(
                f'{agent.title} reads nothing beside "hooks" once that is there; put "{key}" below'
                " it"
            )
    for event in agent.events:
        other = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
        if other in root.get("hooks", {}):
            raise PinInstallError(
                f'{agent.title} takes no "{other}" beside ours; call it "{event}"'
            )


def created_by(text: str, entries: Mapping[str, Entry]) -> list[str]:
    """Return the keys that ``with_hooks`` has to create in a text: events, and ``hooks`` itself."""
    hooks = _root(text).get("hooks") if text.strip() else None
    made = [] if hooks is not None else ["hooks"]
    return made + [event for event in entries if hooks is None or hooks.get(event) is None]


def without_hooks(text: str, command_part: str, created: Collection[str] = ()) -> str:
    """Return the text without the hooks whose command holds ``command_part``.

    Other commands in the same entry stay. Of ``created`` (events, and perhaps ``hooks``), those that
    are then empty are removed too.
    """
    if not text.strip():
        return text
    before = text
    if text.count(command_part) > _MOST:
        raise PinInstallError(f"it holds our hook more than {_MOST} times; take it out by hand")
    while True:
        root = _root(text)
        hooks = root.get("hooks")
        place = _ours(hooks, command_part) if hooks is not None else None
        if place is None:
            wanted = _less(root_of(before), command_part, created)
            return _checked(before, text, wanted, command_part, created)
        parent, index = place
        text = _without_empty(removed(text, parent, index), created)


def holds_hooks(text: str, entries: Mapping[str, Entry]) -> bool:
    """Return whether a settings file's text holds all entries unchanged."""
    hooks = _root(text).get("hooks") if text.strip() else None
    for event, entry in entries.items():
        events = hooks.get(event) if hooks is not None else None
        if events is None or not any(plain(item) == entry for item in events.items):
            return False
    return True


def plain(node: Node) -> object:
    if node.kind == "object":
        return {key.text: plain(value) for key, value in node.members}
    return [plain(item) for item in node.items] if node.kind == "array" else node.value


def root_of(text: str) -> object:
    """Return the whole value without comments; an empty object for a blank text."""
    return plain(_root(text)) if text.strip() else {}


def _root(text: str) -> Node:
    try:
        root = parse(text)
    except JsonError as error:
        raise PinInstallError(f"it is not JSON: {error}") from None
    if root.kind != "object":
        raise PinInstallError("it holds no JSON object")
    return root


def _expect(node: Node | None, kind: str, what: str) -> Node | None:
    if node is not None and node.kind != kind:
        raise PinInstallError(f"{what} is no JSON {kind}")
    return node


def _ours(hooks: Node, command_part: str) -> tuple[Node, int] | None:
    """Return the parent and the index of the next entry or hook to remove, or None."""
    for _, events in hooks.members:
        for index, entry in enumerate(events.items):
            commands = entry.get("hooks")
            ours = [
                at
                for at, hook in enumerate(commands.items if commands else [])
                if any(command_part in text for text in hook.strings())
            ]
            if commands is None or not ours:
                continue
            return (events, index) if len(ours) == len(commands.items) else (commands, ours[0])
    return None


def _without_empty(text: str, created: Collection[str]) -> str:
    root = _root(text)
    hooks = root.get("hooks")
    if hooks is None:
        return text
    for index, (key, events) in enumerate(hooks.members):
        if key.text in created and _is_empty(text, events):
            return _without_empty(removed(text, hooks, index), created)
    if "hooks" in created and _is_empty(text, hooks):
        return removed(text, root, [key.text for key, _ in root.members].index("hooks"))
    return text


def _is_empty(text: str, node: Node) -> bool:
    return node.kind in ("object", "array") and not text[node.start + 1 : node.end - 1].strip()


def _less(value: object, command_part: str, created: Collection[str]) -> object:
    """Return a settings value without our hooks and the lists that were created for them."""
    hooks = value.get("hooks") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(hooks, dict):
        return value
    left = {}
    for event, entries in hooks.items():
        kept = [_entry_less(one, command_part) for one in entries] if entries else entries
        kept = [one for one in kept if one is not None] if isinstance(kept, list) else kept
        if kept != [] or event not in created:
            left[event] = kept
    rest = {name: one for name, one in value.items() if name != "hooks"}
    return rest if not left and "hooks" in created else {**rest, "hooks": left}


def _entry_less(entry: object, command_part: str) -> object | None:
    commands = entry.get("hooks") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(commands, list):
        return entry
    kept = [one for one in commands if command_part not in json.dumps(one, ensure_ascii=False)]
    if len(kept) == len(commands):
        return entry
    return {**entry, "hooks": kept} if kept else None


def _checked(
    before: str, after: str, wanted: object, part: str = "", created: Collection[str] = ()
) -> str:
    """Return the text after a change; raise if its value is not the wanted one."""
    try:
        made = root_of(after)
        # A list that was created for our hooks stays if the user put a comment into it.
        same = (_less(made, part, created) if part else made) == wanted
    except PinInstallError:
        same = False
    if not same:
        line = next(
            (at for at, (old, new) in enumerate(zip(before.splitlines(), after.splitlines(),
             strict=False), 1) if old != new), 1,
        )  # fmt: skip
        raise PinInstallError(
            f"our hook cannot be changed near line {line} without changing something of yours;"
            " move the comments there, or take our entries out by hand"
        )
    return after
