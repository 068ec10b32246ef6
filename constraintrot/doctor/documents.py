"""The rules that documents and other tools' texts state, read more strictly than what a user says.

A page that an agent reads is full of sentences that forbid something to somebody: of a
library's arguments, a licence's, a parser's. So a rule is taken from one only where the
sentence is a standing one and speaks to whoever works there; from source code none is.
"""

from collections.abc import Sequence
from pathlib import PurePosixPath, PureWindowsPath

from constraintrot.coding_agents.sessions.events import Message
from constraintrot.rule_text.said import Kind

_RULE_FILES = ("agents", "claude", "gemini", "qwen", "rules", "policy", "policies", "handbook",
               "guideline", "contributing", "conventions", "runbook")  # fmt: skip
_SUFFIXES = frozenset(["", ".md", ".mdx", ".mdc", ".markdown", ".rst", ".txt", ".adoc", ".org"])
# A rules file may be data; a source file whose name has one of these words is none.
_DATA = frozenset([".yaml", ".yml", ".json", ".toml"])
# Their entries are imperatives that were followed already: "Always release the lock".
_LOGS = ("changelog", "changes", "history", "news", "release")
_LEGAL = ("license", "licence", "copying", "notice", "authors", "copyright", "metadata")


def kind(message: Message) -> Kind | None:
    """Return whether a message's rules are a user's, a document's, or not taken at all."""
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

    True for the instruction file of the session's folder or one above it, and for one of
    the user's own (``~/.claude/CLAUDE.md``), by the name that this agent reads.
    """
    if not file or not cwd:
        return False
    path = PureWindowsPath(file) if "\\" in file else PurePosixPath(file)
    if path.name not in names:
        return False
    folder = path.parent
    here = type(path)(cwd)
    return folder == here or folder in here.parents or folder.name.startswith(".")
