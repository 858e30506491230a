# Every target works on a fresh machine with Python 3.11+ and make: the virtual environment is made on demand.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CLIENTS := .venv-clients
NODE_CLIENTS := tests/clients/node
CLI_AGENTS := tests/cli

.PHONY: install serve test test-faults test-clients test-cli check bench shape clean
.DEFAULT_GOAL := help

help: ## Show what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# `make serve` needs the gateway only; everything that develops it needs the `dev` extra too.
$(VENV)/.serve: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[mcp,web]'
	@touch $@

$(VENV)/.dev: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.serve

install: $(VENV)/.dev ## Create .venv and install the gateway with everything to develop it

serve: $(VENV)/.serve ## Install and start the gateway on http://127.0.0.1:8642 (make serve ARGS="--port 9000")
	@$(BIN)/hermes serve $(ARGS)

# The longest files come first in pyproject.toml's testpaths: in their order nobody waits for the last one.
test: check ## Install and run everything: lint, types, import layers, tests
	@$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder $(ARGS)

test-faults: $(VENV)/.dev ## Kill, stop and leave a real gateway process at random, and check what is left
	@$(BIN)/python -m pytest tests/faults $(ARGS)

# The clients have an environment of their own: they want other versions of much that the gateway uses.
$(CLIENTS)/.installed: tests/clients/requirements.txt pyproject.toml
	@test -x $(CLIENTS)/bin/python || $(PYTHON) -m venv $(CLIENTS)
	@$(CLIENTS)/bin/python -m pip install --quiet --disable-pip-version-check 'uv>=0.9,<1'
	@$(CLIENTS)/bin/uv pip install --quiet --upgrade --python $(CLIENTS)/bin/python --requirement $< --editable .
	@touch $@

$(NODE_CLIENTS)/node_modules/.installed: $(NODE_CLIENTS)/package.json
	@if command -v npm >/dev/null; then \
		cd $(NODE_CLIENTS) && npm install --no-package-lock --no-audit --no-fund --loglevel=error \
			&& touch node_modules/.installed; \
	else echo "No npm: the JavaScript clients are not tried."; fi

test-clients: $(CLIENTS)/.installed $(NODE_CLIENTS)/node_modules/.installed ## Install the newest clients, run each against a gateway, write docs/clients/compatibility.md
	@$(CLIENTS)/bin/python -m pytest -c tests/clients/pytest.ini --rootdir . tests/clients --table docs/clients/compatibility.md $(ARGS)

# Whether npm may run install scripts depends on where it runs; the one that is needed is run by name.
$(CLI_AGENTS)/node_modules/.installed: $(CLI_AGENTS)/package.json
	@if command -v npm >/dev/null; then \
		cd $(CLI_AGENTS) \
			&& npm install --ignore-scripts --no-package-lock --no-audit --no-fund --loglevel=error \
			&& cd node_modules && node @anthropic-ai/claude-code/install.cjs \
			&& .bin/claude --version && .bin/codex --version && touch .installed; \
	fi

test-cli: $(VENV)/.dev $(CLI_AGENTS)/node_modules/.installed ## Install Claude Code and Codex into tests/cli, and run them behind a gateway
	@if command -v npm >/dev/null; then $(BIN)/python -m pytest --numprocesses 2 --dist loadfile $(CLI_AGENTS) $(ARGS); \
	else echo "No npm: the CLI agents are not tried."; fi

check: $(VENV)/.dev ## Lint, format, types and import layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(VENV)/.dev ## Measure the gateway against a bare relay in the same run
	@$(BIN)/python -m bench $(ARGS)

shape: $(VENV)/.dev ## Print the longest files and functions and the import layers
	@$(BIN)/python tests/house/shape.py

clean: ## Remove the virtual environments and caches
	@rm -rf $(VENV) $(CLIENTS) $(NODE_CLIENTS)/node_modules $(CLI_AGENTS)/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis build *.egg-info
