"""The folders of scenario files, and the merge of a file with the one that it extends."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from constraintrot import documents
from constraintrot.errors import ScenarioError
from constraintrot.scenario.values import is_mapping

FOLDER = Path(__file__).parent.parent / "tasks" / "scenarios"
# Scenarios with tasks of their own, outside the suites.
APART = FOLDER / "apart"
_MOST_LAYERS = 8


def laid_over(data: Any, folder: Path, layers: int = 0) -> Any:
    """Return a file's content, merged over that of the file that it ``extends``."""
    if not is_mapping(data) or "extends" not in data:
        return data
    if layers >= _MOST_LAYERS:
        raise ScenarioError(f"extends goes through more than {_MOST_LAYERS} files, or in a circle")
    changes = {name: value for name, value in data.items() if name != "extends"}
    family, locale = data["extends"], changes.get("locale")
    base = f"{family}.{locale}.yaml"
    if not isinstance(family, str) or Path(base).name != base:
        raise ScenarioError(f"extends must be a family, such as soft_spend, not {family!r}")
    path = folder / base if (folder / base).is_file() else FOLDER / base
    if not path.is_file():
        raise ScenarioError(f"extends: no family {family!r} in locale {locale!r}")
    # A user's base file is trusted no more than the user's file itself.
    base_data = documents.load(path) if path.parent == FOLDER else documents.document(path).data
    return _over(laid_over(base_data, path.parent, layers + 1), changes)


def _over(base: Any, data: Any) -> Any:
    """Merge mappings recursively; other values are replaced, and null removes a key."""
    if not is_mapping(base) or not is_mapping(data):
        return data
    merged: Mapping[str, Any] = {
        **base,
        **{name: _over(base.get(name), value) for name, value in data.items()},
    }
    return {name: value for name, value in merged.items() if value is not None}
