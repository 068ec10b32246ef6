"""Names that a reader takes for one another: one of them is enough.

The skeletons of Unicode Technical Standard 39, by its table of confusables
(``confusables.txt``), and more: small letters of the form of other alphabets' capitals,
digits for letters, marks and blanks that nobody sees.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from importlib.resources import files
from typing import Final

# Drawn alike in some typeface, and not so by the table.
_TWINS: Final = str.maketrans("ӏьмтнвкκτχηωյʟ", "lbmthbkkuxnwjL")
_DIGITS: Final = str.maketrans("I1|0", "lllo")
_BLANKS: Final = re.compile(" {2,}")
# Printable by their category, and drawn as nothing or as a blank.
_UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U00016fe4\U0001d159\U000e0100-\U000e01ef]"
)


@cache
def _table() -> dict[int, str]:
    lines = files("constraintrot.defenses.rampart").joinpath("confusables.txt")
    told = [one for one in lines.read_text(encoding="utf-8").splitlines() if one[:2] != "# "]
    return {ord(twin): line[0] for line in told for twin in line[1:] if not twin.isascii()}


def unseen(name: str) -> bool:
    """Return whether a name holds an invisible letter."""
    return _UNSEEN.search(name) is not None


def look_key(name: str) -> str:
    """Return a key that is the same for names that look the same."""
    text = unicodedata.normalize("NFKC", name)
    if not text.isascii():
        text = _bare(text).translate(_TWINS).translate(_table())
    text = _BLANKS.sub(" ", text).translate(_DIGITS).casefold()
    return text.replace("rn", "m").replace("vv", "w")


def _bare(text: str) -> str:
    """A text whose Latin, Greek and Cyrillic letters have no marks; other scripts need theirs."""
    kept: list[str] = []
    for letter in unicodedata.normalize("NFD", text):
        # One at the start of a name has no letter to be a mark of.
        bare = not kept or ord(kept[-1]) < 0x530
        if not (bare and unicodedata.category(letter) == "Mn"):
            kept.append(letter)
    return "".join(kept)
