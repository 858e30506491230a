# Every target works on a fresh machine with Python 3.11+ and make: the virtual environment is made on demand.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: install serve test check bench shape clean
.DEFAULT_GOAL := help

help: ## Show what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# `make serve` needs the gateway only; everything that develops it needs the `dev` extra too.
$(VENV)/.serve: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.serve

install: $(VENV)/.dev ## Create .venv and install the gateway with everything to develop it

serve: $(VENV)/.serve ## Install and start the gateway on http://127.0.0.1:8642 (make serve ARGS="--port 9000")
	@$(BIN)/hermes serve $(ARGS)

test: check ## Install and run everything: lint, types, import layers, tests
	@$(BIN)/python -m pytest $(ARGS)

check: $(VENV)/.dev ## Lint, format, types and import layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(VENV)/.dev ## Measure the gateway against a bare relay in the same run
	@$(BIN)/python -m bench $(ARGS)

shape: $(VENV)/.dev ## Print the longest files and functions and the import layers
	@$(BIN)/python tests/house/shape.py

clean: ## Remove the virtual environment and caches
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build *.egg-info
