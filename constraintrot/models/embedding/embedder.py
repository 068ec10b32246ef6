"""An embedder: texts to unit vectors, by a choice of models and backends.

::

    embed = embedder()                         # all-MiniLM-L6-v2 on ONNX Runtime
    embed(["Refunds need an approval."])       # float32, shape (1, 384), unit length
    embed.query(["May I refund this?"])        # the same, as a query

No backend is imported before an embedder is made; only a gate needs one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from constraintrot.errors import EmbeddingError
from constraintrot.models.embedding import backends
from constraintrot.models.embedding.backends import Encode
from constraintrot.models.embedding.model_files import DEFAULT, EmbeddingModel, Precision, find

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from constraintrot.models.downloads.sources import Sources

Embedder: TypeAlias = "Callable[[Sequence[str]], NDArray[np.float32]]"
"""A function from n texts to n vectors, shape (n, d)."""

Backend: TypeAlias = Literal["onnx", "sentence-transformers", "api"]


class TextEmbedder:
    """Texts to unit vectors; a call embeds searched texts, ``query`` embeds queries.

    Attributes:
        model: the row of Table 1.
        backend: the name of the backend.
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
        """Return vectors of searched texts, shape (n, dim).

        Raises:
            EmbeddingError: the backend failed, or gave no usable vector.
        """
        return self._vectors(texts, self.model.passage_prefix)

    def query(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return vectors of queries, shape (n, dim); some models use another prefix for them.

        Raises:
            EmbeddingError: the backend failed, or gave no usable vector.
        """
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
    (backends.require_onnx if chosen == "onnx" else backends.require_numpy)()
    # Not at the top: it imports the code that fetches weights.
    from constraintrot.models.embedding.model_files import folder_of

    if chosen == "api":
        return TextEmbedder(model, chosen, None, backends.api(model))
    if chosen == "sentence-transformers":
        return TextEmbedder(model, chosen, None, backends.sentence_transformers(model, path))
    if path is not None:
        return TextEmbedder(model, chosen, None, backends.onnx(model, Path(path), threads))
    exact: Precision = precision or ("int8" if name == DEFAULT else "full")
    folder = folder_of(model, exact, sources)
    return TextEmbedder(model, chosen, exact, backends.onnx(model, folder, threads))
