"""The rules that documents and other tools' texts state, read more strictly than what a user says.

A page that an agent reads is full of sentences that forbid something to somebody: of a
library's arguments, a licence's, a parser's. So a rule is taken from one only where the
sentence is a standing one and speaks to whoever works there; from source code none is.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from constraintrot.coding_agents.sessions.events import Message
from constraintrot.rule_text.said import Kind

_RULE_FILES = ("agents", "claude", "gemini", "qwen", "rules", "policy", "policies", "handbook",
               "guideline", "contributing", "conventions", "runbook")  # fmt: skip
_SUFFIXES = frozenset(["", ".md", ".mdx", ".markdown", ".rst", ".txt", ".adoc", ".org"])
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
    if any(part in path.name for part in _RULE_FILES):
        return "rules"
    if path.suffix not in _SUFFIXES or path.name.startswith(_LEGAL):
        return None
    return "log" if path.stem.startswith(_LOGS) else "document"
