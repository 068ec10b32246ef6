"""What leaves this machine without its secrets: arguments, settings, texts."""

import json
import time
from typing import Any

import pytest

from constraintrot.redaction import MASK, Masker, is_secret_name, redacted

HIDDEN = "hunter2hunter2"


@pytest.mark.parametrize(
    "given",
    [
        {"api_key": HIDDEN},
        {"default_headers": {"Authorization": f"Bearer {HIDDEN}"}},
        {"default_headers": {"X-Anything": HIDDEN}},
        {"extra_body": {"api_key": HIDDEN}},
        {"extra_body": {"one": [{"two": {"sasToken": HIDDEN}}]}},
        {"base_url": f"https://sam:{HIDDEN}@models.example/v1"},
        {"base_url": f"https://models.example/v1?sv=1&sig={HIDDEN}"},
        {"base_url": f"https://models.example/v1?access_token={HIDDEN}"},
        {"sas": HIDDEN},
        {"pat": HIDDEN},
        {"GITHUB_PAT": HIDDEN},
        {"bearer": HIDDEN},
        {"x-api-key": HIDDEN},
        {"AZUREAI_OPENAI_API_KEY": HIDDEN},
        {"cookies": [HIDDEN, {"session": HIDDEN}]},
        {"credentials": json.dumps({"a": HIDDEN})},
        {"client_args": f'{{"api_key": "{HIDDEN}"}}'},
        {"anything": "Zx8Kq2Vw9Lm4Rt7Yp3Nd6Hb"},
        {"password": HIDDEN.encode()},
        {f"token={HIDDEN}": 1},
    ],
)
def test_secrets_are_masked_by_name_and_shape_at_any_depth(given: dict[str, Any]) -> None:
    shown = json.dumps(redacted(given))
    assert HIDDEN not in shown
    assert "Zx8Kq2" not in shown
    assert MASK in shown


def test_what_is_no_secret_stays() -> None:
    given = {
        "max_tokens": 400,
        "context_tokens": 60_000,
        "reasoning_tokens": "auto",
        "compactor": "summarize",
        "keyword": "deploy",
        "model_path": "/models/Qwen2.5-Coder-1.5B-Instruct-Q4_K_M.gguf",
        "revision": "a2f4c1d9e8b70615a2f4c1d9e8b70615a2f4c1d9",
        "url": "http://127.0.0.1:8000/v1?n=2",
        "token_limit": 9,
        "stop": ["</s>", None, True, 0.5],
        "families": "soft_email,hard_secret",
    }
    assert redacted(given) == given


def test_a_structure_that_holds_itself_ends() -> None:
    loop: dict[str, Any] = {}
    loop["self"] = loop
    assert MASK in json.dumps(redacted(loop))


@pytest.mark.parametrize(
    ("text", "core"),
    [
        ("api key: q1w2e3r4t5y6", "q1w2e3"),
        ("The API key is q1w2e3r4t5y6u7.", "q1w2e3"),
        ("access key = q1w2e3r4t5y6", "q1w2e3"),
        ("passphrase: correct-horse", "correct-horse"),
        ('{"Authorization": "q1w2e3r4t5y6"}', "q1w2e3"),
        ("Cookie: session=q1w2e3r4", "q1w2e3"),
        (f"See https://x.test/?api_key={HIDDEN}#top.", HIDDEN),
        ("x" * 3_000 + " xoxb-123456789012-abcdefABCDEF", "abcdefABC"),
    ],
)
def test_secrets_of_texts(text: str, core: str) -> None:
    for library in (True, False):
        shown = Masker(library=library)(text)
        assert core not in shown
        assert MASK in shown
        assert Masker(library=library)(shown) == shown


def test_prose_about_secrets_stays() -> None:
    for text in (
        "Never print an api key, a token or a password.",
        "The key is to be kept in the vault.",
        "Authorization: see the handbook.",
    ):
        assert Masker(library=False)(text) == text


def test_names() -> None:
    assert all(map(is_secret_name, ["key", "apiKey", "PRIVATE_KEY", "Set-Cookie", "hf_token"]))
    assert not any(map(is_secret_name, ["", "keys_of", "monkey", "tokens", "author", "passed"]))


def test_a_hostile_text_is_masked_in_linear_time() -> None:
    begun = time.process_time()
    for text in ("api_" * 50_000, "?a=" * 50_000, "password" + " " * 200_000, "key:" * 50_000):
        Masker(library=False)(text)
    assert time.process_time() - begun < 5
    begun = time.process_time()
    for text in ("a" * 200_000, "-eyJ" * 50_000):
        redacted({"prompt": text})
    assert time.process_time() - begun < 5


def test_a_long_run_is_a_secret_if_it_has_letters_of_both_cases_and_digits() -> None:
    for text, secret in {
        "aB3" * 7: True, "0" * 20 + "aB": True, "ab3" * 7: False, "AB3" * 7: False,
        "aBc" * 7: False, "aB3" * 6: False, "x-" + "aB3" * 7 + "-y": True,
    }.items():  # fmt: skip
        assert (MASK in str(redacted({"note": text}))) is secret, text
