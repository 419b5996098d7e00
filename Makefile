# Every target is a line or two; `make` alone lists them.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
# Whole files go to one process or the other, so that what a file's tests share is made once.
SIDE_BY_SIDE := -n 2 --dist loadfile --no-loadscope-reorder
# An environment of its own; old libraries are warned about by newer ones beneath them.
LOWEST := build/lowest
# Another one, beside .venv: Airflow and Dagster bring 150 packages.
NEIGHBOURS := build/neighbours
# And one with servers that are programs of their own, beside jars for one more.
SERVICES := build/services
# What `make test` leaves out takes an hour and more; `.ci/run` has slices of it.
SLICED := $(if $(SLICE),--slice $(SLICE))
# Whoever has no uv gets one beside .venv.
# Lowest versions are tried on Python 3.12 if it is here, pyenv's too.
NEWER = $(shell PYENV_VERSION=3.12 python3.12 -c 'import sys; print(sys.executable)' 2>/dev/null || command -v $(PYTHON))
UV := $(or $(shell command -v uv),build/uv/bin/uv)
# What `test` reaches of the code is noted if COVERED is set: `.ci/run` does.
COVER := $(if $(COVERED),--cov --cov-report=)
NOT_OUR_WARNINGS := -W ignore::DeprecationWarning

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-ci test-slow test-all test-lowest test-neighbours kills test-services coverage conformance lint docs format bench clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## Make .venv from requirements.lock, with windrow in it

demo: setup ## Run the demo: synthetic events, several days of runs, a report
	$(BIN)/windrow demo

test: setup ## Run the tests of every day
	$(BIN)/pytest $(SIDE_BY_SIDE) $(COVER) -m "not ci and not slow and not conformance and not kills and not services"

test-ci: setup ## Run those that take several runs each (SLICE=1/5: a fifth of them, by file)
	$(BIN)/pytest $(SIDE_BY_SIDE) $(SLICED) -m "ci and not slow"

test-slow: setup ## Run those that take long (SLICE=1/5: a fifth of them)
	$(BIN)/pytest $(SIDE_BY_SIDE) $(SLICED) -m slow

test-all: setup ## Run all tests
	$(BIN)/pytest $(SIDE_BY_SIDE)

test-lowest: $(filter build/%,$(UV)) ## Try the lowest versions that pyproject.toml allows
	$(UV) venv --quiet --clear --no-config --python "$(NEWER)" $(LOWEST)
	$(UV) pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct -e '.[metrics,openlineage,connect]'
	$(UV) pip install --quiet --python $(LOWEST)/bin/python pytest pytest-timeout hypothesis hatchling
	$(UV) pip install --quiet --python $(LOWEST)/bin/python --no-deps -r requirements.nodeps.lock
	$(LOWEST)/bin/pytest $(NOT_OUR_WARNINGS) -m "not spark and not slow and not kills and not conformance and not services" \
	  --ignore tests/tables --ignore tests/spark --ignore tests/crashes
	$(LOWEST)/bin/pytest $(NOT_OUR_WARNINGS) tests/engine/test_replays.py tests/tables/test_rewriting.py

build/uv/bin/uv:
	$(PYTHON) -m venv build/uv
	build/uv/bin/python -m pip install --quiet uv

test-neighbours: $(NEIGHBOURS)/.ready ## Try what windrow has for Airflow and Dagster with the real ones
	WINDROW="$(abspath $(BIN)/windrow)" $(NEIGHBOURS)/bin/pytest -W default -m neighbours tests/neighbours

kills: setup ## Kill runs at many moments and see that the next ones mend it
	$(BIN)/pytest -n 2 --dist worksteal -m "kills and not slow"

test-services: $(SERVICES)/.ready ## Run a project's life on a cluster, Spark Connect, a store and catalogs
	WINDROW_SERVICES="$(abspath $(SERVICES)/bin)" $(BIN)/pytest $(SLICED) -m services -rs

coverage: setup ## Say how much of the code `make test COVERED=1` reached; it may not fall
	$(BIN)/coverage report --fail-under=83

conformance: setup ## Compare whole tables with the published expected output
	$(BIN)/pytest $(SIDE_BY_SIDE) -m conformance

lint: setup ## Check style, types and layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

docs: setup ## Build the documentation into build/site; a link that leads nowhere is an error
	$(BIN)/python tools/docs/build_site.py

format: setup ## Put the code in shape
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: setup ## Measure what runs cost, beside the floor (see docs/performance.md)
	$(BIN)/python -m bench

clean: ## Remove what tools and runs left behind (.venv stays)
	rm -rf build dist windrow-demo .windrow .coverage .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests -type d -name __pycache__ -prune -exec rm -rf {} +

# Of the same Python as .venv, from which it has PySpark and what else windrow needs: by a path file, behind its own.
$(NEIGHBOURS)/.ready: requirements.neighbours.lock $(READY)
	rm -rf $(NEIGHBOURS)
	@if command -v uv >/dev/null; then \
	  set -ex; \
	  uv venv --quiet --no-config --python $(BIN)/python $(NEIGHBOURS); \
	  uv pip install --quiet --python $(NEIGHBOURS)/bin/python --require-hashes -r requirements.neighbours.lock; \
	else \
	  set -ex; \
	  $(BIN)/python -m venv $(NEIGHBOURS); \
	  $(NEIGHBOURS)/bin/python -m pip install --quiet --require-hashes -r requirements.neighbours.lock; \
	fi
	@site='import sysconfig; print(sysconfig.get_path("purelib"))'; \
	  { echo "$(CURDIR)/src"; $(BIN)/python -c "$$site"; } > "$$($(NEIGHBOURS)/bin/python -c "$$site")/windrow.pth"
	@touch $@

$(SERVICES)/.ready: requirements.services.lock tests/services/rest/pom.xml tests/services/azure/package-lock.json $(READY)
	rm -rf $(SERVICES)
	@if command -v uv >/dev/null; then \
	  set -ex; \
	  uv venv --quiet --no-config --python $(BIN)/python $(SERVICES); \
	  uv pip install --quiet --python $(SERVICES)/bin/python --require-hashes -r requirements.services.lock; \
	else \
	  set -ex; \
	  $(BIN)/python -m venv $(SERVICES); \
	  $(SERVICES)/bin/python -m pip install --quiet --require-hashes -r requirements.services.lock; \
	fi
	@if command -v mvn >/dev/null; then \
	  mvn -q -B -f tests/services/rest/pom.xml dependency:copy-dependencies -DoutputDirectory="$(abspath $(SERVICES)/rest)"; \
	else \
	  echo "There is no Maven here: the test of the REST catalog will be skipped."; \
	fi
	@if command -v npm >/dev/null; then \
	  mkdir -p $(SERVICES)/azure && cp tests/services/azure/package*.json $(SERVICES)/azure && \
	  npm ci --silent --no-audit --no-fund --ignore-scripts --prefix $(SERVICES)/azure; \
	else \
	  echo "There is no npm here: the test of Azure's storage will be skipped."; \
	fi
	@touch $@

# uv where there is one (it is several times faster), pip otherwise; both check the hashes.
$(READY): requirements.lock requirements.nodeps.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "windrow needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1)." >&2; \
	  echo "Name another one: make $(or $(MAKECMDGOALS),setup) PYTHON=python3.12" >&2; exit 1; }
	@echo "Installing the locked packages into .venv. PySpark is 450 MB and is built from source:"
	@echo "the first time takes a few minutes, later ones come from the cache."
	@if command -v uv >/dev/null; then \
	  set -ex; \
	  test -x $(BIN)/python || uv venv --quiet --no-config --python "$$(command -v $(PYTHON))" .venv; \
	  uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock; \
	  uv pip install --quiet --python $(BIN)/python --no-deps --require-hashes -r requirements.nodeps.lock; \
	  uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .; \
	else \
	  set -ex; \
	  test -x $(BIN)/python || $(PYTHON) -m venv .venv; \
	  $(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip; \
	  $(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock; \
	  $(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements.nodeps.lock; \
	  $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .; \
	fi
	@touch $@
