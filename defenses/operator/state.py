"""The operator's state, and what a directive makes of it: a pure function, all or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from pydantic import Field, JsonValue

from constraintrot.defenses.operator.directive import (
    Amend,
    Directive,
    Exact,
    Exempt,
    Pin,
    Rescind,
    digest,
)
from constraintrot.defenses.operator.errors import (
    DuplicateConstraintError,
    ReplayError,
    SequenceError,
    StateError,
    UnknownConstraintError,
    UnknownKeyError,
)
from constraintrot.defenses.rampart.block import look_key, name_key

# Per key; an older directive is refused by its number all the same.
_REMEMBERED: Final = 256
# Past texts are needed only to find them in a conversation.
_PAST: Final = 64
_EXEMPTION: Final = "exemption-"


class Constraint(Exact):
    name: str
    content: str


class Exemption(Exact):
    """Calls for which a constraint does not hold.

    Attributes:
        name: unique; also the name of its block in the registry.
        calls: the calls left; None for any number.
        until: the end in seconds since 1970; None if it ends only with its last call.
    """

    name: str
    constraint: str
    calls: int | None
    until: int | None
    function: str | None
    arguments: dict[str, JsonValue] | None

    def active(self, now: float) -> bool:
        return (self.until is None or now < self.until) and (self.calls is None or self.calls > 0)

    def covers(self, function: str, arguments: Mapping[str, Any]) -> bool:
        if self.function is not None and function != self.function:
            return False
        try:
            return self.arguments is None or _plain(arguments) == _plain(self.arguments)
        except RecursionError:
            return False  # deeper than any directive that was read

    def __str__(self) -> str:
        calls = "every call" if self.calls is None else f"the next {self.calls} calls"
        what = "the next call" if self.calls == 1 else calls
        of = f" of {self.function}" if self.function is not None else ""
        exact = " with the arguments that it names" if self.arguments is not None else ""
        return f"{what}{of}{exact}"


class Seen(Exact):
    """The last number of a key's directives, and the digests of the last ones applied."""

    last: int
    digests: tuple[str, ...]


class State(Exact):
    """The result of the operator's directives so far.

    Attributes:
        revision: a number that every change raises by one.
        constraints: the constraints in force, in their order.
        past: texts that are no longer in force, newest last.
        exemptions: the exemptions that may have calls left.
        seen: the last directives by key id.
        baseline: the policies as the deployment declared them last, by name.
        revoked: ids of keys whose directives do not count any more.
        clock: the latest time seen, seconds since 1970: what has ended by then stays ended.
    """

    revision: int = 0
    constraints: tuple[Constraint, ...] = ()
    past: tuple[Constraint, ...] = ()
    exemptions: tuple[Exemption, ...] = ()
    seen: dict[str, Seen] = Field(default_factory=dict)
    baseline: dict[str, str] = Field(default_factory=dict)
    revoked: tuple[str, ...] = ()
    clock: float = 0.0

    def after(self, directive: Directive) -> State:
        """Return the state after a directive whose signature, scope and time were checked."""
        seen = self._counted(directive)
        match directive:
            case Pin():
                changed = self.declared(directive.constraint, directive.content)
            case Amend():
                changed = self._replaced(directive.constraint, directive.content)
            case Rescind():
                changed = self._replaced(directive.constraint, None)
            case Exempt():
                changed = self._exempted(directive)
        return changed._with(seen=seen, revision=self.revision + 1)

    def declared(self, name: str, content: str) -> State:
        """Return the state with one constraint more."""
        if look_key(name).startswith(look_key(_EXEMPTION)):
            raise DuplicateConstraintError(f"names that start with {_EXEMPTION} are of exemptions")
        for held in self.constraints:
            if name_key(held.name) == name_key(name):
                raise DuplicateConstraintError(
                    f"constraint {name!r} is pinned already; amend it, or choose another name"
                )
            if look_key(held.name) == look_key(name):
                raise DuplicateConstraintError(
                    f"constraint {name!r} looks like {held.name!r}, which is pinned; choose"
                    " another name"
                )
        return self._with(
            constraints=(*self.constraints, Constraint(name=name, content=content)),
        )

    def redeclared(self, policies: Mapping[str, str]) -> State:
        """Return the state after a deployment declared its policies; itself if they are the same.

        A policy that the deployment added or changed since it declared last is now in force.

        Raises:
            StateError: a directive has changed the same policy otherwise, or a policy is no longer
                declared; both need a directive.
        """
        if self.baseline == dict(policies):
            return self
        now = {held.name: held.content for held in self.constraints}
        state = self
        for name in {**self.baseline, **policies}:
            was, declared, held = self.baseline.get(name), policies.get(name), now.get(name)
            if declared in (was, held):
                continue
            if declared is None or held != was:
                raise StateError(
                    f"policy {name!r} is not declared as the kept state has it: declared before"
                    f" {was!r}, declared now {declared!r}, in force {held!r}; declare it as before,"
                    " and sign a directive that changes it"
                )
            state = (
                state.declared(name, declared) if was is None else state._replaced(name, declared)
            )
        return state._with(baseline=dict(policies), revision=self.revision + 1)

    def revoking(self, key: str) -> State:
        ended = f"{_EXEMPTION}{key}-"
        return self._with(
            revoked=(*self.revoked, key),
            exemptions=tuple(one for one in self.exemptions if not one.name.startswith(ended)),
            revision=self.revision + 1,
        )

    def at(self, now: float) -> State:
        """The state without the exemptions that have ended."""
        active = tuple(one for one in self.exemptions if one.active(now))
        return self._with(exemptions=active, clock=now)

    def used(self, names: tuple[str, ...], now: float) -> State | None:
        """Return the state after a call used exemptions, or None if one of them has ended."""
        held = {exemption.name: exemption for exemption in self.exemptions}
        if not all(name in held and held[name].active(now) for name in names):
            return None
        left = (
            one.model_copy(update={"calls": one.calls - 1})
            if one.name in names and one.calls is not None
            else one
            for one in self.exemptions
        )
        return self._with(exemptions=tuple(left), revision=self.revision + 1).at(now)

    def check_trust(self, key: str) -> None:
        """Refuse a directive's key that was revoked."""
        if key in self.revoked:
            raise UnknownKeyError(
                f"key {key} was revoked here; sign the directive with another one"
            )

    def check_revision(self, least: int) -> None:
        """Refuse a state of an earlier revision than the least."""
        if self.revision < least:
            raise StateError(
                f"the kept state is of revision {self.revision}, and {least} at least is expected:"
                " an older one was put in its place, or it was removed"
            )

    def check_newer(self, kept: State | None) -> None:
        """Refuse a kept state that is neither this one, which a running channel knows, nor later.

        Each change has its own revision, so different states of one revision are not of one
        history.
        """
        if kept == self or (kept is not None and kept.revision > self.revision):
            return
        what = "is gone" if kept is None else f"is of revision {kept.revision}"
        raise StateError(
            f"the kept state {what}, and this channel has seen revision {self.revision}: somebody"
            " removed it or put an older one back; find the newest one, or start anew in another"
            " folder"
        )

    def _counted(self, directive: Directive) -> dict[str, Seen]:
        mark = digest(directive)
        before = self.seen.get(directive.key, Seen(last=0, digests=()))
        if mark in before.digests:
            raise ReplayError(f"directive {directive.sequence} of this key was applied before")
        if directive.sequence <= before.last:
            raise SequenceError(
                f"directive {directive.sequence} is not above {before.last}, the last of its key:"
                " it is out of order or replayed; sign a new one with a higher number"
            )
        digests = (*before.digests, mark)[-_REMEMBERED:]
        return {**self.seen, directive.key: Seen(last=directive.sequence, digests=digests)}

    def _find(self, name: str) -> Constraint:
        constraint = next((held for held in self.constraints if held.name == name), None)
        if constraint is None:
            known = ", ".join(repr(held.name) for held in self.constraints) or "none"
            raise UnknownConstraintError(f"no constraint {name!r} is pinned; pinned: {known}")
        return constraint

    def _replaced(self, name: str, content: str | None) -> State:
        """Return the state with a constraint replaced or removed, and its exemptions ended."""
        was = self._find(name)
        now = () if content is None else (Constraint(name=name, content=content),)
        return self._with(
            constraints=tuple(
                one for held in self.constraints for one in (now if held == was else (held,))
            ),
            past=(*self.past, was)[-_PAST:],
            exemptions=tuple(one for one in self.exemptions if one.constraint != name),
        )

    def _exempted(self, directive: Exempt) -> State:
        self._find(directive.constraint)
        one = Exemption(
            name=f"{_EXEMPTION}{directive.key}-{directive.sequence}",
            constraint=directive.constraint,
            calls=directive.calls,
            until=directive.until,
            function=directive.function,
            arguments=directive.arguments,
        )
        return self._with(exemptions=(*self.exemptions, one))

    def _with(self, **changes: object) -> State:
        return self.model_copy(update=changes)


def _plain(value: object) -> object:
    """Return a JSON value for comparing: 5 equals 5.0, and 1 does not equal True."""
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        return {str(key): _plain(one) for key, one in items}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in cast("list[object]", value)]
    return (type(value) is bool, value)
