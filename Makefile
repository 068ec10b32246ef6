# Every target sets up the environment first; needed are Python 3.11 to 3.13, pip, git and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Where it is set, each process compiles all that it imports anew: a LiteLLM proxy for 5 seconds.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: env demo test check style bench soak validate report report-check lock harnesses agents sweep-demo docs
.DEFAULT_GOAL := env

env: $(STAMP)

# With uv, if it is installed or can be installed into the environment; else with pip.
$(STAMP): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || \
	  { echo "Python 3.11 to 3.13 is needed; choose one with make PYTHON=python3.12"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@set -e; \
	UV=$$(command -v uv || true); \
	if [ -z "$$UV" ] && $(BIN)/python -m pip install --quiet uv >/dev/null 2>&1; then UV=$(BIN)/uv; fi; \
	if [ -n "$$UV" ]; then INSTALL="$$UV pip install --quiet --python $(BIN)/python"; \
	else INSTALL="$(BIN)/python -m pip install --quiet"; fi; \
	echo "Installing the locked packages with: $$INSTALL"; \
	$$INSTALL --require-hashes -r requirements.txt; \
	$$INSTALL --no-deps --no-build-isolation -e .
	@touch $(STAMP)

# A real model obeys a policy, loses it to compaction, and violates it.
demo: env
	$(BIN)/constraintrot demo

# Types are `make check`; .ci/run does both.
test: env style
	$(BIN)/python -m pytest -q -rfEs -n 2 --dist loadfile --no-loadscope-reorder -m "not soak"

check: env style
	$(BIN)/mypy

style: env
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/inspect-evals-lint tasks

bench: env
	$(BIN)/python tests/bench_aims.py
	$(BIN)/python tests/bench_rampart.py
	$(BIN)/python tests/bench_seeds.py
	$(BIN)/python tests/bench_stats.py
	$(BIN)/python tests/bench_frameworks.py
	$(BIN)/python tests/bench_pins.py
	$(BIN)/python tests/bench_coding.py
	$(BIN)/python tests/bench_report.py
	$(BIN)/python tests/bench_store.py --episodes 1000000 --cells 200
	$(BIN)/python tests/bench_playbook.py
	$(BIN)/python tests/bench_wiki.py
	$(BIN)/python tests/bench_pipeline.py
	$(BIN)/python tests/bench_doctor.py
	$(BIN)/python tests/bench.py

# Every agent framework with its compaction, without and with pins; offline, takes minutes.
harnesses: env
	$(BIN)/constraintrot harnesses

# The agent that a test plays an episode in; Apache-2.0, from npm.
agents: env
	$(BIN)/constraintrot agents install codex --yes

# A small sweep on a Ray cluster of this machine, with and without kills; installs the extra [scale].
sweep-demo: env
	@$(BIN)/python -c 'import fsspec, inspect_flow, ray' 2>/dev/null || { \
	  echo "Installing the extra [scale]"; \
	  $(BIN)/python -m pip install --quiet --no-build-isolation -e '.[scale]'; }
	$(BIN)/python -m tests.runs.sweep.drill

soak: env
	$(BIN)/python -m pytest -q -m "soak or hypothesis" --hypothesis-profile=thorough

# Check the coverage of the report's intervals and the decisions of the gate, and write the
# committed tables; takes minutes.
validate: env
	$(BIN)/python -m results.tools.coverage --csv results/coverage.csv
	$(BIN)/python -m results.tools.gate --csv results/gate.csv

# Generate the files of results/ from its frames, runs.yaml and reproduction.yaml; a test checks them.
report: env
	$(BIN)/python -m results.tools results

report-check: env
	$(BIN)/python -m results.tools results --check

# The documentation site, in build/site; strict, and without a network.
docs: env
	$(BIN)/python docs/site.py
	$(BIN)/zensical build --strict --clean -f mkdocs.yml

# All extras but hf, and the development tools; hashes, and no index address.
lock: env
	@PATH="$(CURDIR)/$(BIN):$$PATH"; command -v uv >/dev/null || $(BIN)/python -m pip install --quiet uv; \
	uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-header --no-annotate \
	  --extra eval --extra local --extra embed --extra report --extra doctor --extra harnesses --group dev -o requirements.txt
