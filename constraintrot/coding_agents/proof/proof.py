"""A pin's proof: is it in the request that an agent makes after its own compaction?

The agent is started in a throw-away home and project, with no network beyond this machine's
loopback, with copies of the user's own settings, of the pin and of its rules. It gets three
turns and is made to compact after the first; then the copy of the rules is amended, and it
gets one more.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

import constraintrot
from constraintrot.coding_agents.endpoint import serving
from constraintrot.coding_agents.inside import loopback_up
from constraintrot.coding_agents.install import VERSION
from constraintrot.coding_agents.pins.agents import AGENTS
from constraintrot.coding_agents.pins.file_edit import PinInstallError
from constraintrot.coding_agents.pins.record import Record
from constraintrot.coding_agents.proof.drivers import DRIVERS, PROJECT_LINES, Driver, Place
from constraintrot.coding_agents.proof.script import SUMMARY, TURN, Heard, Script
from constraintrot.coding_agents.proof.stage import AMENDMENT, Plan, stage, untrusted
from constraintrot.coding_agents.sandbox import environment, run, without_network
from constraintrot.errors import ConstraintRotError

# Most seconds of a play, which starts the agent several times.
_LONGEST: Final = 900
_CHILD: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]);"
    " from constraintrot.coding_agents.proof.proof import main;"
    " sys.exit(main(sys.argv[2:]))"
)


@dataclass
class Proof:
    """The outcome of a play."""

    agent: str
    version: str = ""  # of the program that was played; empty if unknown
    # Why the agent does not run the hooks in the user's setup; empty if it does.
    untrusted: str = ""
    # Number of the request for a summary, from 1; None if there was none.
    compacted: int | None = None
    after: int | None = None  # number of the first turn's request after it
    # The roles in that request that hold the whole policies.
    roles: list[str] = field(default_factory=list[str])
    # Whether they are there to the letter; otherwise with HTML's angle brackets.
    verbatim: bool = False
    first_turn: bool = False  # whether that request still has the marker of the first turn
    summarizer: bool = False  # whether the request for the summary held the policies
    # Roles that hold the new rule in the first request after the amendment.
    amended: list[str] = field(default_factory=list[str])
    requests: int = 0
    problem: str = ""  # a fault during the play; empty if there was none
    seconds: float = 0.0

    @property
    def held(self) -> bool:
        """Whether the agent compacted, and sent the policies with its next turn."""
        return self.compacted is not None and bool(self.roles)

    @property
    def played(self) -> str:
        package = AGENTS[self.agent].package
        if self.version == package.version:
            return f"{package.title} {self.version}, the version that was tried"
        version = self.version or "of an unknown version"
        return f"{package.title} {version} (tried: {package.version})"

    def lines(self) -> list[str]:
        if self.untrusted:
            return [f"NOT IN FORCE in {self.played}: {AGENTS[self.agent].by_hand}"]
        if self.problem and not self.held:
            return [f"NOT PROVED with {self.played}: {self.problem}"]
        if not self.held:
            later = (
                f"request {self.after}, the next one, did not hold the policies"
                if self.after
                else "no request came after it"
            )
            asked = f"request {self.compacted} asked for a summary, and {later}"
            return [f"NOT HELD by {self.played}: {asked}"]
        letters = (
            "word for word" if self.verbatim else "whole, with < and > written as &lt; and &gt;"
        )
        said_first = "still in it" if self.first_turn else "gone"
        roles = ", ".join(self.amended)
        return [
            f"PROVED with {self.played}, in {self.seconds:.0f} s: request {self.compacted} of"
            f" {self.requests} asked for a summary; request {self.after} held the summary and"
            f" the policies, {letters} (role: {', '.join(self.roles)}; what the user had said"
            f" first: {said_first})",
            f"amended: in the next request (role: {roles})"
            if self.amended
            else "amended: NOT in the next request",
        ]


def prove(records: Sequence[Record], program: Path, *, network: bool = False) -> Proof:
    """Play a compaction in an agent, in a copy of the user's settings."""
    agent, isolated = records[-1].agent, without_network()
    if isolated is None and not network:
        raise PinInstallError(
            "this system cannot keep the agent from the network (unshare is missing, or may not"
            " be used); --network host plays it all the same"
        )
    root = str(Path(constraintrot.__file__).resolve().parent.parent)
    with tempfile.TemporaryDirectory(prefix="constraintrot-pin-") as folder:
        try:
            stage(records, Path(folder))
        except (ConstraintRotError, OSError) as error:
            return Proof(agent, problem=str(error))
        command = [*(isolated or []), sys.executable, "-I", "-c", _CHILD, root]
        try:
            done = subprocess.run(
                [*command, str(program), folder, "alone" if isolated else "host"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_LONGEST,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Proof(agent, problem=f"it took more than {_LONGEST} seconds")
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return Proof(agent, problem=lines[-1] if lines else f"exit status {done.returncode}")
    return Proof(**json.loads(done.stdout))


def main(arguments: list[str]) -> int:
    """Play in this process, whose network is already taken away, and print the result as JSON."""
    program, folder, network = arguments
    if network == "alone":
        loopback_up()
    print(json.dumps(asdict(play(program, Path(folder)))))
    return 0


def play(program: str, folder: Path) -> Proof:
    started, plan = time.monotonic(), Plan.read(folder)
    proof, home = Proof(plan.agent), folder / "home"
    said = VERSION.search(
        run([program, "--version"], home, environment(home, None, program)).printed
    )
    proof.version = said[0] if said else ""
    if plan.trust:
        place, project = plan.trust
        variables = environment(home, {"CODEX_HOME": place})
        events = len(AGENTS[plan.agent].events)
        try:
            proof.untrusted = untrusted(program, project, variables, plan.hooks, events) or ""
        except OSError as error:
            proof.problem = str(error)
    if not proof.untrusted and not proof.problem:
        _compaction(proof, plan, program, folder)
    proof.seconds = round(time.monotonic() - started, 1)
    return proof


def _compaction(proof: Proof, plan: Plan, program: str, folder: Path) -> None:
    driver, home, work = DRIVERS[plan.agent], folder / "home", folder / "work"
    lines = (f"{number} of a long list that says nothing\n" for number in range(PROJECT_LINES))
    (work / "notes.txt").write_text("".join(lines), encoding="utf-8")
    script = Script(full="" if driver.compact else f"{TURN}2", used=driver.used, call=driver.call)
    with serving(script) as port:
        start = driver.prepare(Place(home, work, f"http://127.0.0.1:{port}"))
        variables = environment(home, start.variables, program)

        def say(text: str, on: bool = True) -> bool:
            given = [program, *driver.turn(start.arguments, text, on)]
            ended = run(given, work, variables)
            if ended.status != 0 and not proof.problem:
                last = ended.printed.strip().splitlines()
                how = "took too long" if ended.status is None else f"ended with {ended.status}"
                proof.problem = f"the agent {how}: {last[-1][:300] if last else 'nothing printed'}"
            return ended.status == 0

        before = _turns(driver, plan, script, say)
    _judge(proof, script.requests, plan.texts, before)


def _turns(driver: Driver, plan: Plan, script: Script, say: Callable[..., bool]) -> int:
    """Send the turns; return the number of requests before the rules were amended."""
    second = driver.compact or f"{TURN}2 Go on with notes.txt."
    if say(f"{TURN}1 Say ok. CHECK-FIRST-TURN", on=False) and say(second):
        say(f"{TURN}3 Say ok.")
    count = len(script.requests)
    plan.amend()
    say(f"{TURN}4 Say ok.")
    return count


def _judge(
    proof: Proof, requests: Sequence[Heard], texts: Sequence[str], before_amendment: int
) -> None:
    proof.requests = len(requests)
    played = requests[:before_amendment]
    summaries = [at for at, request in enumerate(played) if request.summary]
    if not summaries:
        proof.problem = proof.problem or "the agent did not compact"
        return
    proof.compacted = summaries[0] + 1
    proof.summarizer = any(_roles(requests[at], texts) for at in summaries)
    for number, request in enumerate(played[summaries[-1] + 1 :], start=summaries[-1] + 2):
        # Only requests with the summary: one for a title, for example, has no context.
        if request.roles_of(SUMMARY) and request.tools:
            proof.after = number
            proof.roles = _roles(request, texts)
            proof.verbatim = all(map(request.verbatim, texts))
            proof.first_turn = bool(request.roles_of("CHECK-FIRST-TURN"))
            break
    for request in requests[before_amendment:]:
        if not request.summary and request.tools:
            proof.amended = request.roles_of(AMENDMENT)
            break


def _roles(request: Heard, texts: Sequence[str]) -> list[str]:
    """Return the roles that hold the texts; empty if one of the texts is missing."""
    roles = [request.roles_of(text) for text in texts]
    return list(dict.fromkeys(one for each in roles for one in each)) if all(roles) else []
