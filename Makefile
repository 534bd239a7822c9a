.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help
help: ## Say what each command does
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' | column -t -s '|'

.PHONY: setup
setup: .venv/.installed ## Make .venv with everything the service, its tests and the demo need
.venv/.installed: requirements.txt requirements-dev.txt constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements-dev.txt
	@touch $@

.PHONY: check
check: setup ## Format, lint, types, import contracts: everything but the tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/lint-imports

.PHONY: format
format: setup ## Rewrite the code in the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: test
test: setup ## Run all tests; with TEST_DATABASE_URL and TEST_REDIS_URL on PostgreSQL and Redis
	$(BIN)/pytest

.PHONY: faults
faults: setup ## Print which rows of the fault table have a test, and which have none
	$(BIN)/python -m tests.faults_report

.PHONY: bench
bench: setup ## Compare with a bare loop and with a plain Flask + Celery; QUICK=1 under a minute, WRITE=1 keeps it
	$(BIN)/python -m tests.bench
