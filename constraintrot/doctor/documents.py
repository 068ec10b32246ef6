"""The kind of a message's rules: documents are read more strictly than a user's words.

A page that an agent reads has many sentences that forbid something to somebody else, such as
a library's caller. So a document's sentence counts as a rule only if it is a standing one and
addresses its reader; no rule is taken from source code.
"""

from collections.abc import Sequence
from pathlib import PurePosixPath, PureWindowsPath

from constraintrot.coding_agents.sessions.events import Message
from constraintrot.rule_text.said import Kind

_RULE_FILES = ("agents", "claude", "gemini", "qwen", "rules", "policy", "policies", "handbook",
               "guideline", "contributing", "conventions", "runbook")  # fmt: skip
_SUFFIXES = frozenset(["", ".md", ".mdx", ".mdc", ".markdown", ".rst", ".txt", ".adoc", ".org"])
# A rules file may have these suffixes too; a source file is never a rules file.
_DATA = frozenset([".yaml", ".yml", ".json", ".toml"])
# Their entries may be imperatives about past changes: "Always release the lock".
_LOGS = ("changelog", "changes", "history", "news", "release")
_LEGAL = ("license", "licence", "copying", "notice", "authors", "copyright", "metadata")


def kind(message: Message) -> Kind | None:
    """Return how a message is read for rules, by its channel and file; None if it is not."""
    if message.role == "assistant":
        return None
    if message.channel in ("user", "project file", "nested file", "mcp"):
        return "rules"
    if message.channel == "tool":
        return "tool"
    if message.channel != "file":
        return None
    path = PurePosixPath(message.origin.replace("\\", "/").lower())
    may_rule = path.suffix in _SUFFIXES | _DATA
    if may_rule and any(part in path.name for part in _RULE_FILES):
        return "rules"
    if path.suffix not in _SUFFIXES or path.name.startswith(_LEGAL):
        return None
    return "log" if path.stem.startswith(_LOGS) else "document"


def is_sent(file: str, names: Sequence[str], cwd: str) -> bool:
    """Return whether a file is an instruction file that is sent with each request.

    True for a file in the session's folder or one above it, or in a folder whose name starts
    with a dot (``~/.claude/CLAUDE.md``), under one of the ``names`` that this agent reads. A
    relative path is one in the session's folder.
    """
    if not file or not cwd:
        return False
    path = PureWindowsPath(file) if "\\" in file else PurePosixPath(file)
    if path.name not in names:
        return False
    here = type(path)(cwd)
    folder = (here / path).parent
    return folder == here or folder in here.parents or folder.name.startswith(".")
