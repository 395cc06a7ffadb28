# Everything from a bare checkout with Python 3.11 or later and nothing else.
# Paths are relative and programs run as modules, so a folder with spaces works.

PYTHON ?=
PYTEST_ARGS ?=
# Many tests wait for processes and servers, so that three keep two cores at work; JOBS=0 runs one after another.
JOBS ?= $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) * 3 / 2 )))

python := .venv/bin/python
# What is compiled is kept, whatever the shell says: to compile takes a third of the demo's time.
run := env -u PYTHONDONTWRITEBYTECODE $(python) -m
# A file of tests runs in one worker, which makes its fixtures once.
pytest = $(run) pytest -n $(JOBS) --maxprocesses 6 \
	--dist loadfile --no-loadscope-reorder
# Answers no questions, and speaks only of errors.
pip := $(python) -m pip --disable-pip-version-check --no-input -qq
# uv takes seconds where pip takes minutes, but does not reach every index that pip is set up for.
install = $(python) -m uv pip install --quiet --python $(python) --require-hashes $(1:%=-r %) 2>/dev/null || \
	$(pip) install --require-hashes $(1:%=-r %)

.DEFAULT_GOAL := help
.PHONY: help demo test test-quick test-outside dearest lint types bench soak pins docs clean

help:  ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' Makefile

demo: .venv/.runtime  ## set everything up, run the main job over the sandbox, print the report
	@$(run) predibot demo

test: .venv/.dev  ## set everything up, run the tests (PYTEST_ARGS="-k word" to choose)
	@$(pytest) $(PYTEST_ARGS)

test-quick: .venv/.dev  ## the tests that need no process, socket, browser or database
	@$(pytest) --quick $(PYTEST_ARGS)

# A pass is stored, so that .ci/run knows when the next one is due.
test-outside: .venv/.dev  ## the tests that need an environment of their own; due when pins change
	@$(pytest) -m outside $(PYTEST_ARGS)
	@$(if $(PYTEST_ARGS),,sha256sum pyproject.toml requirements*.txt > .ci/outside.sha256)

dearest: .venv/.dev  ## measure every test, and store the dearest files, which are started first
	@$(pytest) --costs .venv/costs.tsv
	@awk -F '\t|::' '{ cost[$$3] += $$1 } END { for (file in cost) print cost[file], file }' .venv/costs.tsv | \
		sort -rn | head -100 | cut -d ' ' -f 2- > tests/dearest.txt

lint: .venv/.dev  ## check style and formatting
	@$(python) -m ruff check .
	@$(python) -m ruff format --check .

types: .venv/.dev  ## check types in the checkout (.ci/run checks the installed wheel)
	@$(python) -m mypy predibot strategies

bench: .venv/.dev  ## measure and print, without judging
	@$(python) -m pytest -m benchmark -k "not soak" -s tests/benchmarks $(PYTEST_ARGS)

soak: .venv/.dev  ## try for hours what a year, or hundreds of kills, would show; the tests try a tenth
	@$(python) -m pytest -m "benchmark or soak" -k soak -s tests $(PYTEST_ARGS)
	@$(python) -m pytest -m hypothesis --hypothesis-profile soak -q tests $(PYTEST_ARGS)

pins: .venv/.dev  ## write the requirements files again (UPGRADE=1 takes newer versions)
	@.ci/pins $(if $(UPGRADE),--upgrade)

docs: .venv/.dev  ## build the docs as a site in build/docs, with a gallery of the demo; a dead link ends it
	@mkdir -p build/docs-demo
	@cd build/docs-demo && ../../$(python) -m predibot demo >demo.log 2>&1 || { cat demo.log >&2; exit 1; }
	@$(python) .ci/docs_pages build/docs-pages sqlite:///build/docs-demo/runs/out/demo.db script_sharp
	@$(python) -m mkdocs build --strict

clean:  ## remove the environment and caches; runs/out/ stays, it is yours
	rm -rf .venv dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find predibot strategies tools tests -name __pycache__ -type d -prune -exec rm -rf {} +

# In two steps, because pip checks hashes for pinned files only, not for a folder.
# With the pages, which a newcomer opens after the demo.
.venv/.runtime: requirements.txt requirements-web.txt pyproject.toml
	@.ci/venv $(if $(PYTHON),"$(PYTHON)")
	@echo "installing into .venv, once" >&2
	@sed -n '/^uv==/,/[^\\]$$/p' requirements-dev.txt | $(pip) install --require-hashes -r /dev/stdin 2>/dev/null || true
	@$(call install,requirements.txt requirements-web.txt)
	@$(pip) install --no-deps --no-build-isolation -e .
	@touch $@

.venv/.dev: requirements-dev.txt .venv/.runtime
	@echo "installing what the tests need into .venv, once" >&2
	@$(call install,requirements-dev.txt)
	@touch $@
