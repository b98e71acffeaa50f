# `make help` lists what can be made.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install run test soak bench lint format lock clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LOCKED := $(PIP) --no-compile --no-deps --require-hashes

# Asked for by packages in the lock, unneeded by lorebank (tests/test_dependencies.py proves it).
UNNEEDED := fsspec filelock hf-xet huggingface-hub numkong pyyaml tqdm usearch
# The same, but the tests use them.
UNNEEDED_AT_RUN_TIME := httpcore2 httpx2 httpx2-jsfetch truststore
COMPILE := $(BIN)/uv --no-config pip compile pyproject.toml requirements/build.in --quiet --universal \
	--python-version 3.11 --generate-hashes --no-header --no-emit-index-url --no-annotate \
	$(UNNEEDED:%=--no-emit-package %)
# Byte code is written for what is imported, not for the 60 MB that never are.
WARM := import httptools, httpx, multipart, onnxruntime, orjson, rich.progress, rich.table, snowballstemmer, \
	tokenizers, cronsim, pygit2, pyjson5, ruamel.yaml, lorebank.bootstrap.build, lorebank.cli.app, \
	lorebank.vaults.store.runtime

help: ## Show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 18

install: $(VENV)/runtime.stamp ## Make .venv with the offline default, weights included

run: install ## Start the server on 127.0.0.1:8888
	@$(BIN)/lorebank serve

# Those with server processes and kills mostly wait, so they run beside the others; their output comes at the
# end.
BESIDE := tests/system tests/isolation tests/vault_isolation

test: $(VENV)/dev.stamp ## Run the tests (12 minutes at most on 2 cores)
	@log=$$(mktemp); $(BIN)/python -m pytest $(BESIDE) >"$$log" 2>&1 & beside=$$!; \
	$(BIN)/python -m pytest $(BESIDE:%=--ignore=%); others=$$?; \
	wait $$beside; servers=$$?; cat "$$log"; rm -f "$$log"; exit $$((others || servers))

soak: $(VENV)/dev.stamp ## Run the long crash and load tests
	$(BIN)/python -m pytest -m soak

bench: $(VENV)/dev.stamp ## Measure speed and size over HTTP
	$(BIN)/python bench/run.py

lint: $(VENV)/dev.stamp ## Check style, types and the import rules
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy --strict src
	$(BIN)/lint-imports

format: $(VENV)/dev.stamp ## Rewrite the code in the project's style
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

lock: $(BIN)/python ## Renew requirements/*.txt from pyproject.toml
	$(PIP) uv==0.13.9
	$(COMPILE) $(UNNEEDED_AT_RUN_TIME:%=--no-emit-package %) --output-file requirements/runtime.txt
	$(COMPILE) --extra dev --extra documents --constraints requirements/runtime.txt \
		--output-file requirements/dev.txt

clean: ## Remove .venv and every cache
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "lorebank needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/runtime.stamp: requirements/runtime.txt pyproject.toml | $(BIN)/python
	@echo "Installing lorebank and its model weights into $(VENV): about 200 MB to download"
	@$(LOCKED) -r requirements/runtime.txt
	@$(PIP) --no-deps --no-build-isolation --editable .
	@$(BIN)/python -c "$(WARM)"
	@touch $@

$(VENV)/dev.stamp: requirements/dev.txt $(VENV)/runtime.stamp
	$(LOCKED) -r requirements/dev.txt
	@touch $@
