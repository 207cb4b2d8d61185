# The same commands everywhere: by hand, in pre-commit, in .ci/run. `make` alone lists them.
.DEFAULT_GOAL := help

BIN := .venv/bin
STAMP := .venv/.installed
# Two processes share the tests; 0 runs them in one, which a debugger needs.
TEST_PROCESSES ?= 2

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/\1\t\2/' | while IFS="$$(printf '\t')" read -r name text; do printf '  %-8s %s\n' "$$name" "$$text"; done

.PHONY: setup
setup: $(STAMP) ## Make .venv from the lock file (PYTHON=... chooses the interpreter)

# Running as root, as containers do, is fine inside a venv: pip's warning about it is silenced at these calls alone.
PIP_INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --root-user-action=ignore

# A venv whose interpreter is gone or too old is made anew; a good one is kept.
$(STAMP): requirements.lock pyproject.toml
	@rm -f $(STAMP)
	@found=; if ! $(BIN)/python -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	  for candidate in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 python; do \
	    if "$$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	      found="$$candidate"; break; \
	    fi; \
	  done; \
	  if [ -z "$$found" ]; then \
	    echo 'No Python 3.11 or newer with its venv module was found. Install one, or say where it is: make setup PYTHON=/path/to/python3' >&2; \
	    exit 1; \
	  fi; \
	  "$$found" -m venv --clear .venv; \
	fi
	@echo 'Installing what requirements.lock names into .venv; the first time takes about a minute.'
	@$(PIP_INSTALL) --require-hashes -r requirements.lock
	@$(PIP_INSTALL) --no-index --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

.PHONY: demo
demo: setup ## Start a local PostgreSQL, load the sample tenant, answer six questions
	@$(BIN)/python -m support_agent.demo

.PHONY: test
test: setup ## Run the whole test suite
	$(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist loadfile

.PHONY: soak
soak: setup ## Run the property tests with many more examples
	HYPOTHESIS_PROFILE=soak $(BIN)/python -m pytest -m soak -n $(TEST_PROCESSES)

.PHONY: bench
bench: setup ## Measure against the hand-written floor and print the ratios
	$(BIN)/python -m pytest -m bench --capture=no

.PHONY: lint
lint: setup ## Check style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

.PHONY: types
types: setup ## Check types
	$(BIN)/mypy

.PHONY: imports
imports: setup ## Check which package may import which
	$(BIN)/lint-imports

.PHONY: migrate
migrate: setup ## Bring the database (DATABASE_URL, else the local one) to the newest revision
	@$(BIN)/support-agent database upgrade

.PHONY: lock
lock: ## Resolve the dependencies anew into requirements.lock (needs uv)
	uv pip compile --quiet --no-config --universal --python-version 3.11 --upgrade --generate-hashes --no-emit-index-url \
	  --custom-compile-command 'make lock' --extra dev --output-file requirements.lock pyproject.toml

.PHONY: clean
clean: ## Remove .venv and caches; the local database in .support-agent stays
	rm -rf .venv build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
