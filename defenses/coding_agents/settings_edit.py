"""Adding our hooks to the text of a settings file, and taking them out again.

Nothing else in the text changes. What is ours is known by the path of our hook in its
command, wherever the user has moved it meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

from constraintrot.defenses.coding_agents.errors import PinInstallError
from constraintrot.defenses.coding_agents.json_spans import JsonError, Node, parse

Entry = Mapping[str, object]
"""One entry of an event's list: a matcher, if any, and hooks."""


def with_hooks(text: str, entries: Mapping[str, Entry]) -> str:
    """A settings file's text with one entry more for each event.

    Args:
        text: JSON, perhaps with comments; blank for a file without settings.
        entries: by event.

    Raises:
        PinInstallError: the text is no JSON object, or has hooks of another shape.
    """
    if not text.strip():
        text = "{}" + _line_end(text)
    for event, entry in entries.items():
        root = _root(text)
        hooks = _expect(root.get("hooks"), "object", '"hooks"')
        if hooks is None:
            text = _added(text, root, {event: [entry]}, key="hooks")
            continue
        events = _expect(hooks.get(event), "array", f'"hooks"."{event}"')
        if events is None:
            text = _added(text, hooks, [entry], key=event)
        else:
            text = _added(text, events, entry)
    return text


def created_by(text: str, entries: Mapping[str, Entry]) -> list[str]:
    """Which events, and perhaps ``hooks`` itself, ``with_hooks`` has to make in a text.

    Raises:
        PinInstallError: the text is no JSON object.
    """
    hooks = _root(text).get("hooks") if text.strip() else None
    made = [] if hooks is not None else ["hooks"]
    return made + [event for event in entries if hooks is None or hooks.get(event) is None]


def without_hooks(text: str, command_part: str, created: Collection[str] = ()) -> str:
    """The text without the entries whose command holds a text; the same where none does.

    Of an entry in which the user put other commands, only ours goes.

    Args:
        text: of the settings file.
        command_part: what only our commands hold.
        created: the events, and perhaps ``hooks``, that go too where they are empty then.

    Raises:
        PinInstallError: the text is no JSON object.
    """
    if not text.strip():
        return text
    while True:
        root = _root(text)
        hooks = root.get("hooks")
        place = _ours(hooks, command_part) if hooks is not None else None
        if place is None:
            return text
        parent, index = place
        text = _without_empty(_removed(text, parent, index), created)


def holds_hooks(text: str, entries: Mapping[str, Entry]) -> bool:
    """Whether all entries are in a settings file's text, as they were put in.

    Raises:
        PinInstallError: the text is no JSON object.
    """
    hooks = _root(text).get("hooks") if text.strip() else None
    for event, entry in entries.items():
        events = hooks.get(event) if hooks is not None else None
        if events is None or not any(plain(item) == entry for item in events.items):
            return False
    return True


def plain(node: Node) -> object:
    """A node's value as Python has it."""
    if node.kind == "object":
        return {key.text: plain(value) for key, value in node.members}
    return [plain(item) for item in node.items] if node.kind == "array" else node.value


def root_of(text: str) -> object:
    """The whole value, comments aside; an empty object for a blank text.

    Raises:
        PinInstallError: the text is no JSON object.
    """
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
    """The parent and the index of the next thing to take out."""
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
            return _without_empty(_removed(text, hooks, index), created)
    if "hooks" in created and _is_empty(text, hooks):
        return _removed(text, root, [key.text for key, _ in root.members].index("hooks"))
    return text


def _is_empty(text: str, node: Node) -> bool:
    return node.kind in ("object", "array") and not text[node.start + 1 : node.end - 1].strip()


def _added(text: str, parent: Node, value: object, key: str | None = None) -> str:
    """The text with a child more, as the last one."""
    children = parent.children()
    inline = "\n" not in text[parent.start : parent.end] and bool(children)
    end, step = _line_end(text), _step(text)
    outer = _indent(text, parent.start)
    indent = _indent(text, children[-1][0]) if children and not inline else outer + step
    made = json.dumps(value, indent=None if inline else step, ensure_ascii=False)
    made = made.replace("\n", end + indent)
    if key is not None:
        made = f"{json.dumps(key)}: {made}"
    inner = text[parent.start + 1 : parent.end - 1]
    kept = parent.start + 1 + len(inner.rstrip())
    # A comment of the user's before the bracket stays before ours.
    last = " " if inline else end + indent
    tail = text[kept : parent.end - 1] if children else end + outer
    head = text[:kept]
    if children and not parent.comma:
        head = text[: children[-1][1]] + "," + text[children[-1][1] : kept]
    return head + last + made + tail + text[parent.end - 1 :]


def _removed(text: str, parent: Node, index: int) -> str:
    """The text without a child: the comma that parted it, and the blanks before it."""
    children = parent.children()
    start, end = children[index]
    kept = len(text[:start].rstrip())
    if index + 1 < len(children) or parent.comma:
        comma = _comma(text, end)
        return text[:kept] + text[end:comma] + text[comma + 1 :]
    if index == 0:
        # The only one: what is between the brackets is blank, or comments.
        rest = text[end : parent.end - 1]
        return text[:kept] + (rest if rest.strip() else "") + text[parent.end - 1 :]
    comma = _comma(text, children[index - 1][1])
    return text[:comma] + text[comma + 1 : kept] + text[end:]


def _comma(text: str, at: int) -> int:
    """Where the comma behind a child is; a comment may be in between."""
    while text[at] != ",":
        if text.startswith("//", at):
            at = text.index("\n", at)
        elif text.startswith("/*", at):
            at = text.index("*/", at) + 2
        else:
            at += 1
    return at


def _indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _step(text: str) -> str:
    """What one level is indented by: as the first indented line, else two blanks."""
    for line in text.splitlines():
        indent = line[: len(line) - len(line.lstrip(" \t"))]
        if indent and line.strip().startswith('"'):
            return indent
    return "  "


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
