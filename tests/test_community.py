"""The pages for contributors and for who cites us agree with the package."""

import pkgutil
import re
import tomllib

import yaml
from inspect_ai._util.registry import registry_info

from constraintrot import _registry
from tests.small_install import ROOT, project

PAGES = ("CONTRIBUTING.md", "CODE_OF_CONDUCT.md")


def test_the_citation_is_of_this_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= cited.keys()
    assert (cited["version"], cited["license"]) == (project["version"], project["license"])
    assert cited["authors"] == project["authors"]


def test_links_within_the_repository_lead_somewhere() -> None:
    for page in PAGES:
        for link in re.findall(r"\]\(([^)]+)\)", (ROOT / page).read_text(encoding="utf-8")):
            if link.startswith("https://"):
                continue
            path, _, anchor = link.partition("#")
            text = (ROOT / path).read_text(encoding="utf-8")
            titles = {
                re.sub(r"[^\w -]", "", title.casefold()).strip().replace(" ", "-")
                for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
            }
            assert not anchor or anchor in titles, link


def test_the_changelog_says_where_a_moved_name_is_now() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    table = text.partition("### What moved")[2].partition("### Changes")[0]
    rooms = {path.name for path in (ROOT / "constraintrot").iterdir() if path.is_dir()}
    now = "".join(row.split(" | ")[1] for row in table.splitlines() if row.startswith("| `"))
    named = set(re.findall(r"`(?:constraintrot\.)?((?:\w+\.)+\w+)", now))
    inside = {name for name in named if name.partition(".")[0] in rooms}
    assert len(inside) > 50
    assert sorted(name for name in inside if not _importable(f"constraintrot.{name}")) == []


def _importable(name: str) -> bool:
    """Whether a name is a module, or something in one."""
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


def test_what_inspect_evals_lists_is_what_is_registered() -> None:
    listed = yaml.safe_load((ROOT / "tasks/eval.yaml").read_text(encoding="utf-8"))
    registered = {
        name for name in _registry.__all__ if registry_info(getattr(_registry, name)).type == "task"
    }
    names = [task["name"] for task in listed["tasks"]]
    assert sorted(names) == sorted(registered)
    entry = yaml.safe_load((ROOT / "register/constraintrot/eval.yaml").read_text(encoding="utf-8"))
    assert entry["source"]["repository_url"] == project()["urls"]["Homepage"]
    assert (entry["title"], entry["description"]) == (listed["title"], listed["description"])
    assert 0 < len(entry["tasks"]) <= 10
    for task in entry["tasks"]:
        assert task["name"] in registered
        source = (ROOT / task["task_path"]).read_text(encoding="utf-8")
        assert f"@task\ndef {task['name']}(" in source
