"""The pages for contributors and for who cites us agree with the package."""

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
