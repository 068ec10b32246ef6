"""Coding agents through their own compaction, without and with the pin: ``python -m results.tools.coding_pins``.

For each installed agent, each of three channels and each soft family: one episode whose
summary tells of no policy, and the same with our hook in the agent's settings, by the
scripted model that obeys what it sees. What is finished is not run again; with
``--read`` nothing is run.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from inspect_ai import eval_set
from inspect_ai.log import EvalLog, EvalSample, list_eval_logs, read_eval_log

from constraintrot.coding_agents.catalogue import PACKAGES, Package, package
from constraintrot.coding_agents.install import find

FAMILIES = ("soft_email", "soft_language", "soft_channel", "soft_deploy", "soft_spend")
CHANNELS = {"user": "user's turn", "file": "file it read", "tool": "tool result (MCP)"}
PLAIN, PINNED = "compaction", "defense_pin"


def run(
    agents: Sequence[Package], log_dir: str, channels: Iterable[str], known: pd.DataFrame | None
) -> None:
    """Play what has no finished log yet, and is not known."""
    for agent in agents:
        for channel in channels:
            families = [one for one in FAMILIES if not _both(known, agent.agent, channel, one)]
            if not families:
                continue
            eval_set(
                [f"constraintrot/{family}" for family in families],
                log_dir=f"{log_dir}/{agent.agent}-{channel}",
                model="scripted/obedient",
                task_args={
                    "harness": f"coding/{agent.agent}",
                    "channel": channel,
                    "conditions": f"{PLAIN},{PINNED}",
                    "variants": 1,
                    "context_tokens": 300,
                },
                retry_attempts=0,
                max_tasks=1,
                display="none",
            )


def _both(known: pd.DataFrame | None, agent: str, channel: str, family: str) -> bool:
    """Whether both episodes are among the rows of an earlier run, with a result."""
    if known is None:
        return False
    here = known["agent"].eq(agent) & known["channel"].eq(channel) & known["family"].eq(family)
    played = known[here & (_texts(known["error"]) == "")]
    return {PLAIN, PINNED} <= set(played["condition"])


def frame(log_dir: str, known: pd.DataFrame | None = None) -> pd.DataFrame:
    """A row an episode, of an earlier run and from the logs below a folder.

    One that failed has its error. Where there are several of an episode, it is the last.
    """
    logs = map(read_eval_log, list_eval_logs(log_dir) if Path(log_dir).is_dir() else [])
    rows = pd.DataFrame([row for log in logs for row in _rows(log)])
    rows = rows if known is None else pd.concat([known, rows], ignore_index=True)
    by = ["agent", "channel", "family", "condition"]
    return (
        rows.sort_values(by, kind="stable").drop_duplicates(by, keep="last").reset_index(drop=True)
    )


def _rows(log: EvalLog) -> Iterator[dict[str, Any]]:
    channel = log.eval.task_args.get("channel")
    for sample in log.samples or []:
        facts = sample.metadata
        row = {
            "agent": str(log.eval.task_args["harness"]).removeprefix("coding/"),
            "framework": facts.get("framework", ""),
            "channel": channel,
            "family": facts["family"],
            "condition": facts["condition"],
            "run": log.eval.created[:10],
        }
        yield row | (_outcome(sample) if sample.error is None else {"error": sample.error.message})


def _outcome(sample: EvalSample) -> dict[str, Any]:
    """What came of an episode, and the requests that show it, by number."""
    requests = sample.metadata["agent_requests"]
    summaries = [one for one in requests if one["kind"] == "summary"]
    # The model is asked about the trigger in the last turn, once the compaction is over.
    after = next(
        one
        for one in requests
        if one["kind"] == "agent"
        and one["turn"] == requests[-1]["turn"]
        and one["number"] > summaries[-1]["number"]
    )
    scores = sample.scores or {}
    return {
        "violation": scores["violation"].value,
        "policy_verbatim": int(bool(after["policy_in"])),
        "pin_roles": " ".join(after.get("pin_in", [])),
        "summarizer_shown_pin": int(any(one.get("pin_in") for one in summaries)),
        "requests": len(requests),
        "summary": " ".join(str(one["number"]) for one in summaries),
        "after": after["number"],
        "error": "",
    }


def table(rows: pd.DataFrame) -> str:
    """The counts, by agent and by who gave the policy."""
    lines = [
        f"`scripted/obedient`, a summary that tells of no policy, one episode each of"
        f" {', '.join(FAMILIES)}; run by {rows['run'].max()}. *Broken*: episodes with the forbidden"
        " call, of those played. *In the request*: the policy is, word for word, in the request"
        " that asks for it, after the compaction.",
        "",
        "| agent | policy from | broken | in the request | broken, pinned | pin in the request"
        " | its role | summarizer shown the pin |",
        "|---|---|---|---|---|---|---|---|",
    ]
    texts = {name: _texts(rows[name]) for name in ("error", "pin_roles")}
    rows = rows.assign(**texts)
    for (agent, channel), both in rows.groupby(["agent", "channel"]):
        played = both[both["error"] == ""]
        plain, pinned = (played[played["condition"] == one] for one in (PLAIN, PINNED))
        title = package(str(agent)).title
        lines.append(
            f"| {title} | {CHANNELS[str(channel)]} | {_of(plain['violation'], plain)}"
            f" | {_of(plain['policy_verbatim'], plain)} | {_of(pinned['violation'], pinned)}"
            f" | {_of(pinned['pin_roles'] != '', pinned)} | {_roles(pinned)}"
            f" | {_of(pinned['summarizer_shown_pin'], pinned)} |"
        )
    failed = rows[rows["error"] != ""]
    lines += [
        f"- {one.agent}, {one.channel}, {one.family}, {one.condition}: {one.error}"
        for one in failed.itertuples()
    ]
    return "\n".join(lines) + "\n"


def _texts(column: pd.Series[Any]) -> pd.Series[Any]:
    """A column of texts; what a CSV file has as nothing is an empty one."""
    return column.astype(object).where(column.notna(), "")


def _of(held: pd.Series[Any], rows: pd.DataFrame) -> str:
    return f"{int(held.sum())}/{len(rows)}"


def _roles(pinned: pd.DataFrame) -> str:
    roles = {role for one in pinned["pin_roles"] for role in one.split()}
    return ", ".join(sorted(roles)) or "-"


def main() -> None:
    """Run, and write the rows and the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("agents", nargs="*", help="their names; all that are installed by default")
    parser.add_argument("--log-dir", default="logs/coding-pins")
    parser.add_argument("--channel", action="append", choices=CHANNELS, help="all by default")
    parser.add_argument("--from", dest="known", type=Path, help="an earlier run's --csv, kept")
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--read", action="store_true", help="run nothing")
    given = parser.parse_args()
    agents = [package(name) for name in given.agents] or [one for one in PACKAGES if find(one)]
    known = (
        None
        if given.known is None
        else pd.read_csv(given.known, dtype={"summary": str, "pin_roles": str})
    )
    if not given.read:
        run(agents, given.log_dir, given.channel or CHANNELS, known)
    rows = frame(given.log_dir, known)
    if given.csv:
        rows.to_csv(given.csv, index=False, lineterminator="\n")
    text = table(rows)
    if given.markdown:
        given.markdown.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
