.DEFAULT_GOAL := help
BIN := .venv/bin
STAMP := .venv/.installed

# The first Python that is new enough; `make setup PYTHON=…` takes another.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$python" && break; \
	done)

.PHONY: help
help: ## Say what each command does
	@sed -nE 's/^([a-z0-9-]+):.*## (.*)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name what; do \
		printf '  make %-12s %s\n' "$$name" "$$what"; done

.PHONY: setup
setup: $(STAMP) ## Make .venv with everything the service, its tests and the demo need
$(STAMP): requirements.txt requirements-dev.txt constraints.txt
	@test -n "$(PYTHON)" || { echo "make: Python 3.11 or newer is needed (PYTHON=/path/to/python names one)" >&2; exit 1; }
	@rm -f $@
	@echo "Setting up .venv with $$($(PYTHON) --version): about a minute, only when requirements have changed"
	@$(PYTHON) -m venv .venv
	@{ $(BIN)/python -m pip install --disable-pip-version-check --progress-bar off \
		--requirement requirements-dev.txt 2>&1 && touch $@; } | tee .venv/setup.log | \
		while read -r line; do case "$$line" in Collecting*|Installing*) printf . ;; esac; done
	@echo; test -e $@ || { tail -n 40 .venv/setup.log >&2; exit 1; }

.PHONY: demo
demo: setup ## Run the whole service here until Ctrl-C; PORT=8001, VERBOSE=1, SCENARIO=list
	@$(BIN)/python -m sandbox.stack

.PHONY: test
test: setup ## Run all tests; with TEST_DATABASE_URL and TEST_REDIS_URL on PostgreSQL and Redis
	$(BIN)/pytest -n 2 tests/unit
	$(BIN)/pytest -n 2 -m "not guards and not browser" --ignore=tests/unit

.PHONY: test-browser
test-browser: setup ## Drive the pages in real Chromium; SCREENS=1 renews the pictures in docs/screens
	SCREENS="$(SCREENS)" $(BIN)/pytest -n 2 -m browser tests/browser

.PHONY: pages
pages: setup ## Weigh the pages in real Chromium, and watch the console while 200 turns run
	@$(BIN)/python -m tests.browser

.PHONY: guards
guards: setup ## Remove each guard of the design and let the simulator find it: minutes
	$(BIN)/pytest -n 2 -m guards

.PHONY: chaos
chaos: setup ## Kill, stop and cut everything at each step of a turn; RUNS=3, CELLS=regex, WRITE=1
	@RUNS="$(RUNS)" CELLS="$(CELLS)" LANES="$(LANES)" WRITE="$(WRITE)" $(BIN)/python -m tests.chaos

.PHONY: golden
golden: setup ## Ask a model what it must get right before it may replace the one in use; ARGS="--chat-model …"
	@$(BIN)/python -m tests.golden $(ARGS)

.PHONY: check
check: setup ## Check format, lint, types and import contracts: everything but the tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/lint-imports --no-logo

.PHONY: format
format: setup ## Rewrite the code in the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: bench
bench: setup ## Race the service against a bare loop and a plain Celery version; QUICK=1, RESUME=1
	$(BIN)/python -m tests.bench

.PHONY: faults
faults: setup ## Say which faults and which sentences of the contract have a test
	$(BIN)/python -m tests.faults_report

.PHONY: replay-tau2
replay-tau2: setup ## Put third-party retail cases through the tools, with no model
	@$(BIN)/python -m tests.replay

.PHONY: lock
lock: ## Pin every package anew, from a fresh environment, in constraints.txt
	@directory=$$(mktemp -d) && trap 'rm -rf "$$directory"' EXIT && $(PYTHON) -m venv "$$directory/venv" && \
		cat requirements.txt requirements-dev.txt | grep -vE '^-[cr] ' > "$$directory/all.txt" && \
		"$$directory/venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$$directory/all.txt" && \
		{ echo '# Every package of a complete install, pinned. Made by: make lock'; \
		"$$directory/venv/bin/python" -m pip freeze --disable-pip-version-check; } > constraints.txt && \
		grep -c == constraints.txt | sed 's/$$/ packages pinned in constraints.txt/'

.PHONY: clean
clean: ## Remove .venv, caches and what demos left; a ledger of real refunds stays
	rm -rf .venv .cache .coverage .hypothesis .mypy_cache .ruff_cache .import_linter_cache .state/demo-*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: simulate
simulate: setup ## Simulate faulty days: SEED=1 TURNS=10000 AFTER=0 PROCESSES=1; EPISODE=n shows one of them again
	@$(BIN)/python -m tests.simulation --seed $(or $(SEED),1) $(if $(EPISODE),--episode $(EPISODE),--turns $(or $(TURNS),10000) --after $(or $(AFTER),0) --processes $(or $(PROCESSES),1))
