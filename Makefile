# The two commands of the README are `make demo` and `make test`; both set up everything they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test check fmt lock setup clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@echo "make demo   set up, then run the main job on real spans with the embedded store"
	@echo "make test   set up, then run all tests"
	@echo "make check  ruff, mypy --strict, import-linter"
	@echo "make fmt    format and sort imports"
	@echo "make lock   lock the dependencies again (needs uv)"

setup: $(STAMP)

# Everything comes from the one lock file, by hash; the project itself is installed without its own resolution.
$(STAMP): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(STAMP)
	$(BIN)/toolselect demo

test: $(STAMP)
	$(BIN)/python -m pytest

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fmt: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock:
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-header --extra demo --extra instrument --extra values --extra cel --extra judge --extra notify --extra export --group test --group check --group build pyproject.toml --output-file requirements.lock

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
