"""The backends that compute embeddings, each imported at first use."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeAlias

from constraintrot.errors import EmbeddingError, MissingExtraError
from constraintrot.extras import installed, require
from constraintrot.models.embedding.model_files import EmbeddingModel

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
    """Return ONNX Runtime through fastembed, for a folder with ``ONNX_FILES``.

    Raises:
        EmbeddingError: a file is missing or cannot be loaded.
    """
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
    """Return the publisher's own library, on PyTorch.

    Args:
        model: the model; its ``repo`` is the name on the hub.
        path: a local folder of the model, or None for the hub.

    Raises:
        EmbeddingError: it is not installed, or the model cannot be loaded.
    """
    library = _imported("sentence_transformers", "sentence-transformers")
    try:
        loaded = library.SentenceTransformer(str(path or model.repo), device="cpu")
    except Exception as error:
        raise EmbeddingError(f"{path or model.repo} cannot be loaded: {error}") from error
    loaded.max_seq_length = model.max_tokens
    return lambda texts: loaded.encode(texts, show_progress_bar=False)


def api(model: EmbeddingModel) -> Encode:
    """Return a provider's embedding API through litellm; the key is in the provider's variable.

    Raises:
        EmbeddingError: litellm is not installed.
    """
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
