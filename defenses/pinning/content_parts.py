"""A pinned block in a message's content: a text, or parts of which some are texts.

A part is a text itself, a mapping with the key ``text``, or an object with such an
attribute, as frameworks have them.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

from pydantic import BaseModel

from constraintrot.defenses.pinning.block_marks import only_blocks
from constraintrot.defenses.pinning.block_removal import SEPARATOR, Removed
from constraintrot.defenses.pinning.pinned_block import PinnedBlock, Rendering

Content: TypeAlias = str | list[Any]


class Edited(NamedTuple):
    """Content after an edit, the same object if unchanged, and the records of what was removed."""

    content: Content
    removed: tuple[Removed, ...]


def text_part(text: str) -> dict[str, Any]:
    """Return a text as the part that most providers know."""
    return {"type": "text", "text": text}


def part_like(content: Content) -> Callable[[str], Any]:
    """Return the maker of text parts of the content's kind; OpenAI's Responses has its own."""
    kinds = [part.get("type") for part in content if isinstance(part, Mapping)]
    return lambda text: {
        **text_part(text),
        **({"type": "input_text"} if "input_text" in kinds else {}),
    }


def placed_content(
    content: Content, pinned_block: PinnedBlock, now: Rendering, part: Callable[[str], Any]
) -> Edited:
    """Return content with the block at its end, once; the argument is not changed.

    In content of parts, the block is a part of its own, made by ``part``, because a
    provider's marks, such as for caching, hang on the other parts.
    """
    if isinstance(content, str):
        text, removed = pinned_block.placed(content, now)
        return Edited(content if text == content else text, removed)
    if _in_place(content, pinned_block, now):
        return Edited(content, ())
    rest, removed = cut_content(content, pinned_block)
    return Edited([*rest, *([part(now.text)] if now.text else [])], removed)


def cut_content(content: Content, pinned_block: PinnedBlock) -> Edited:
    """Return content less the registry's blocks; a part with nothing else is dropped."""
    if isinstance(content, str):
        return Edited(*pinned_block.less(content))
    kept: list[Any] = []
    removed: list[Removed] = []
    for part in content:
        rest, gone = pinned_block.less(_text(part))
        removed += gone
        if not gone:
            kept.append(part)
        elif rest:
            kept.append(_with_text(part, rest))
    return Edited(kept if removed else content, tuple(removed))


def _in_place(parts: Sequence[Any], pinned_block: PinnedBlock, now: Rendering) -> bool:
    texts = [_text(part) for part in parts]
    holding = [at for at, text in enumerate(texts) if pinned_block.holds(text)]
    if not now.text or not holding:
        return not now.text and not holding
    return (
        len(holding) == 1
        and pinned_block.in_place(texts[holding[0]], now)
        and all(only_blocks(f"{SEPARATOR}{text}") for text in texts[holding[0] + 1 :])
    )


def _text(part: Any) -> str:
    if isinstance(part, Mapping):
        said: Any = cast("Mapping[str, Any]", part).get("text")
        if said is not None and not isinstance(said, str):
            raise TypeError(f"the text of a part of content is a {type(said).__name__}")
    else:
        said = part if isinstance(part, str) else getattr(part, "text", None)
    return said if isinstance(said, str) else ""


def _with_text(part: Any, text: str) -> Any:
    if isinstance(part, str):
        return text
    if isinstance(part, BaseModel):
        return part.model_copy(update={"text": text})
    if isinstance(part, Mapping):
        return {**part, "text": text}
    changed = copy.copy(part)
    changed.text = text
    return changed
