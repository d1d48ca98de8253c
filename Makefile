# The two commands of the README are `make demo` and `make test`; both set up everything they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test explore check fmt proto lock setup clean fuzz senders agents docs bench
.DEFAULT_GOAL := help

help:  ## list the targets
	@echo "make demo   set up, then run the main job on real spans with the embedded store"
	@echo "make test   set up, then run all tests"
	@echo "make explore  look for new counter-examples of the properties, for longer"
	@echo "make check  ruff, mypy --strict, import-linter"
	@echo "make proto  make the stubs of proto/ again"
	@echo "make fmt    format and sort imports"
	@echo "make lock   lock the dependencies again (needs uv)"
	@echo "make fuzz   fuzz each decoder for SECONDS=60"
	@echo "make senders  official Node.js exporters against the receiver (needs node and npm)"
	@echo "make agents  the runner against agents of three frameworks, installed into an environment of their own"
	@echo "make bench  measure, write benchmarks/README.md"
	@echo "make docs   build the site into build/docs, without a network; warnings are errors"

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
	$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

# New examples for the properties, beyond those that `make test` repeats.
explore: $(STAMP)
	$(BIN)/python -m pytest -n auto -m hypothesis --hypothesis-profile=explore $(ARGS)

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python proto/generate.py --check

# The stubs of our gRPC service, kept in the package.
proto: $(STAMP)
	$(BIN)/python proto/generate.py

fmt: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock:
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-header --extra demo --extra instrument --extra values --extra cel --extra judge --extra notify --extra export --extra oidc --extra run --extra preflight --extra notebook \
	  --group test --group check --group docs --group build pyproject.toml --output-file requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-header --constraint requirements.lock tests/fuzz/requirements.in --output-file requirements-fuzz.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-header tests/agents/requirements.in --output-file requirements-agents.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-header benchmarks/peers/requirements.in --output-file requirements-bench.lock

# The fuzzer has an environment of its own; `make test` replays what it found without it.
FUZZ := build/fuzz/venv
SECONDS ?= 60
$(FUZZ)/.installed: requirements-fuzz.lock
	$(PYTHON) -m venv $(FUZZ)
	$(FUZZ)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: --requirement requirements-fuzz.lock
	@touch $@

fuzz: $(FUZZ)/.installed
	for target in $(or $(TARGET),$(notdir $(wildcard tests/fuzz/corpus/*))); do \
	  echo "fuzzing $$target for $(SECONDS) s"; \
	  PYTHONPATH=src $(FUZZ)/bin/python -m tests.fuzz.run $$target -max_total_time=$(SECONDS) -verbosity=0 || exit 1; \
	done

NODE := build/senders
$(NODE)/.installed: tests/senders/node/package-lock.json tests/senders/node/send.mjs
	mkdir -p $(NODE)
	cp tests/senders/node/* $(NODE)/
	cd $(NODE) && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

senders: $(STAMP) $(NODE)/.installed
	$(BIN)/python -m pytest tests/senders/check_node.py

AGENTS := build/agents/venv
$(AGENTS)/.installed: requirements-agents.lock
	$(PYTHON) -m venv $(AGENTS)
	$(AGENTS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements-agents.lock
	@touch $@

agents: $(STAMP) $(AGENTS)/.installed
	$(BIN)/python -m pytest -n auto --dist worksteal tests/agents/check_agents.py

docs: $(STAMP)
	$(BIN)/python -m sphinx -b html -E -W --keep-going -q -d build/doctrees docs build/docs

bench: $(STAMP)
	$(BIN)/python -m benchmarks.all $(BENCH)
	$(BIN)/python -m benchmarks.report
	$(BIN)/python -m benchmarks.scale --write

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
