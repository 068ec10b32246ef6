"""The embedding models, by name (Table 1 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from constraintrot.errors import EmbeddingError

Precision: TypeAlias = Literal["int8", "full"]

DEFAULT: Final = "all-MiniLM-L6-v2"


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """A row of Table 1.

    Attributes:
        name: as the paper names it.
        megabytes: on disk; None for an API.
        max_tokens: of a text; the rest of it is not represented.
        dim: of a vector.
        kind: in this process, or a network call that needs a key.
        repo: the publisher's repository on the hub.
        pooling: how token vectors become one.
        query_prefix: what the model expects before a query.
        passage_prefix: what it expects before a text that is searched.
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
    """The model of that name.

    Raises:
        EmbeddingError: there is none; the message lists those of the table.
    """
    for model in MODELS:
        if model.name == name:
            return model
    known = ", ".join(model.name for model in MODELS)
    raise EmbeddingError(f"unknown embedding model {name!r}; known: {known}")
