"""Refuse to build from a checkout that lost its symbolic links: the tasks would be missing."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CheckLinks(BuildHookInterface[Any]):
    """Runs before any wheel (an editable one too) or source distribution is built."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Stop with one sentence where a link is not a folder."""
        package = Path(self.root) / "constraintrot"
        # By its path: the package itself refuses to be imported without its links.
        links = run_path(str(package / "_links.py"))
        for name in links["LINKED"]:
            if not (package / name).is_dir():
                self.app.abort(links["FAULT"].format(name))
