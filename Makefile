# Every target sets up what it needs: Python 3.11 or newer, make and a package index are enough.
PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
BIN := $(VENV)/bin
# Libraries that we are measured against and that need other versions than ours.
PEERS := .venv-peers
MUTANTS := .venv-mutants
RESULTS := results
# What needs no download and is no paper's: it is run to see how things work, and not committed.
EXAMPLES := configs/balance_ccdr_beta.yaml configs/digits_ccdr_beta.yaml
OUT := build/results
# The runs whose figures the documentation shows.
PICTURES := landsat_ccdr_beta nmmp_rings ssde_alphadigits lfda_grid_letter dp_tdt2_topology \
	fair_landsat labels_usps
# --quiet would hide the warnings that --strict counts.
MKDOCS = NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
MINUTES ?= 10
PYTHONS ?= python3.11 python3.12 python3.13 python3.14
TESTS ?=

# One BLAS thread in each of several processes beats several threads in each.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

.DEFAULT_GOAL := help
.PHONY: help run test lint typecheck unit extras smoke reproduce report bench docs site faults same mutants compat format clean

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 12

# Called before pip, which is silent for up to a minute.
INSTALLING = @echo "Installing ddr and its libraries into $(VENV): about a minute, once."

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "ddr needs Python 3.11 or newer; name one with 'make PYTHON=python3.12 ...'." >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALLING)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALLING)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALLING)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	@touch $@ $(VENV)/.installed

run: $(VENV)/.installed ## the main job on embedded data: error against beta, into build/results
	$(BIN)/ddr run configs/balance_ccdr_beta.yaml --jobs $(JOBS) --out $(OUT)

test: lint typecheck unit ## all checks: lint, types, tests

lint: $(VENV)/.installed-dev ## ruff, the import contract, public docstrings, and the program's size
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python benchmarks/docstrings.py
	$(BIN)/python benchmarks/size.py

typecheck: $(VENV)/.installed-dev ## mypy, strict
	$(BIN)/mypy

unit: $(VENV)/.installed-dev ## the tests alone
	$(BIN)/pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder

smoke: $(VENV)/.installed ## every shipped spec is valid, the embedded ones run, no recorded verdict is lost
	$(BIN)/ddr validate configs/*.yaml
	$(BIN)/ddr run $(EXAMPLES) --repeats 2 --jobs $(JOBS) --out build/smoke
	$(BIN)/ddr report build/smoke
	$(BIN)/ddr report $(RESULTS) --check

reproduce: $(VENV)/.installed ## all papers' runs, resumable (needs the data sets)
	$(BIN)/ddr run $(filter-out $(EXAMPLES),$(wildcard configs/*.yaml)) --jobs $(JOBS) --out $(RESULTS)
	@$(MAKE) --no-print-directory $(RESULTS)/report/index.html

# Made again when a journal, a paper's numbers or the report's own code is newer.
$(RESULTS)/report/index.html: $(wildcard $(RESULTS)/*/trials.csv $(RESULTS)/*/controls.csv ddr_cli/papers/* ddr_cli/comparison/* ddr_cli/figures/* ddr_cli/report/*)
	$(BIN)/ddr report $(RESULTS)

report: $(VENV)/.installed ## tables, figures, verdicts and index.html from the journals in results/
	$(BIN)/ddr report $(RESULTS)
	for run in $(PICTURES); do cp $(RESULTS)/$$run/figure.png docs/images/$$run.png; done

$(VENV)/.installed-extras: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALLING)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,umap,opentsne,pacmap,torch]'
	@touch $@ $(VENV)/.installed $(VENV)/.installed-dev

extras: $(VENV)/.installed-extras ## the tests of methods that need an optional library, with all of these
	$(BIN)/pytest -n $(JOBS) tests/reducers/test_extras.py

$(PEERS)/.installed: benchmarks/peers.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/peers.txt
	@touch $@

bench: $(VENV)/.installed-dev $(PEERS)/.installed ## speed, memory and error rates, with the peers, into docs/speed.md (hours; QUICK=1: does it work?)
	$(BIN)/python benchmarks/run.py $(if $(QUICK),--quick)

docs: $(VENV)/.installed-docs ## the documentation as a site, into build/docs; a warning is an error
	$(MKDOCS)

site: $(VENV)/.installed-docs ## the documentation with the report and the leaderboard, into build/docs
	$(BIN)/ddr report $(RESULTS)
	$(BIN)/ddr suite page lite --out $(RESULTS)
	$(MKDOCS)

faults: $(VENV)/.installed-dev ## runs that are killed, robbed and starved for MINUTES (10): what is lost?
	$(BIN)/python benchmarks/bench_faults.py --minutes $(MINUTES)

$(MUTANTS)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(MUTANTS)
	$(MUTANTS)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]' mutmut==3.8.1
	@touch $@

same: $(VENV)/.installed-dev ## is what is shipped still the same, to the last number? (RECORD=1 writes what is)
	$(BIN)/python benchmarks/same.py $(if $(RECORD),--record)

mutants: $(MUTANTS)/.installed ## 300 wrong versions of what computes and judges: which do the tests let pass?
	$(MUTANTS)/bin/python benchmarks/mutants.py
	$(MUTANTS)/bin/python benchmarks/mutants.py --survivors

compat: ## the tests (or TESTS) with the lowest allowed and the newest versions, in each of PYTHONS there is (hours)
	@.ci/compat "$(PYTHONS)" $(TESTS)

format: $(VENV)/.installed-dev ## let ruff rewrite the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove the environment and the caches; results/ stays
	rm -rf $(VENV) $(PEERS) $(MUTANTS) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
