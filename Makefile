# Everything here works on a machine that has Python 3.11+, pip, git and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
UV := $(shell command -v uv 2>/dev/null)

.PHONY: env demo test lint bench soak lock results clean

env: $(STAMP)

# uv when it is there or pip can bring it, else venv and pip.
$(STAMP): requirements.txt pyproject.toml
	@if command -v uv >/dev/null 2>&1; then UV=uv; \
	elif $(PYTHON) -m pip install --quiet --user uv >/dev/null 2>&1 && $(PYTHON) -m uv --version >/dev/null 2>&1; then UV="$(PYTHON) -m uv"; \
	else UV=; fi; \
	if [ -n "$$UV" ]; then \
	  $$UV venv --quiet --allow-existing --python $(PYTHON) $(VENV) && \
	  $$UV pip install --quiet --python $(BIN)/python --require-hashes -r requirements.txt && \
	  $$UV pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .; \
	else \
	  $(PYTHON) -m venv $(VENV) && \
	  $(BIN)/python -m pip install --quiet --require-hashes -r requirements.txt && \
	  $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .; \
	fi
	@touch $(STAMP)

demo: env
	$(BIN)/constraintrot demo

test: env lint
	$(BIN)/python -m pytest -q -m "not soak"

lint: env
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright

bench: env
	$(BIN)/python tests/bench.py

soak: env
	$(BIN)/python -m pytest -q -m soak

# The lock file: all extras but hf and the development tools, with hashes, without index addresses.
lock:
	uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-header --no-annotate --extra local --extra embed --group dev -o requirements.txt
