# Evergold. `make help` lists what there is. Everything works inside .venv, which is made and repaired as needed.

PYTHON ?= python3
PORT ?= 8321
VENV := .venv/bin
TESTS ?=
N ?= 300
# Twice the cores of a small machine: while servers are waited for, there is something to compute.
PROCESSES ?= 4
# LEAN=1 leaves out torch (hundreds of MB, on Linux several GB), and with it the scoring of paraphrases.
LEAN ?=
lean := $(filter-out 0,$(LEAN))
RUN_PARTS := $(strip run $(if $(lean),,bertscore))
TOOLS_PARTS := run dev
DEV_PARTS := $(strip $(TOOLS_PARTS) $(if $(lean),,bertscore))
BERTSCORE_TESTS := $(wildcard tests/evergold/scoring/test_*bertscore*.py tests/evergold/scoring/test_mwe_paraphrase*.py) \
	tests/evergold/scoring/test_text_generation.py tests/evergold/scoring/test_conformance_paraphrase.py tests/evergold/scoring/test_mwe_removed.py tests/workers/test_device.py \
	tests/workers/test_selfcheck.py tests/test_end_to_end_paraphrase.py tests/test_end_to_end_types.py tests/web/test_demo_paraphrasing.py

# Children of tests are hundreds: what is compiled once need not be compiled by each.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: run test soak test-bertscore screenshots check audit fuzz chaos mutants attacks bench lint types contracts migrations lock clean help venv venv-dev venv-tools

run: venv  ## start the demo server: http://127.0.0.1:8321 (PORT=9000: another port, LEAN=1: without torch)
	@exec $(VENV)/python -P -m evergold.cli serve --demo --port $(PORT) $(if $(lean),--lean)

test: venv-dev  ## run all tests (TESTS=tests/base/test_times.py: one file, LEAN=1: without those that need torch)
	@$(if $(lean),EVERGOLD_TEST_LEAN=1) $(VENV)/pytest -n $(PROCESSES) --dist loadfile --no-loadscope-reorder --durations=25 $(TESTS)

soak: venv-dev  ## run all tests at their full depth, and a long chaos test: before a release, after large changes (an hour or more)
	@$(VENV)/pytest -n $(PROCESSES) --dist loadfile --no-loadscope-reorder --durations=25 --soak $(TESTS)
	@$(MAKE) --no-print-directory chaos N=1000
	@$(MAKE) --no-print-directory mutants
	@$(MAKE) --no-print-directory attacks
	@$(MAKE) --no-print-directory mutants SEMANTIC=1
	@$(MAKE) --no-print-directory audit ALL=1

test-bertscore: venv-dev  ## run only the tests that need torch
	@$(VENV)/pytest -q $(BERTSCORE_TESTS)

check: test lint types contracts audit  ## run everything that CI runs

audit: venv-dev  ## look for known vulnerabilities in pinned packages and for secrets in committed files (ACCEPT=1: accept the findings as harmless; ALL=1: also in unchanged files)
	@$(VENV)/python requirements/audit.py $(if $(ACCEPT),--accept) $(if $(ALL),--all)

fuzz: venv-dev  ## feed random files to the reader of every task type, with atheris, SECONDS each (60)
	@for task in $$($(VENV)/python -c "import evergold.scoring.tasks as t; print(*t.TASKS)"); do echo "$$task"; \
	$(VENV)/python -m tests.fuzz.atheris_target $$task var/fuzz/$$task -max_total_time=$(or $(SECONDS),60) \
	-artifact_prefix=var/fuzz/ 2>&1 | grep -E "^Done|ERROR|Error|Test unit" || exit 1; done

chaos: venv-dev  ## kill servers and workers under N submissions, and compare with a calm run (make chaos N=10000)
	@$(VENV)/python -m bench.chaos --submissions $(N)

mutants: venv-dev  ## put N faults into the decisive modules, one at a time: tests must notice 95 % of them (SEED=2: others; SEMANTIC=1: careless moves, in all rooms)
	@$(VENV)/python -m bench.mutants --sample $(N) $(if $(SEED),--seed $(SEED)) $(if $(ONLY),--only $(ONLY)) $(if $(SEMANTIC),--semantic) $(if $(FOLDER),--folder $(FOLDER))

attacks: venv-dev  ## attack started servers: scores that reveal gold, heavy files, texts, statistics (ONLY=heavy_file)
	@$(VENV)/python -m tests.attacks $(ONLY)

bench: venv-dev  ## measure what the README quotes, in at most twenty minutes; `python -m bench.readme` writes it there
	@$(VENV)/python -m bench

lint: venv-tools  ## ruff: style and likely mistakes; and the words of docs/glossary.md
	@$(VENV)/ruff check .
	@$(VENV)/ruff format --check .
	@$(VENV)/python requirements/words.py

types: venv-tools  ## mypy, strict
	@$(VENV)/mypy

contracts: venv-tools  ## check which module may import which
	@$(VENV)/lint-imports

migrations: venv-tools  ## check that the migrations create exactly the tables of app/models
	@$(VENV)/pytest -q tests/test_migrations.py

screenshots: venv-dev  ## the README's pictures and a contact sheet under var/, from a demo server in a real browser (LEAN=1: without torch)
	@$(if $(lean),LEAN=1) $(VENV)/python docs/screenshots.py

lock: venv-tools  ## update the pinned versions in requirements/*.txt, from the ranges in both pyproject.toml
	@$(VENV)/python requirements/lock.py

clean:  ## remove .venv and caches (never ./var, where the data lie)
	@rm -rf .venv build dist *.egg-info evergold/build evergold/*.egg-info .mypy_cache .pytest_cache .ruff_cache .import_linter_cache

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# The quick test spares even the start of Python when nothing changed; requirements/install.py looks closely.
venv:
	@$(call fresh,$(RUN_PARTS)) || { $(call install,$(RUN_PARTS)); }

venv-tools:
	@$(call fresh,$(TOOLS_PARTS)) || { $(call install,$(TOOLS_PARTS)); }

venv-dev:
	@$(call fresh,$(DEV_PARTS)) || { $(call install,$(DEV_PARTS)); }

define fresh
test -x $(VENV)/python && test ! -e .venv/.evergold-installing \
&& ( for part in $(1); do \
grep -qxF '$(CURDIR)' .venv/.evergold-$$part 2>/dev/null || exit 1; \
for file in requirements/*.txt pyproject.toml evergold/pyproject.toml; do test .venv/.evergold-$$part -nt $$file || exit 1; done; done )
endef

define install
command -v $(PYTHON) >/dev/null \
|| { echo "There is no '$(PYTHON)' here: install Python 3.11 or newer, or name it: make PYTHON=python3.12" >&2; exit 1; }; \
$(PYTHON) requirements/install.py $(1)
endef
