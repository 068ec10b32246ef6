"""YAML files that a person writes, read into declared types."""

from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from constraintrot.documents import document, yaml_data
from constraintrot.errors import ConstraintRotError

T = TypeVar("T")
# Most faults that one message lists.
_MOST_FAULTS = 5


def load(path: Path | Traversable, kind: TypeAdapter[T], said: str = ":") -> T:
    """Read and validate a file.

    ``said`` are the words between the path and the faults of a file that does not validate.
    """
    try:
        if isinstance(path, Path):
            data = document(path, error=ConstraintRotError).data
        else:  # in a package that is not a folder, such as a zip
            data = yaml_data(path.read_text(encoding="utf-8"), str(path), ConstraintRotError)
        return kind.validate_python(data)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, one['loc']))}: {one['msg']}"
            for one in error.errors()[:_MOST_FAULTS]
        )
        raise ConstraintRotError(f"{path}{said} {faults}") from error
