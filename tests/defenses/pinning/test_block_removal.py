"""Taking frames out of a text that holds pieces of them."""

from __future__ import annotations

import pytest

from constraintrot.defenses.pinning.block_removal import cut_frames

HEADING = "Standing policies:"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"Before.\n\n{HEADING}\n~~~ a\nOne.\n~~~\n", "Before.\n"),
        (f"{HEADING}\n~~~ a\nOne.\n~~~", ""),
        (f"{HEADING}\n~~~ a\nOpen.\n{HEADING}\n~~~~ b\nTwo.\n~~~~\nAfter.", None),
        (f"{HEADING}\n~~~ a\nOpen.", f"{HEADING}\n~~~ a\nOpen."),
        (f"So, {HEADING}\n~~~ a\nOne.\n~~~\n", f"So, {HEADING}\n~~~ a\nOne.\n~~~\n"),
    ],
)
def test_what_is_cut(text: str, left: str | None) -> None:
    expected = left if left is not None else f"{HEADING}\n~~~ a\nOpen.\nAfter."
    assert cut_frames(text, HEADING) == expected


def test_a_text_of_openings_is_searched_once_for_each_fence() -> None:
    searched: list[int] = []

    class Text(str):
        def find(self, *given: object) -> int:
            searched.append(str(given[0]).startswith("\n~"))
            return super().find(*given)  # type: ignore[arg-type]

    text = Text(f"{HEADING}\n~~~ a\n" * 50)
    assert cut_frames(text, HEADING) == text
    assert sum(searched) == 1
