"""A test that stands still fails, wherever it stands."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress
from itertools import count

import pytest
from inspect_ai.model import get_model

from tests.limit import StoodStill, limited
from tests.stub_openai import serving


def test_a_lock_that_nobody_releases_is_a_failure() -> None:
    with pytest.raises(StoodStill, match=r"one stood still for 0\.05 s"), limited("one", 0.05):
        threading.Event().wait(20)


def test_an_event_loop_with_nothing_to_do_is_a_failure() -> None:
    with pytest.raises(StoodStill), limited("one", 0.05):
        asyncio.run(asyncio.sleep(20))


def test_what_handles_errors_does_not_handle_it() -> None:
    with pytest.raises(StoodStill), limited("one", 0.05), suppress(Exception):
        time.sleep(20)


def test_what_computes_goes_on() -> None:
    with limited("one", 0.05, spent=count().__next__):
        time.sleep(0.3)


def test_what_ends_in_time_is_left_alone() -> None:
    with limited("one", 0.05):
        pass
    time.sleep(0.1)


def test_a_model_asks_the_stub_that_serves_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLAMA_API_KEY", "none")
    for _ in range(2):
        with serving() as stub:
            monkeypatch.setenv("LLAMA_BASE_URL", stub.url)
            assert get_model("openai-api/llama/one").api.base_url == stub.url
