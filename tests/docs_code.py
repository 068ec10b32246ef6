"""The python code of a docs page, run as one program."""

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

DOCS = Path(__file__).parent.parent / "docs"
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page: str) -> list[tuple[int, str]]:
    """A page's python blocks, in order.

    Args:
        page: its path below ``docs/``.

    Returns:
        Of each block the page's line before its first, and its code.
    """
    text = (DOCS / page).read_text()
    return [(text.count("\n", 0, found.start(1)), found[1]) for found in _BLOCK.finditer(text)]


def run_page(page: str) -> dict[str, Any]:
    """Run a page's python blocks one after the other, as a reader would paste them.

    What fails is shown with the page's own line.

    Args:
        page: its path below ``docs/``.

    Returns:
        The names that the blocks defined.

    Raises:
        AssertionError: the page has no python code.
    """
    found = blocks(page)
    assert found, f"docs/{page} shows no python code"
    # Frameworks look up a state's annotations in the module that defined it.
    module = ModuleType(f"docs_{re.sub(r'[^a-z0-9]+', '_', page.lower())}")
    sys.modules[module.__name__] = module
    try:
        for line, code in found:
            compiled = compile("\n" * line + code, str(DOCS / page), "exec", dont_inherit=True)
            exec(compiled, vars(module))
    finally:
        del sys.modules[module.__name__]
    return vars(module)
