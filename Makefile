# Requires only Python 3.11, pip and make.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
EXTRAS ?= dev
Q ?= What happens when a researcher runs out of budget?

.PHONY: ask quick test check format bench clean

# Pass the question through the environment, so the shell does not interpret it.
# Exit code 1 means that the documents do not answer the question. It is not an error.
ask: export MARCHWARDEN_QUESTION := $(Q)
ask: .venv/installed
	@$(BIN)/marchwarden ask "$$MARCHWARDEN_QUESTION" --files docs/wiki || [ $$? -eq 1 ]

# Format, lint and the tests that start no processes: under a minute.
quick: .venv/developing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pytest -m "not slow" -n auto --dist worksteal

test: .venv/developing
	$(BIN)/pytest -n auto --dist worksteal

check: .venv/developing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/developing
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .venv/developing
	$(BIN)/python -m benchmarks

clean:
	rm -rf .venv build dist

.venv/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Marchwarden needs Python 3.11 or newer")'
	@echo "setting up .venv (once, about a minute)"
	@$(PYTHON) -m venv --upgrade-deps .venv

.venv/installed: pyproject.toml | .venv/bin/pip
	@$(BIN)/pip install -qq --disable-pip-version-check --editable .
	@touch $@

# --no-compile: the tests import only a small part of the packages, and Python compiles that on import.
.venv/developing: pyproject.toml | .venv/bin/pip
	@$(BIN)/pip install -qq --disable-pip-version-check --no-compile --editable '.[$(EXTRAS)]'
	@touch .venv/installed $@
