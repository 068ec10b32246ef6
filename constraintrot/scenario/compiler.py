"""Compiles expressions to closures, and refuses all syntax that is not on its list.

Each allowed kind of node has a method, so new syntax of Python is refused until it is added.
"""

import ast
import operator
import re
from collections.abc import Callable
from typing import Any, TypeAlias

from constraintrot.errors import ScenarioError
from constraintrot.scenario.template import show

Env: TypeAlias = dict[str, Any]
Closure: TypeAlias = Callable[[Env], Any]

_FORMAT = re.compile(r"[<>^]?0?\d{0,2},?(?:\.\d)?[dfsx%]?")
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
# Applied to a text, both could make one of any size.
_OF_NUMBERS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Mult: operator.mul,
    ast.Mod: operator.mod,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda item, container: item in container,
    ast.NotIn: lambda item, container: item not in container,
}


class Compiler:
    """Compiles one expression and collects the names that it needs."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.names: set[str] = set()
        self.bound: list[str] = []

    def compile(self, node: ast.AST) -> Closure:
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise self._refused(type(node).__name__)
        closure: Closure = method(node)
        return closure

    def _refused(self, what: str) -> ScenarioError:
        return ScenarioError(f"{self.source!r}: {what} is not allowed in an expression")

    def _constant(self, node: ast.Constant) -> Closure:
        value = node.value
        if not isinstance(value, str | int | float | None):
            raise self._refused(f"the constant {value!r}")
        return lambda env: value

    def _name(self, node: ast.Name) -> Closure:
        name = node.id
        if name not in self.bound:
            self.names.add(name)
        return lambda env: env[name]

    def _attribute(self, node: ast.Attribute) -> Closure:
        whole, name = self.compile(node.value), node.attr
        return lambda env: _member(whole(env), name)

    def _subscript(self, node: ast.Subscript) -> Closure:
        whole = self.compile(node.value)
        if isinstance(node.slice, ast.Slice):
            if node.slice.step is not None:
                raise self._refused("a slice with a step")
            low = self._optional(node.slice.lower)
            high = self._optional(node.slice.upper)
            return lambda env: whole(env)[low(env) : high(env)]
        index = self.compile(node.slice)
        return lambda env: whole(env)[index(env)]

    def _optional(self, node: ast.expr | None) -> Closure:
        return (lambda env: None) if node is None else self.compile(node)

    def _binop(self, node: ast.BinOp) -> Closure:
        left, right = self.compile(node.left), self.compile(node.right)
        if type(node.op) in _OF_NUMBERS:
            compute = _OF_NUMBERS[type(node.op)]
            return lambda env: compute(_number(left(env)), _number(right(env)))
        if type(node.op) not in _BINARY:
            raise self._refused(type(node.op).__name__)
        operate = _BINARY[type(node.op)]
        return lambda env: operate(left(env), right(env))

    def _unaryop(self, node: ast.UnaryOp) -> Closure:
        operand = self.compile(node.operand)
        if isinstance(node.op, ast.Not):
            return lambda env: not operand(env)
        if isinstance(node.op, ast.USub):
            return lambda env: -operand(env)
        raise self._refused(type(node.op).__name__)

    def _boolop(self, node: ast.BoolOp) -> Closure:
        parts = [self.compile(value) for value in node.values]
        decide = all if isinstance(node.op, ast.And) else any
        return lambda env: decide(part(env) for part in parts)

    def _compare(self, node: ast.Compare) -> Closure:
        first = self.compile(node.left)
        steps: list[tuple[Callable[[Any, Any], Any], Closure]] = []
        for kind, right in zip(node.ops, node.comparators, strict=True):
            if type(kind) not in _COMPARISONS:
                raise self._refused(type(kind).__name__)
            steps.append((_COMPARISONS[type(kind)], self.compile(right)))

        def run(env: Env) -> bool:
            left = first(env)
            for compare, following in steps:
                right = following(env)
                if not compare(left, right):
                    return False
                left = right
            return True

        return run

    def _ifexp(self, node: ast.IfExp) -> Closure:
        test, then = self.compile(node.test), self.compile(node.body)
        otherwise = self.compile(node.orelse)
        return lambda env: then(env) if test(env) else otherwise(env)

    def _call(self, node: ast.Call) -> Closure:
        if not isinstance(node.func, ast.Name):
            raise self._refused("a call of anything but a function's name")
        name = node.func.id
        self.names.add(name)
        positional = [self.compile(arg) for arg in node.args]
        named: dict[str, Closure] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self._refused("**")
            named[keyword.arg] = self.compile(keyword.value)
        if not named:
            return lambda env: env[name](*[part(env) for part in positional])
        return lambda env: env[name](
            *[part(env) for part in positional],
            **{key: part(env) for key, part in named.items()},
        )

    def _list(self, node: ast.List | ast.Tuple) -> Closure:
        parts = [self.compile(item) for item in node.elts]
        return lambda env: [part(env) for part in parts]

    _tuple = _list

    def _dict(self, node: ast.Dict) -> Closure:
        keys = [self.compile(key) for key in node.keys if key is not None]
        if len(keys) < len(node.keys):
            raise self._refused("**")
        parts = [self.compile(value) for value in node.values]
        return lambda env: {key(env): part(env) for key, part in zip(keys, parts, strict=True)}

    def _listcomp(self, node: ast.ListComp | ast.GeneratorExp) -> Closure:
        if len(node.generators) != 1 or not isinstance(node.generators[0].target, ast.Name):
            raise self._refused("a comprehension over anything but one name")
        loop = node.generators[0]
        over, name = self.compile(loop.iter), node.generators[0].target.id
        self.bound.append(name)
        tests = [self.compile(test) for test in loop.ifs]
        item = self.compile(node.elt)
        self.bound.pop()

        def run(env: Env) -> list[Any]:
            # One environment per loop: copying it per item would cost more than the item.
            inner, made = dict(env), []
            for value in over(env):
                inner[name] = value
                if all(test(inner) for test in tests):
                    made.append(item(inner))
            return made

        return run

    _generatorexp = _listcomp

    def _joinedstr(self, node: ast.JoinedStr) -> Closure:
        parts = [self.compile(part) for part in node.values]
        return lambda env: "".join(show(part(env)) for part in parts)

    def _formattedvalue(self, node: ast.FormattedValue) -> Closure:
        value = self.compile(node.value)
        if node.format_spec is None:
            return value
        spec = _literal(node.format_spec)
        if not spec or not _FORMAT.fullmatch(spec):
            raise self._refused("this format")
        return lambda env: _formatted(value(env), spec)


def _literal(spec: ast.expr) -> str:
    """Return the text of a format specification, with ``{`` for computed parts."""
    parts = spec.values if isinstance(spec, ast.JoinedStr) else []
    return "".join(str(p.value) if isinstance(p, ast.Constant) else "{" for p in parts)


def _member(whole: Any, name: str) -> Any:
    if isinstance(whole, dict):
        return whole[name]
    if name in getattr(type(whole), "MEMBERS", ()):
        return getattr(whole, name)
    raise ScenarioError(f"a {type(whole).__name__} has no {name!r}")


def _number(value: Any) -> Any:
    if isinstance(value, int | float):
        return value
    raise ScenarioError(f"{value!r} is no number, so it takes no * and no %")


def _formatted(value: Any, spec: str) -> str:
    return format(value if isinstance(value, int | float) else show(value), spec)
