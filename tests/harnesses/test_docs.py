"""The frameworks' pages and the examples of their modules' docstrings run as they are written."""

import doctest
import logging
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from constraintrot import harnesses
from constraintrot.harnesses import HARNESSES
from tests.docs_code import DOCS, blocks, run_page
from tests.harnesses.modes import FRAMEWORKS
from tests.helpers import soaked
from tests.small_install import blocked, python

FOLDER = Path(harnesses.__file__).parent
EXAMPLES = sorted(
    ".".join(path.relative_to(FOLDER).with_suffix("").parts)
    for path in FOLDER.rglob("*.py")
    if ">>> " in path.read_text()
)
SHOWS = "Standing policies (pinned, word for word):"
# What each page's programs print.
PAGES = {
    "agent-framework": ["example.org"],
    "autogen": ["False\nTrue\n"],
    "deepagents": [SHOWS],
    "google-adk": ["example.org"],
    "inspect": [],
    "langchain": [SHOWS],
    "langgraph": ["injected (", SHOWS],
    "langmem": ["injected (", SHOWS],
    "litellm": [SHOWS],
    "openai-agents": ["False\nTrue\n"],
}


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inspect's mock model counts tokens with a vocabulary that is fetched; LiteLLM ships it."""
    litellm = find_spec("litellm")
    assert litellm is not None
    (folder,) = litellm.submodule_search_locations or [""]
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", f"{folder}/litellm_core_utils/tokenizers")


@pytest.mark.parametrize("module", EXAMPLES)
def test_the_docstring_s_example_runs(module: str) -> None:
    found = doctest.testmod(import_module(f"constraintrot.harnesses.{module}"))
    assert found.attempted
    assert not found.failed


def test_every_page_is_tried() -> None:
    assert sorted(PAGES) == sorted(path.stem for path in (DOCS / "frameworks").glob("*.md"))


# Each thing that is new in ADK says so once.
@pytest.mark.filterwarnings("ignore:.EXPERIMENTAL.")
@pytest.mark.parametrize("page", PAGES)
def test_the_page_s_code_runs(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    # Before the page imports LangMem: what that imports itself is deprecated.
    assert import_module("constraintrot.harnesses.langmem.short_term")
    log = logging.getLogger("constraintrot.pins")
    level = log.level
    try:
        run_page(f"frameworks/{page}.md")
    finally:
        log.setLevel(level)
    printed = capsys.readouterr().out
    assert all(shown in printed for shown in PAGES[page])


@pytest.mark.parametrize("page", soaked(PAGES, ["langgraph"]))
def test_the_page_s_code_needs_no_more_than_the_extra_that_it_names(page: str) -> None:
    extra, *_ = re.findall(r"'constraintrot\[([a-z-]+)\]'", text(page))
    beside = re.findall(r"pip install '([a-z]+>=[0-9.]+)'", text(page))
    code = "\n".join(code for _, code in blocks(f"frameworks/{page}.md"))
    done = python(code, modules=blocked(extra, beside=beside))
    assert done.returncode == 0, done.stderr
    assert all(shown in done.stdout for shown in PAGES[page])


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_the_page_says_what_to_install_to_measure(name: str) -> None:
    extra = HARNESSES.get(name).extra
    page = text("inspect" if name == "inspect_react" else extra)
    _, _, measured = page.partition("## Measure it")
    install, *_ = re.findall(r"pip install '(constraintrot\[.*\])'", measured)
    assert install == f"constraintrot[{','.join(filter(None, ['eval', extra]))}]"
    assert f"-T harness={name}" in measured


def text(page: str) -> str:
    """Return a framework's page."""
    return (DOCS / "frameworks" / f"{page}.md").read_text()
