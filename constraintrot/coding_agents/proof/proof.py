"""Whether a pin is in the request that an agent makes after its own compaction.

The agent is started in a throw-away home and project, with no network beyond this
machine's loopback, with our hook alone in its settings, and a copy of the rules. It says
three turns and is made to compact after the first; then the copy of the rules is amended,
and it says one more.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

import constraintrot
from constraintrot.coding_agents.pins.agents import AGENTS
from constraintrot.coding_agents.pins.compiled import Source, read_compiled
from constraintrot.coding_agents.pins.errors import PinInstallError
from constraintrot.coding_agents.pins.installing import Pin, install
from constraintrot.coding_agents.proof.drivers import DRIVERS, Driver, make_home
from constraintrot.coding_agents.proof.endpoint import (
    SUMMARY,
    TURN,
    Request,
    Script,
    serving,
)
from constraintrot.coding_agents.proof.sandbox import (
    environment,
    raise_loopback,
    run,
    without_network,
)

AMENDMENT: Final = "Rule added by this check: keep the file CHECK-AMENDED."
# As often an agent is started.
_LONGEST: Final = 900
_CHILD: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]);"
    " from constraintrot.coding_agents.proof.proof import main;"
    " sys.exit(main(sys.argv[2:]))"
)


@dataclass
class Proof:
    """What a play showed.

    Attributes:
        agent: its name.
        compacted: number of the request for a summary, from 1; None where there was none.
        after: number of the first request after it that was a turn.
        roles: the roles in that request that hold the policies, whole.
        verbatim: whether to the letter; else angle brackets are written as HTML has them.
        first_turn: whether the first turn still was, word for word.
        summarizer: whether the request for the summary held the policies.
        amended: roles in the first request after the rules were amended that hold the new one.
        requests: how many there were.
        problem: what went wrong, if anything did.
        seconds: that it took.
    """

    agent: str
    compacted: int | None = None
    after: int | None = None
    roles: list[str] = field(default_factory=list)
    verbatim: bool = False
    first_turn: bool = False
    summarizer: bool = False
    amended: list[str] = field(default_factory=list)
    requests: int = 0
    problem: str = ""
    seconds: float = 0.0

    @property
    def held(self) -> bool:
        """Whether the agent compacted, and the policies were in the next request."""
        return self.compacted is not None and bool(self.roles)

    def lines(self) -> list[str]:
        """For a reader."""
        if self.problem and not self.held:
            return [f"NOT PROVED: {self.problem}"]
        if not self.held:
            later = (
                f"request {self.after}, the next one, did not hold the policies"
                if self.after
                else "no request came after it"
            )
            return [f"NOT HELD: request {self.compacted} asked for a summary, and {later}"]
        letters = (
            "word for word" if self.verbatim else "whole, with < and > written as &lt; and &gt;"
        )
        said_first = "still in it" if self.first_turn else "gone"
        lines = [
            f"PROVED with the agent, in {self.seconds:.0f} s: request {self.compacted} of"
            f" {self.requests} asked for a summary; request {self.after} held the summary and"
            f" the policies, {letters} (role: {', '.join(self.roles)}; what the user had said"
            f" first: {said_first})",
        ]
        roles = ", ".join(self.amended)
        lines.append(
            f"amended: in the next request (role: {roles})"
            if self.amended
            else "amended: NOT in the next request"
        )
        return lines


def prove(agent: str, program: Path, rules: str, *, network: bool = False) -> Proof:
    """Play a compaction in an agent.

    Args:
        agent: its name.
        program: the agent's.
        rules: the policies, each in a block, as compiled.
        network: play it with the network of this machine where there is no way without.

    Raises:
        PinInstallError: the system cannot keep the agent from the network.
    """
    isolated = without_network()
    if isolated is None and not network:
        raise PinInstallError(
            "this system cannot keep the agent from the network (unshare is missing, or may not"
            " be used); --network host plays it all the same"
        )
    root = str(Path(constraintrot.__file__).resolve().parent.parent)
    with tempfile.TemporaryDirectory(prefix="constraintrot-pin-") as folder:
        (Path(folder) / "rules.txt").write_text(rules, encoding="utf-8")
        command = [*(isolated or []), sys.executable, "-I", "-c", _CHILD, root]
        given = [agent, str(program), folder, "alone" if isolated else "host"]
        try:
            done = subprocess.run(
                [*command, *given],
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
    """Play in this process, which has no network already, and print the result as JSON."""
    agent, program, folder, network = arguments
    if network == "alone":
        raise_loopback()
    print(json.dumps(asdict(play(agent, program, Path(folder)))))
    return 0


def play(agent: str, program: str, folder: Path) -> Proof:
    """Play in a folder that holds ``rules.txt``."""
    import time

    started = time.monotonic()
    driver, proof = DRIVERS[agent], Proof(agent)
    home, work = folder / "home", folder / "work"
    for made in (home, work, home / "tmp"):
        made.mkdir()
    script = Script(full="" if driver.compact else f"{TURN}2", used=driver.used, call=driver.call)
    with serving(script) as port:
        url = f"http://127.0.0.1:{port}"
        make_home(driver, home, work, url)
        text = _installed(agent, home, work, folder / "rules.txt")
        variables = environment(home, driver.variables(url))
        before_amendment = _turns(driver, program, work, variables, folder, script, proof)
    _judge(proof, script.requests, text, before_amendment)
    proof.seconds = round(time.monotonic() - started, 1)
    return proof


def _turns(
    driver: Driver,
    program: str,
    work: Path,
    variables: dict[str, str],
    folder: Path,
    script: Script,
    proof: Proof,
) -> int:
    """Say the turns; how many requests there were before the rules were amended."""
    second = driver.compact or driver.later(f"{TURN}2 Go on with notes.txt.")
    first = driver.first(f"{TURN}1 Say ok. CHECK-FIRST-TURN")
    for arguments in (first, second, driver.later(f"{TURN}3 Say ok.")):
        ended = run([program, *arguments], work, variables)
        if ended.status != 0:
            last = ended.printed.strip().splitlines()
            how = "took too long" if ended.status is None else f"ended with {ended.status}"
            proof.problem = f"the agent {how}: {last[-1][:300] if last else 'nothing printed'}"
            break
    count = len(script.requests)
    with (folder / "rules.txt").open("a", encoding="utf-8") as file:
        file.write(f"\n{AMENDMENT}\n")
    run([program, *driver.later(f"{TURN}4 Say ok.")], work, variables)
    return count


def _judge(proof: Proof, requests: list[Request], text: str, before_amendment: int) -> None:
    proof.requests = len(requests)
    played = requests[:before_amendment]
    summaries = [at for at, request in enumerate(played) if request.summary]
    if not summaries:
        proof.problem = proof.problem or "the agent did not compact"
        return
    proof.compacted = summaries[0] + 1
    proof.summarizer = any(requests[at].roles_of(text) for at in summaries)
    for number, request in enumerate(played[summaries[-1] + 1 :], start=summaries[-1] + 2):
        # With the summary in it: a request for a title, say, has no context.
        if request.roles_of(SUMMARY) and request.tools:
            proof.after = number
            proof.roles = request.roles_of(text)
            proof.verbatim = request.verbatim(text)
            proof.first_turn = bool(request.roles_of("CHECK-FIRST-TURN"))
            break
    for request in requests[before_amendment:]:
        if not request.summary and request.tools:
            proof.amended = request.roles_of(AMENDMENT)
            break


def _installed(agent: str, home: Path, work: Path, rules: Path) -> str:
    """Install the pin into the throw-away home; the text that it hands out."""
    pin = Pin(AGENTS[agent], "user", work, home)
    install(pin, Source("rules", rules))
    return str(read_compiled(pin.folder)["text"])
