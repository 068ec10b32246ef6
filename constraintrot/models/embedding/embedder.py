"""An embedder: texts to unit vectors, by a choice of models and

::

    embed = embedder()                         # all-MiniLM-L6-v2 on ONNX Runtime
    embed(["Refunds need an approval."])       # float32, shape (1, 384), unit length
    embed.query(["May I refund this?"])        # the same, as a query

No backend is imported before an embedder is made; only a gate needs one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from constraintrot.errors import EmbeddingError, MissingExtraError
from constraintrot.extras import installed, require
from constraintrot.models.embedding.model_files import (
    DEFAULT,
    EmbeddingModel,
    Precision,
    find,
    folder_of,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from constraintrot.models.downloads import Sources


Encode: TypeAlias = Callable[[list[str]], Any]
"""A backend: a function from texts to vectors that NumPy can hold, one per text."""

ONNX_FILES: Final = ("model.onnx", "tokenizer.json", "tokenizer_config.json")


def require_onnx() -> None:
    """Raise ``EmbeddingError`` if fastembed is missing, before anything is downloaded for it."""
    try:
        require("the default embedder", "embed")
    except MissingExtraError as error:
        raise EmbeddingError(str(error)) from None


def require_numpy() -> None:
    """Raise ``EmbeddingError`` if NumPy is missing, which all vectors need."""
    # Not the whole extra: the user's own embedder needs no fastembed.
    if not installed("numpy"):
        raise EmbeddingError("embeddings need numpy: pip install 'constraintrot[embed]'")


def onnx(model: EmbeddingModel, folder: Path, threads: int) -> Encode:
    """Return ONNX Runtime through fastembed, for a folder with ``ONNX_FILES``."""
    if missing := [name for name in ONNX_FILES if not (folder / name).is_file()]:
        raise EmbeddingError(f"{folder} lacks {', '.join(missing)}, which {model.name} needs")
    # Untyped on purpose: their own types are too loose for a strict check.
    fastembed: Any = import_module("fastembed")
    try:
        loaded = fastembed.TextEmbedding(
            _registered(model, fastembed),
            specific_model_path=str(folder),
            threads=threads,
            providers=["CPUExecutionProvider"],
        )
    except Exception as error:  # ONNX Runtime's own exceptions have no common type.
        raise EmbeddingError(f"{folder} cannot be loaded as {model.name}: {error}") from error
    tokenizer = loaded.model.tokenizer
    tokenizer.enable_truncation(max_length=model.max_tokens)
    # A quoted [SEP] or [PAD] is text.
    tokenizer.encode_special_tokens = True
    # One by one: padding to the longest costs more than a batch saves on few cores.
    return lambda texts: list(loaded.embed(texts, batch_size=1))


def sentence_transformers(model: EmbeddingModel, path: str | Path | None) -> Encode:
    """Return the publisher's own library, on PyTorch."""
    library = _imported("sentence_transformers", "sentence-transformers")
    try:
        loaded = library.SentenceTransformer(str(path or model.repo), device="cpu")
    except Exception as error:
        raise EmbeddingError(f"{path or model.repo} cannot be loaded: {error}") from error
    loaded.max_seq_length = model.max_tokens
    return lambda texts: loaded.encode(texts, show_progress_bar=False)


def api(model: EmbeddingModel) -> Encode:
    """Return a provider's embedding API through litellm; the key is in the provider's variable."""
    library = _imported("litellm", "litellm")

    def encode(texts: list[str]) -> list[Any]:
        answer = library.embedding(model=model.name, input=texts)
        # A provider need not keep the order.
        return [item["embedding"] for item in sorted(answer.data, key=lambda item: item["index"])]

    return encode


def _imported(module: str, distribution: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise EmbeddingError(
            f"this embedding model needs {distribution}: pip install {distribution}"
        ) from error


def _registered(model: EmbeddingModel, fastembed: Any) -> str:
    """Register a model's pooling and size with fastembed, and return its name there."""
    name = f"constraintrot/{model.name}"
    known = {entry["model"].lower() for entry in fastembed.TextEmbedding.list_supported_models()}
    if name.lower() not in known:
        described: Any = import_module("fastembed.common.model_description")
        fastembed.TextEmbedding.add_custom_model(
            model=name,
            pooling=described.PoolingType[model.pooling.upper()],
            normalization=True,
            sources=described.ModelSource(hf=model.repo),
            dim=model.dim,
            model_file="model.onnx",
        )
    return name


Embedder: TypeAlias = "Callable[[Sequence[str]], NDArray[np.float32]]"
"""A function from n texts to n vectors, shape (n, d)."""

Backend: TypeAlias = Literal["onnx", "sentence-transformers", "api"]


class TextEmbedder:
    """Texts to unit vectors; a call embeds searched texts, ``query`` embeds queries.

    Attributes:
        precision: precision of the weights; None if the backend decides.
    """

    def __init__(
        self, model: EmbeddingModel, backend: Backend, precision: Precision | None, encode: Encode
    ) -> None:
        self.model, self.backend, self.precision = model, backend, precision
        self._encode = encode

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.model.name} {self.backend} {self.precision or ''}>"

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return vectors of searched texts, shape (n, dim)."""
        return self._vectors(texts, self.model.passage_prefix)

    def query(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return vectors of queries, shape (n, dim); some models use another prefix for them."""
        return self._vectors(texts, self.model.query_prefix)

    def _vectors(self, texts: Sequence[str], prefix: str) -> NDArray[np.float32]:
        import numpy as np

        if isinstance(texts, str):
            raise EmbeddingError("an embedder takes a list of texts, not one string")
        shape = (len(texts), self.model.dim)
        if not texts:
            return np.zeros(shape, np.float32)
        try:
            raw = self._encode([prefix + text for text in texts])
            vectors = np.array(raw, dtype=np.float32)
        except Exception as error:  # Whatever a backend raises, it is one failure to the caller.
            raise EmbeddingError(
                f"{self.model.name} failed: {type(error).__name__}: {error}"
            ) from error
        if vectors.shape != shape or not np.isfinite(vectors).all():
            raise EmbeddingError(
                f"{self.model.name} gave vectors of shape {vectors.shape}, expected {shape}, finite"
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not lengths.all():
            raise EmbeddingError(f"{self.model.name} gave a vector of length 0, which has no angle")
        return cast("NDArray[np.float32]", vectors / lengths)


def embedder(
    name: str = DEFAULT,
    *,
    backend: Backend | None = None,
    precision: Precision | None = None,
    path: str | Path | None = None,
    threads: int = 1,
    sources: Sources | None = None,
) -> TextEmbedder:
    """Return an embedder of a model of Table 1, loaded.

    Args:
        name: the model.
        backend: ``onnx`` (default) and ``sentence-transformers`` for local models;
            ``api`` for the others.
        precision: precision of ONNX weights. all-MiniLM-L6-v2 is ``int8`` by default: a quarter
            of the bytes and of the time, and the same vectors on every machine. The other
            models are ``full`` only.
        path: a folder with the model, which is not verified: ``ONNX_FILES``, or a
            sentence-transformers model.
        threads: threads of ONNX Runtime. One is fastest on a small busy machine.
        sources: access to network and disk; tests give a fake.

    Raises:
        EmbeddingError: there is no such model or combination, the backend is not
            installed, or the weights are wrong or cannot be fetched.
    """
    model = find(name)
    chosen: Backend = backend or ("api" if model.kind == "api" else "onnx")
    if chosen not in ("onnx", "sentence-transformers", "api"):
        raise EmbeddingError(f"unknown backend {chosen!r}; known: onnx, sentence-transformers, api")
    if (chosen == "api") != (model.kind == "api"):
        raise EmbeddingError(f"{name} is a model of kind {model.kind}, which {chosen} cannot run")
    if precision is not None and (chosen != "onnx" or path is not None):
        raise EmbeddingError("precision is a choice of the ONNX weights that are fetched")
    (require_onnx if chosen == "onnx" else require_numpy)()
    if chosen == "api":
        return TextEmbedder(model, chosen, None, api(model))
    if chosen == "sentence-transformers":
        return TextEmbedder(model, chosen, None, sentence_transformers(model, path))
    if path is not None:
        return TextEmbedder(model, chosen, None, onnx(model, Path(path), threads))
    exact: Precision = precision or ("int8" if name == DEFAULT else "full")
    folder = folder_of(model, exact, sources)
    return TextEmbedder(model, chosen, exact, onnx(model, folder, threads))
