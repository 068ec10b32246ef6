"""The page, its figures and the specification's rows are what the committed tables make of them."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

from results.tools.docs_figures import FOLDER
from results.tools.pipeline import claims, measures

ROOT = Path(__file__).parents[3]
RESULTS = ROOT / "results"


def test_the_figures_show_the_layers_of_the_committed_table() -> None:
    with (RESULTS / "which-layer.csv").open(encoding="utf-8", newline="") as file:
        layers = {row["layer"] for row in csv.DictReader(file)}
    for name in ("pipeline-layers", "pipeline-layers-pinned"):
        drawn = (ROOT / FOLDER / f"{name}.svg").read_text("utf-8")
        assert all(f">{layer}<" in drawn for layer in layers)


def test_the_rows_are_the_committed_tables_and_a_slower_layer_is_told(tmp_path: Path) -> None:
    # One of the rows is the playbook's, and one Governance Decay's.
    others = [RESULTS / "reproduction.yaml", *RESULTS.glob("playbook-adaptation*.csv")]
    for path in (*map(RESULTS.joinpath, claims.TABLES), *others):
        shutil.copy(path, tmp_path)
    page = claims.page(tmp_path)
    assert page == (RESULTS / claims.PAGE).read_text("utf-8")
    assert all(f"*{one.verdict}*:" in page for one in claims.listed(tmp_path))
    path = tmp_path / "pipeline-layers.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if row["layer"] == "prefix":
            row["ms_median"] = "1.2"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (line,) = [line for line in claims.page(tmp_path).splitlines() if "L1, prompt" in line]
    assert line.endswith("| below 1 ms | 1.20 ms | opposite |")
    path.unlink()
    assert not claims.there(tmp_path)


def test_the_latencies_are_the_committed_ones() -> None:
    with (RESULTS / "pipeline-latency.csv").open(encoding="utf-8", newline="") as file:
        committed = {row["between"]: int(row["requests"]) for row in csv.DictReader(file)}
    assert {row["between"]: row["requests"] for row in measures.latency()} == committed
