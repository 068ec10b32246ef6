"""The proxy's routes that a client may call, and the facts known of one request.

Most guardrails are asked on a few routes only: LiteLLM's native Gemini routes, its
pass-through routes and its websockets reach a model without one. So what is not known
to be pinned, or to reach no language model, is refused before LiteLLM sees it.
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

# An address of LiteLLM's, `{x}` for one segment and `{x:path}` for several.
_PINNED = """
    /chat/completions /v1/chat/completions /openai/deployments/{model:path}/chat/completions
    /engines/{model:path}/chat/completions /responses /v1/responses /openai/v1/responses
    /v1/messages
"""
# They reach no language model, or have it write nothing.
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
# What LiteLLM lets its administrators manage. None of it calls a model with a client's words.
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
# The version of Azure's API, and what Claude Code adds.
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
    """Return whether a route is known to be pinned or to reach no language model.

    Args:
        method: of the HTTP request.
        path: as the server decoded it, without the server's own prefix.
    """
    if method == "OPTIONS":  # asked by browsers in advance; never handed on
        return True
    known = _ALLOWED.get(method)
    if known is not None and known.fullmatch(path):
        return True
    segments = path.split("/")[1:]
    # `/{provider}/v1/batches` would take any word for a provider.
    managed = bool(segments) and segments[0] in _MANAGED and "v1" not in segments[1:]
    return managed or path in _MANAGED_ROUTES


def named(routes: Any) -> tuple[str, ...]:
    """The setting that lets routes through, checked.

    Raises:
        ParameterError: it is not a list of patterns of paths.
    """
    if routes is None:
        return ()
    listed = list(routes) if isinstance(routes, Sequence) and not isinstance(routes, str) else None
    if listed is None or not all(isinstance(one, str) and one.startswith("/") for one in listed):
        raise ParameterError('routes is a list of paths or patterns, as ["/v1/completions"]')
    return tuple(listed)


@dataclass
class Passage:
    """The guardrails' facts of one HTTP request, out of every client's reach.

    Attributes:
        let_through: the request's route was let through by name.
        stopped: a call for it was stopped, since it lacked the pins.
        as_user: the pins were said in the user's name, to a model without a system message.
        skipped: by a guardrail's id, the rule by which it left the request alone.
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
    """Return the facts of the present request; None outside of the proxy."""
    return _PASSAGE.get()


@contextmanager
def passing(through: Passage) -> Iterator[Passage]:
    """Make a passage that of the present request."""
    token = _PASSAGE.set(through)
    try:
        yield through
    finally:
        _PASSAGE.reset(token)


class Guard(Protocol):
    """A guardrail, as the gate sees it."""

    @property
    def routes(self) -> tuple[str, ...]:
        """Patterns of the paths that it lets through."""
        ...


class RouteGate:
    """The proxy, less the routes that are not known to be pinned.

    Args:
        app: the proxy.
        guards: gives the guardrails that LiteLLM asks at present.
    """

    def __init__(self, app: App, guards: Callable[[], Iterable[Guard]]) -> None:
        self.app = app
        self.guards = guards

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
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
    """Put the gate before the proxy, once, where this process is one."""
    module = sys.modules.get("litellm.proxy.proxy_server")
    app = getattr(module, "app", None)
    if app is None or getattr(app.state, "constraintrot_gate", False):
        return
    app.state.constraintrot_gate = True
    if app.middleware_stack is None:
        app.add_middleware(RouteGate, guards=guards)
    else:
        # The proxy reads its configuration while it starts: too late for `add_middleware`.
        app.middleware_stack = RouteGate(app.middleware_stack, guards)


def _unknown_query(scope: Scope, path: str) -> str | None:
    """Return a name in the query of a model's route, which LiteLLM would prefer to the body's."""
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
