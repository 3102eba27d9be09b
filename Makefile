# The same few commands for people and for CI. Only Python 3.11+, make and a package index are needed.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
DATA ?= ../shared/data

.DEFAULT_GOAL := help
.PHONY: help demo test lint fix types layers unit docs slow browser frameworks bench adversary coverage lock parts deployment clean

help: ## this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: $(BIN)/python requirements/run.txt pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

demo: $(VENV)/.run ## install, fetch the semantic model, ingest the sample corpora, answer eight questions
	@$(BIN)/python scripts/demo.py

test: lint types layers unit ## everything that must pass: lint, types, layers, tests, documentation examples

lint: $(VENV)/.dev ## rules and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

fix: $(VENV)/.dev ## format and mend what can be mended
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/.dev ## strict type check
	$(BIN)/mypy

layers: $(VENV)/.dev ## dependencies point one way
	$(BIN)/lint-imports

unit: $(VENV)/.dev ## tests and documentation examples
	$(BIN)/python -m pytest

docs: $(VENV)/.dev ## run the examples of README and docs
	$(BIN)/python -m pytest tests/project

slow: $(VENV)/.dev ## the minutes-long tests (200 kills, long fuzzing)
	$(BIN)/python -m pytest -m slow

browser: $(VENV)/.dev ## the pages in a real browser (needs Debian's chromium); SCREENSHOTS=folder keeps pictures
	$(BIN)/python -m pytest -m browser tests/browser

$(VENV)/frameworks/.ready: requirements/run.txt requirements/frameworks.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)/frameworks
	$(VENV)/frameworks/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt
	$(VENV)/frameworks/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/frameworks.txt
	$(VENV)/frameworks/bin/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@touch $@

frameworks: $(VENV)/frameworks/.ready ## the retrievers of LangChain, LlamaIndex and Haystack, in an environment of their own
	$(VENV)/frameworks/bin/python -m pytest tests/integrations -o asyncio_mode=auto -o asyncio_default_fixture_loop_scope=function

bench: $(VENV)/.dev ## every benchmark, one after the other; DATA=path of the public data
	$(BIN)/python -m benchmarks.store
	$(BIN)/python -m benchmarks.ingest
	$(BIN)/python -m benchmarks.beir $(DATA)/scifact
	$(BIN)/python -m benchmarks.xquad $(DATA)/xquad

adversary: $(VENV)/.dev ## two small live models try to get an unverified claim shown; for a schedule, about an hour
	$(BIN)/python -m benchmarks.adversary --questions 300

coverage: $(VENV)/.dev ## which lines the tests reach
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

lock: $(VENV)/.dev ## choose and pin the newest dependencies
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url pyproject.toml requirements/build.in -o requirements/run.txt
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url pyproject.toml requirements/build.in --extra server -c requirements/run.txt -o requirements/server.txt
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url pyproject.toml requirements/build.in --group dev -c requirements/run.txt -o requirements/dev.txt
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url requirements/parts.in -o requirements/parts.txt
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url requirements/deployment.in -o requirements/deployment.txt
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url pyproject.toml requirements/build.in --extra openai --extra server --group frameworks -c requirements/run.txt -o requirements/frameworks.txt

$(VENV)/server/.ready: requirements/server.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)/server
	$(VENV)/server/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/server.txt
	$(VENV)/server/bin/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps .
	@touch $@

$(VENV)/parts/.ready: requirements/parts.txt
	$(PYTHON) -m venv $(VENV)/parts
	$(VENV)/parts/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/parts.txt
	@touch $@

parts: $(VENV)/server/.ready $(VENV)/parts/.ready ## what a server is made of: bill of materials (CycloneDX) and licences, in dist/
	@mkdir -p dist
	$(VENV)/parts/bin/cyclonedx-py environment --output-format JSON --output-file dist/evidencedesk.cdx.json $(VENV)/server/bin/python
	$(VENV)/parts/bin/pip-licenses --python $(VENV)/server/bin/python --format markdown --with-urls --order license --output-file dist/licences.md
	@echo "dist/evidencedesk.cdx.json and dist/licences.md"

$(VENV)/deployment/.ready: requirements/deployment.txt
	$(PYTHON) -m venv $(VENV)/deployment
	$(VENV)/deployment/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/deployment.txt
	@touch $@

deployment: $(VENV)/deployment/.ready ## check and try deploy/: Dockerfile, alerts and unit; the image needs root, no container engine
	$(VENV)/deployment/bin/hadolint deploy/Dockerfile
	@if command -v promtool; then promtool check rules deploy/prometheus/alerts.yaml && promtool test rules deploy/prometheus/alerts.test.yaml; else echo "alerts not tried: promtool is not installed"; fi
	@if [ "$$(id -u)" = 0 ]; then $(PYTHON) scripts/try_image.py; else echo "image and unit not tried: that needs root"; fi

clean: ## remove everything that was made here
	rm -rf $(VENV) .hypothesis .mypy_cache .ruff_cache .pytest_cache .import_linter_cache demo-desk htmlcov .coverage*
