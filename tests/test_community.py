"""The pages for contributors and for who cites us agree with the package."""

from __future__ import annotations

import re
import tomllib

import yaml

from tests.small_install import ROOT

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
