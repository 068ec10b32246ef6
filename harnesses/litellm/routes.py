"""The proxy's routes that a client may call, and the facts known of one request.

LiteLLM calls guardrails on a few routes only: its native Gemini routes, its pass-through
routes and its websockets reach a model without one. So a route is refused before LiteLLM sees
it, unless it is known to be pinned or to reach no language model.
"""

import json
import re
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Protocol, TypeAlias
from urllib.parse import parse_qsl

from constraintrot.errors import ParameterError

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

# LiteLLM's paths, with `{x}` for one segment and `{x:path}` for several.
_PINNED = """
    /chat/completions /v1/chat/completions /openai/deployments/{model:path}/chat/completions
    /engines/{model:path}/chat/completions /responses /v1/responses /openai/v1/responses
    /v1/messages
"""
# Paths that reach no language model, or on which it writes nothing.
_NO_TEXT = """
    /embeddings /v1/embeddings /openai/deployments/{model:path}/embeddings
    /engines/{model:path}/embeddings /images/generations /v1/images/generations
    /openai/deployments/{model:path}/images/generations /images/edits /v1/images/edits
    /openai/deployments/{model:path}/images/edits /moderations /v1/moderations
    /audio/transcriptions /v1/audio/transcriptions /rerank /v1/rerank /v2/rerank
    /v1/messages/count_tokens /utils/token_counter /api/event_logging/batch
    /responses/{id}/cancel /v1/responses/{id}/cancel /openai/v1/responses/{id}/cancel
"""
_READ = """
    / /models /v1/models /models/{id} /v1/models/{id} /v2/model/info /v1/model/info /routes
    /openapi.json /docs/oauth2-redirect /redoc /robots.txt /metrics /metrics/ /test /get_logo_url
    /get_image /get_favicon /utils/supported_openai_params /settings /active/callbacks
    /responses/{id} /v1/responses/{id} /openai/v1/responses/{id}
    /responses/{id}/input_items /v1/responses/{id}/input_items /openai/v1/responses/{id}/input_items
    /health /health/liveliness /health/liveness /health/readiness /health/services
    /health/history /health/latest /health/shared-status /health/license /health/backlog
    /ui /ui/{x:path} /_next/{x:path} /litellm-asset-prefix/{x:path} /swagger/{x:path}
    /.well-known/litellm-ui-config /litellm/.well-known/litellm-ui-config
"""
_DELETED = "/responses/{id} /v1/responses/{id} /openai/v1/responses/{id}"
# LiteLLM's administration; it never calls a model with a client's text.
_MANAGED = frozenset(
    [
        "access_group",
        "alerting",
        "audit",
        "budget",
        "cache",
        "callbacks",
        "config",
        "credentials",
        "customer",
        "debug",
        "end_user",
        "fallback",
        "global",
        "in_product_nudges",
        "invitation",
        "jwt",
        "key",
        "login",
        "model",
        "model_group",
        "model_hub",
        "onboarding",
        "organization",
        "project",
        "public",
        "router",
        "scim",
        "spend",
        "sso",
        "tag",
        "team",
        "user",
    ]
)
_MANAGED_ROUTES = frozenset(
    [
        "/v2/key/info",
        "/v2/team/list",
        "/v2/user/info",
        "/v2/login",
        "/v3/login",
        "/v3/login/exchange",
        "/v2/guardrails/list",
        "/guardrails/list",
        "/get/ui_settings",
        "/get/ui_theme_settings",
        "/get/config/callbacks",
    ]
)
# Azure's API version, and Claude Code's addition.
_QUERY = frozenset(["api-version", "beta"])
_SEGMENT = re.compile(r"\{\w+(:path)?\}")


def _pattern(routes: str) -> re.Pattern[str]:
    def written(route: str) -> str:
        parts = re.split(r"(\{[^}]+\})", route)
        return "".join(
            (".+" if ":path" in part else "[^/:]+") if _SEGMENT.fullmatch(part) else re.escape(part)
            for part in parts
        )

    return re.compile("|".join(written(route) for route in routes.split()))


_ALLOWED = {
    "POST": _pattern(_PINNED + _NO_TEXT),
    "GET": _pattern(_READ),
    "HEAD": _pattern(_READ),
    "DELETE": _pattern(_DELETED),
}


@lru_cache(maxsize=1024)
def allowed(method: str, path: str) -> bool:
    """Return whether a route is known to be pinned or to reach no language model."""
    if method == "OPTIONS":  # sent by browsers in advance; never handed on
        return True
    known = _ALLOWED.get(method)
    if known is not None and known.fullmatch(path):
        return True
    segments = path.split("/")[1:]
    # `/{provider}/v1/batches` would take any word for a provider.
    managed = bool(segments) and segments[0] in _MANAGED and "v1" not in segments[1:]
    return managed or path in _MANAGED_ROUTES


def named(routes: Any) -> tuple[str, ...]:
    """Check and return the setting ``routes``, which lets routes through."""
    if routes is None:
        return ()
    listed = list(routes) if isinstance(routes, Sequence) and not isinstance(routes, str) else None
    if listed is None or not all(isinstance(one, str) and one.startswith("/") for one in listed):
        raise ParameterError('routes is a list of paths or patterns, as ["/v1/completions"]')
    return tuple(listed)


@dataclass
class Passage:
    """The guardrails' facts of one HTTP request, which clients cannot change.

    Attributes:
        let_through: whether the request's route was let through by name.
        stopped: whether a call for it was stopped because it lacked the pins.
        as_user: whether the pins were sent in the user role, to a model without system messages.
        skipped: by a guardrail's id, the rule by which it skipped the request.
        blocks: by a guardrail's id, the block that it put in.
    """

    let_through: bool = False
    stopped: bool = False
    as_user: bool = False

    def __post_init__(self) -> None:
        self.skipped: dict[int, str] = {}
        self.blocks: dict[int, str] = {}


_PASSAGE: ContextVar[Passage | None] = ContextVar("constraintrot_pins", default=None)


def passage() -> Passage | None:
    """Return the facts of the current request; None outside of the proxy."""
    return _PASSAGE.get()


@contextmanager
def passing(through: Passage) -> Iterator[Passage]:
    """Set the facts of the current request."""
    token = _PASSAGE.set(through)
    try:
        yield through
    finally:
        _PASSAGE.reset(token)


class Guard(Protocol):
    """The gate's view of a guardrail."""

    @property
    def routes(self) -> tuple[str, ...]: ...


class RouteGate:
    """The proxy without the routes that are not known to be pinned."""

    def __init__(self, app: App, guards: Callable[[], Iterable[Guard]]) -> None:
        self.app = app
        self.guards = guards

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        path = _path(scope)
        guards = list(self.guards())
        through = bool(guards) and all(
            any(fnmatchcase(path, pattern) for pattern in guard.routes) for guard in guards
        )
        if not guards:
            await _refuse(
                scope, send, 503, "the guardrail that pins is no longer in LiteLLM's list"
            )
        elif not through and (name := _unknown_query(scope, path)):
            why = f"{name!r} in the query could change what is pinned; put it into the body"
            await _refuse(scope, send, 403, why)
        elif through or (scope["type"] == "http" and allowed(scope["method"], path)):
            with passing(Passage(let_through=through)):
                await self.app(scope, receive, send)
        else:
            why = f"{path} is not known to be pinned; the operator can let it through with `routes`"
            await _refuse(scope, send, 403, why)


def install(guards: Callable[[], Iterable[Guard]]) -> None:
    """Put the gate before the proxy once, if this process is one."""
    module = sys.modules.get("litellm.proxy.proxy_server")
    app = getattr(module, "app", None)
    if app is None or getattr(app.state, "constraintrot_gate", False):
        return
    app.state.constraintrot_gate = True
    if app.middleware_stack is None:
        app.add_middleware(RouteGate, guards=guards)
    else:
        # The proxy reads its configuration during its start, too late for `add_middleware`.
        app.middleware_stack = RouteGate(app.middleware_stack, guards)


def _unknown_query(scope: Scope, path: str) -> str | None:
    """Return an unknown query name on a model's route: LiteLLM would prefer it to the body's."""
    if scope.get("method") != "POST" or not _ALLOWED["POST"].fullmatch(path):
        return None
    given = parse_qsl(bytes(scope.get("query_string") or b"").decode("latin-1"), True)
    return next((name for name, _ in given if name not in _QUERY), None)


def _path(scope: Scope) -> str:
    path, prefix = str(scope["path"]), str(scope.get("root_path") or "").rstrip("/")
    if prefix and (path == prefix or path.startswith(f"{prefix}/")):
        return path[len(prefix) :] or "/"
    return path


async def _refuse(scope: Scope, send: Send, status: int, why: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": "not pinned"})
        return
    error = {"message": f"constraintrot pins: {why}", "type": "not_pinned", "code": str(status)}
    body = json.dumps({"error": error}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
