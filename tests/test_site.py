"""The documentation site: each page is in it, each link leads somewhere, and it builds offline."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from tests.small_install import ROOT

DOCS = ROOT / "docs"


def _tool() -> ModuleType:
    module = ModuleType("docs_site")
    module.__file__ = str(DOCS / "site.py")
    exec(compile((DOCS / "site.py").read_text(), module.__file__, "exec"), vars(module))
    return module


site = _tool()


class _Loader(yaml.SafeLoader):
    """Leaves out what names a function of Python."""


_Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)


def _settings() -> dict[str, Any]:
    settings: dict[str, Any] = yaml.load((ROOT / "mkdocs.yml").read_text(), Loader=_Loader)
    return settings


def _leaves(nav: object) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    parts: list[Any] = list(nav.values()) if isinstance(nav, dict) else list(nav)  # type: ignore[call-overload]
    return [leaf for part in parts for leaf in _leaves(part)]


def test_every_link_of_every_page_leads_somewhere(tmp_path: Path) -> None:
    assert site.prepare(tmp_path) == []
    prepared = (tmp_path / "contribute-a-result.md").read_text()
    home = "https://github.com/constraintrot/constraintrot"
    assert f"({home}/blob/main/results/report/report.md)" in prepared
    assert "](measurement.md#qualification)" in prepared
    for page in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "results/README.md"):
        assert list(site.broken(ROOT / page)) == [], page


def test_a_link_that_leads_nowhere_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "# A [title](x.md)\n[a](gone.md) [b](#a-title) [c](#nothing)\n```\n[d](code.md)\n```\n"
    )
    assert list(site.broken(page)) == [
        "page.md: x.md is not there",
        "page.md: gone.md is not there",
        "page.md: #nothing: no such heading",
    ]


def test_the_navigation_has_every_page_once() -> None:
    listed = _leaves(_settings()["nav"])
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert sorted(listed) == sorted(pages)
    home = (DOCS / "index.md").read_text()
    linked = set(re.findall(r"\]\(([\w/.-]+\.md)", home))
    reference = {page for page in pages if page.startswith("reference/")}
    assert pages - linked <= reference | {"index.md"}


def test_the_reference_names_what_is_there() -> None:
    named = [
        name
        for page in (DOCS / "reference").glob("*.md")
        for name in re.findall(r"^::: ([\w.]+)$", page.read_text(), re.MULTILINE)
    ]
    assert len(named) > 20
    for name in named:
        path = ROOT.joinpath(*name.split("."))
        found = path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()
        in_module = path.parent.with_suffix(".py")
        of_module = in_module.is_file() and f"class {path.name}" in in_module.read_text()
        assert found or of_module, name


@pytest.mark.soak
def test_the_site_builds_strictly_and_asks_nobody(tmp_path: Path) -> None:
    program = shutil.which("zensical", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip("!!! zensical is not installed: the documentation site is NOT BUILT")
    for name in ("docs", "constraintrot", "attacks", "defenses", "harnesses", "tasks"):
        (tmp_path / name).symlink_to(ROOT / name)
    settings = (ROOT / "mkdocs.yml").read_text()
    (tmp_path / "mkdocs.yml").write_text(settings)
    assert site.prepare(tmp_path / "build" / "docs") == []
    done = subprocess.run(
        [program, "build", "--strict", "-f", "mkdocs.yml"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    built = tmp_path / "build" / "site"
    pages = {path: path.read_text(encoding="utf-8") for path in built.rglob("*.html")}
    assert len(pages) > 40
    loaded = re.compile(r"<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)=\"(?:https?:)?//[^\"]*")
    for path, text in pages.items():
        assert not loaded.findall(text), path.name
        assert "api.github.com" not in text
    assert "constraintrot.grading.verdict.grade" in pages[built / "reference" / "grading.html"]
