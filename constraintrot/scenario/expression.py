"""Expressions in history templates: a small, safe part of Python.

An expression is parsed once, checked against the list of allowed syntax, and compiled to
closures; Python's own evaluator is not used. Names come from the given environment. Functions
are called by name only, so no method of an object can be reached.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from constraintrot.errors import ScenarioError
from constraintrot.scenario.compiler import Closure, Compiler, Env
from constraintrot.scenario.template import show
from constraintrot.scenario.values import is_mapping

# Python's parser uses the C stack for each bracket and sign of a longer expression.
_LONGEST = 5_000


@dataclass(frozen=True)
class Expression:
    """A compiled expression.

    Attributes:
        names: the names that it needs from its environment.
        run: evaluates it in an environment.
        call: the function and the argument expressions, if it is a single call; else None.
    """

    source: str
    names: frozenset[str]
    run: Closure
    call: tuple[str, tuple[Closure, ...]] | None = None


@cache
def expression(source: str) -> Expression:
    """Compile an expression."""
    if len(source) > _LONGEST:
        raise ScenarioError(f"an expression of {len(source):,} characters; at most {_LONGEST:,}")
    try:
        tree = ast.parse(source.strip(), mode="eval").body
        compiler = Compiler(source)
        run = compiler.compile(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, ScenarioError):
            raise
        raise ScenarioError(f"{source[:200]!r} is no expression: {error}") from error
    call = None
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and not tree.keywords:
        call = (tree.func.id, tuple(Compiler(source).compile(arg) for arg in tree.args))
    return Expression(source, frozenset(compiler.names), run, call)


@cache
def text(source: str) -> Expression:
    """Compile a text with ``{{expression}}`` in it; an expression alone gives its value itself."""
    parts = _parts(source)
    if len(parts) == 3 and not parts[0] and not parts[2]:
        return expression(parts[1])
    compiled = [expression(part) if at % 2 else part for at, part in enumerate(parts)]
    names = [part.names for part in compiled if isinstance(part, Expression)]
    runs: list[str | Closure] = [
        part.run if isinstance(part, Expression) else part for part in compiled if part != ""
    ]

    def run(env: Env) -> str:
        return "".join(part if isinstance(part, str) else show(part(env)) for part in runs)

    return Expression(source, frozenset[str]().union(*names), run)


def _parts(source: str) -> list[str]:
    """Split a text into literal text, expression, literal text and so on."""
    parts, rest = list[str](), source
    while "{{" in rest:
        literal, _, rest = rest.partition("{{")
        end = _end(rest)
        parts += [literal, rest[:end]]
        rest = rest[end + 2 :]
    return [*parts, rest]


def _end(rest: str) -> int:
    """Return the index of the ``}}`` that closes an expression, which may have its own braces."""
    depth = 0
    for at, sign in enumerate(rest):
        if sign == "{":
            depth += 1
        elif sign == "}" and depth:
            depth -= 1
        elif rest.startswith("}}", at):
            return at
    raise ScenarioError(f"'{{{{{rest}' is never closed")


def texts_in(node: object) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif is_mapping(node):
        for value in node.values():
            yield from texts_in(value)
    elif isinstance(node, list | tuple):
        for value in node:
            yield from texts_in(value)


def evaluate(node: Any, env: Env) -> Any:
    """Evaluate every text in a structure; values without a JSON type become texts."""
    if isinstance(node, str):
        return _plain(text(node).run(env)) if "{{" in node else node
    if isinstance(node, dict):
        return {key: evaluate(value, env) for key, value in node.items()}
    if isinstance(node, list):
        return [evaluate(value, env) for value in node]
    return node


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | None) else show(value)
