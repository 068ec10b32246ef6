"""The operator channel: signed directives, applied to a registry that nobody else can write.

>>> channel = Channel("mail-agent", "s-17", trusted=[key], declared={"email": policy})
>>> channel.apply(text)  # what the operator signed; raises an OperatorError otherwise
>>> channel.constraints  # what is in force now

Governance Decay, section 7: authority asserted inside the token stream can be forged.
"""

import logging
import re
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from constraintrot.defenses.operator.directive import Directive, Scope
from constraintrot.defenses.operator.errors import (
    ClockSkewError,
    DirectiveError,
    ExpiredError,
    KeyFileError,
    OperatorError,
    ScopeError,
    StateError,
)
from constraintrot.defenses.operator.keys import VerifyingKey, opened
from constraintrot.defenses.operator.receipt import Mailbox, Receipt
from constraintrot.defenses.operator.state import Constraint, Exemption, State
from constraintrot.defenses.operator.store import Folder, Memory, Store
from constraintrot.defenses.rampart import Principal, RampartError, Registry
from constraintrot.errors import ParameterError

SKEW: Final = 60.0
"""Seconds by which the operator's clock and ours may differ."""
MOST_SKEW: Final = 300.0
LOGGER: Final = logging.getLogger("constraintrot.operator")


class Channel:
    """The one writer of a registry, which applies only directives that trusted keys signed.

    Args:
        deployment: label of the deployment and of its registry; scopes name it.
        session: id of the conversation.
        trusted: keys whose directives count.
        declared: constraints in force from the start, by name. Where a state was kept
            before, what is declared otherwise than then is in force from now on, and
            logged; None changes nothing of it.
        folder: where the state is kept, with the numbers of the directives that
            were applied; in memory unless given.
        mailbox: where directives come in by themselves; see ``poll``.
        clock: seconds since 1970; where it goes back, the latest time seen counts.
        skew: seconds by which the operator's clock may differ, 300 at most.
        least_revision: the earliest revision of the kept state that is accepted.

    Attributes:
        registry: for reading; only the channel holds its owner.

    Raises:
        ParameterError: the skew is out of its range.
        OperatorError: a label is refused, the kept state cannot be read or is too old,
            or a policy that a directive changed is declared otherwise than before.
    """

    def __init__(
        self,
        deployment: str,
        session: str,
        *,
        trusted: Iterable[VerifyingKey],
        declared: Mapping[str, str] | None = None,
        folder: str | Path | None = None,
        mailbox: Mailbox | None = None,
        clock: Callable[[], float] = time.time,
        skew: float = SKEW,
        least_revision: int = 0,
    ) -> None:
        if not 0 <= skew <= MOST_SKEW:
            raise ParameterError(f"skew must be 0 to {MOST_SKEW:.0f} seconds, not {skew}")
        try:
            self.scope: Final = Scope(deployment=deployment, session=session)
        except ValidationError as error:
            raise ParameterError(f"deployment and session are names: {error}") from None
        self.mailbox = mailbox or Mailbox()
        self._trusted = tuple(trusted)
        self._clock, self._skew, self._latest = clock, skew, 0.0
        self._lock = threading.RLock()
        self._principal = Principal("operator channel")
        self.registry = Registry(self._principal, label=deployment)
        self._state = State()
        self._begun = False
        self._store: Store = Memory() if folder is None else Folder(folder, (deployment, session))
        with self._exclusive():
            self._state.check_revision(least_revision)
            if not self._begun:
                first = State().redeclared(declared or {})
                self._keep(first.model_copy(update={"revision": 0}))
            elif declared is not None:
                self._redeclare(declared)

    @property
    def revision(self) -> int:
        """The number of changes of the operator's state since the start."""
        return self.state.revision

    @property
    def state(self) -> State:
        """The present state, with the changes of other processes."""
        with self._exclusive():
            return self._state

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        return self.state.constraints

    @property
    def exemptions(self) -> tuple[Exemption, ...]:
        """Those that have not ended."""
        state, now = self.state, self._now()
        return tuple(one for one in state.exemptions if one.active(now))

    def revoke(self, key: VerifyingKey | str) -> None:
        """Revoke a key, given or named by its id, in all processes that share the folder.

        Its exemptions end. What its directives pinned, amended or rescinded stays until
        directives of another key undo it.

        Raises:
            KeyFileError: it is not the id of a key.
            StateError: the state cannot be kept.
        """
        name = key.id if isinstance(key, VerifyingKey) else key
        if not re.fullmatch("[0-9a-f]{32}", str(name)):
            raise KeyFileError(f"a key's id is 32 hex digits, as keygen prints; got {name!r}")
        with self._exclusive():
            # Each change of the state needs its own revision.
            if name not in self._state.revoked:
                self._keep(self._state.at(self._now()).revoking(name))

    def check(self, text: str | bytes) -> Directive:
        """Return the directive of a signed text that may be applied here and now.

        Raises:
            OperatorError: the signature, the scope or the time is wrong.
        """
        directive = opened(text, self._trusted)
        self.state.check_trust(directive.key)
        scope, here = directive.scope, self.scope
        if scope.deployment != here.deployment:
            raise ScopeError(
                f"the directive is for deployment {scope.deployment!r}, and this is"
                f" {here.deployment!r}"
            )
        if scope.session not in (None, here.session):
            raise ScopeError(
                f"the directive is for session {scope.session!r}, and this is {here.session!r}"
            )
        self._check_time(directive)
        return directive

    def apply(self, text: str | bytes) -> Directive:
        """Apply a signed directive, whole or not at all.

        Raises:
            OperatorError: it is refused; see ``constraintrot.defenses.operator.errors``.
        """
        directive = self.check(text)
        with self._exclusive():
            # It may have expired while it waited for another process.
            self._state.check_trust(directive.key)
            now = self._check_time(directive)
            self._keep(self._state.at(now).after(directive))
        return directive

    def poll(self, hook: str = "") -> list[Receipt]:
        """Apply the texts of the mailbox in their order; a refusal is reported, not raised.

        Args:
            hook: the caller; a mailbox may wait for a certain one.

        Raises:
            StateError: the state cannot be kept; the texts not yet applied stay in the mailbox.
        """
        receipts: list[Receipt] = []
        waiting = self.mailbox.take(hook)
        for at, text in enumerate(waiting):
            try:
                receipts.append(self._receipt(text))
            except StateError:
                self.mailbox.put_back(*waiting[at:])
                raise
            except BaseException:
                # Not this one: it would fail again, and hold up those behind it for ever.
                self.mailbox.put_back(*waiting[at + 1 :])
                raise
        return receipts

    def exempting(self, function: str, arguments: Mapping[str, Any]) -> tuple[Exemption, ...]:
        """Return the exemptions that cover a call, oldest first."""
        return tuple(one for one in self.exemptions if one.covers(function, arguments))

    def use(self, exemptions: Iterable[Exemption], among: Iterable[Constraint]) -> bool:
        """Count a call against exemptions, all of them or none.

        Return False if an exemption has ended, or the constraints are not those ``among`` which
        the call was checked.
        """
        names = tuple(one.name for one in exemptions)
        with self._exclusive():
            after = self._state.used(names, self._now())
            if after is None or self._state.constraints != tuple(among):
                return False
            self._keep(after)
            return True

    def _check_time(self, directive: Directive) -> float:
        """Return the time now; refuse a directive that has expired or is of the future."""
        now = self._now()
        if now > directive.expires + self._skew:
            raise ExpiredError(
                f"the directive expired {now - directive.expires:.0f} seconds ago, by the latest"
                " time that this clock showed; sign a new one"
            )
        if directive.issued > now + self._skew:
            raise ClockSkewError(
                f"the directive was issued {directive.issued - now:.0f} seconds in this clock's"
                f" future; {self._skew:.0f} are allowed for: set the clocks"
            )
        return now

    def _now(self) -> float:
        """The latest time seen: a clock that is set back makes nothing valid again."""
        with self._lock:
            self._latest = max(self._clock(), self._latest, self._state.clock)
            return self._latest

    def _receipt(self, text: str) -> Receipt:
        try:
            return Receipt.applied(self.apply(text), self.revision)
        except StateError:
            raise
        except OperatorError as error:
            return Receipt.refused(error, self.revision)

    @contextmanager
    def _exclusive(self) -> Generator[None]:
        with self._lock, self._store.locked():
            kept = self._store.read()
            if self._begun:
                self._state.check_newer(kept)
            if kept is not None and kept != self._state:
                self._sync(kept)
            self._begun = self._begun or kept is not None
            yield

    def _redeclare(self, declared: Mapping[str, str]) -> None:
        state = self._state.redeclared(declared)
        if state is self._state:
            return
        changed = sorted(
            name for name, text in declared.items() if self._state.baseline.get(name) != text
        )
        self._keep(state)
        LOGGER.warning(
            "%s, session %s: declared otherwise than before, and in force from revision %d on: %s",
            self.scope.deployment, self.scope.session, state.revision, ", ".join(changed),
        )  # fmt: skip

    def _keep(self, state: State) -> None:
        """Update the registry and then the store to a state, or neither."""
        before = self._state
        try:
            self._sync(state)
            self._store.write(state)
        except RampartError as error:
            self._sync(before)
            raise DirectiveError(f"the registry refuses it: {error}") from error
        except BaseException:
            self._sync(before)
            raise
        self._begun = True

    def _sync(self, state: State) -> None:
        """Make the registry agree with a state."""
        wanted = {one.name: one.content for one in state.constraints}
        wanted |= {one.name: f"{one.constraint}: {one}" for one in state.exemptions}
        by = self._principal
        held = {block.name: block for block in self.registry.blocks()}
        for name, block in held.items():
            if name not in wanted:
                self.registry.evict(block.id, by=by, force=True)
            elif block.content != wanted[name]:
                self.registry.amend(block.id, wanted[name], by=by)
        for one in state.constraints:
            if one.name not in held:
                self.registry.pin(one.content, by=by, name=one.name)
        for exemption in state.exemptions:
            if exemption.name not in held:
                self.registry.write(
                    wanted[exemption.name], by=by, name=exemption.name, source="orchestrator",
                    removable=False, tags=("exemption",),
                )  # fmt: skip
        self._state = state
