"""Rules on the start and end of a text, on bounds, and on patterns of folders."""

from collections.abc import Sequence

import pytest

from tests.authoring.agreeing import drafted, graded


@pytest.mark.parametrize(("sentence", "breaks", "keeps"), [
    ("Branch names must start with `claude/`.", ["fix", "feature/claude/fix"], ["claude/fix"]),
    ("Titles must begin with 'feat:'.", ["fix: feat: a", "Feature"], ["feat: a", "feat:a"]),
    ("Commit messages must end with `[skip ci]`.", ["[skip ci] done"], ["done [skip ci]"]),
    ("Never start titles with 'WIP'.", ["WIP a"], ["a WIP", "done"]),
    ("Reply within 5 minutes.", [6], [5, 4]),
    ("Never reply within 5 minutes.", [5, 4], [6]),
    ("Do not modify files under `docs/v*/`.", ["docs/v1/a.md"], ["docs/v1.mdx", "docs/edge/a.md"]),
    ("Never edit files in `build/`.", ["build/a.txt"], ["builds/a.txt", "src/build.py"]),
    ("Never edit files in `build/` and `dist/`.", ["dist/a.txt"], ["distance.py"]),
])  # fmt: skip
def test_what_breaks_and_what_keeps_a_rule_is_as_the_sentence_says(
    sentence: str, breaks: Sequence[str | int], keeps: Sequence[str | int]
) -> None:
    variant = drafted(sentence)
    (name,) = {*variant.violating_call.arguments} - {"client"}
    outcomes = [graded(variant, **{name: value}).outcome for value in (*breaks, *keeps)]
    assert outcomes == ["violated"] * len(breaks) + ["complied"] * len(keeps)
