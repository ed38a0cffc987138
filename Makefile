# motejoin: `make demo` to see it, `make test` to trust it.
.DEFAULT_GOAL := help
.PHONY: help setup demo test test-long fuzz check format bench clean

BIN := .venv/bin
DEMO := demo
WORKERS ?= auto
SECONDS ?= 600

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup:  ## make .venv with pinned dependencies and find (or install) Java 17+
	@tools/setup.sh

demo: setup  ## run the gas cloud on a real radio, beside its centralised twin, and write demo/report.html
	@rm -rf $(DEMO)
	$(BIN)/motejoin run gas-cloud-802154 --out $(DEMO)/run --baseline centralised
	$(BIN)/motejoin report $(DEMO)/run --baseline $(DEMO)/run-centralised --out $(DEMO)/report.html

test: setup  ## run the tests (about 15 minutes on two cores)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -m "not long"

test-long: setup  ## run the tests that are left out of `make test`, such as installing the built wheel
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -m long

fuzz: setup  ## run random scenarios and audit each, for SECONDS=600
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS)

check: setup  ## format, lint, types and import layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: setup  ## rewrite the code in house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup  ## run the benchmarks and print their ratios
	@$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --constraint constraints.txt --group bench
	$(BIN)/python -m tests.bench

clean:  ## remove what demo and tests leave behind
	rm -rf $(DEMO) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
