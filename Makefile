# Every target sets up what it needs: Python 3.11 or newer, make and a package index are enough.
PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
BIN := $(VENV)/bin
# The libraries that the benchmarks compare with; they need other versions than ddr.
PEERS := .venv-peers
MUTANTS := .venv-mutants
LOWEST := .venv-lowest
RESULTS := results
# Specs without a paper that need no download. Their results are not committed.
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

# Several processes with one BLAS thread each are faster than several threads in each.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

.DEFAULT_GOAL := help
.PHONY: help run test lint typecheck unit quick extras smoke reproduce report bench docs site faults same size processors mutants compat format clean

help: ## Show this list.
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 12

# pip prints nothing for up to a minute.
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

run: $(VENV)/.installed ## Run the main example on embedded data: error against beta, in build/results.
	$(BIN)/ddr run configs/balance_ccdr_beta.yaml --jobs $(JOBS) --out $(OUT)

test: lint typecheck unit ## Run all checks: lint, types and tests.

lint: $(VENV)/.installed-dev ## Check style, imports, public docstrings, and what has grown.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python benchmarks/docstrings.py
	$(BIN)/python benchmarks/size.py

typecheck: $(VENV)/.installed-dev ## Check types with mypy.
	$(BIN)/mypy

unit: $(VENV)/.installed-dev ## Run the tests only.
	$(BIN)/pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder

quick: $(VENV)/.installed-dev ## Run the tests of core, spec, comparison, papers and numerics (two minutes).
	$(BIN)/pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder $(addprefix tests/,core spec comparison papers numerics)

smoke: $(VENV)/.installed ## Check all specs, run the embedded ones, and check the recorded verdicts.
	$(BIN)/ddr plan configs/*.yaml
	$(BIN)/ddr run $(EXAMPLES) --repeats 2 --jobs $(JOBS) --out build/smoke
	$(BIN)/ddr report build/smoke
	$(BIN)/ddr report $(RESULTS) --check

reproduce: $(VENV)/.installed ## Run the experiments of all papers (resumable; needs the data sets).
	$(BIN)/ddr run $(filter-out $(EXAMPLES),$(wildcard configs/*.yaml)) --jobs $(JOBS) --out $(RESULTS)
	@$(MAKE) --no-print-directory $(RESULTS)/report/index.html

# Rebuilt if a trial log, a paper's numbers or the code of the report is newer.
$(RESULTS)/report/index.html: $(wildcard $(RESULTS)/*/trials.csv $(RESULTS)/*/controls.csv ddr_cli/papers/* ddr_cli/comparison/* ddr_cli/charts/* ddr_cli/report/*)
	$(BIN)/ddr report $(RESULTS)

report: $(VENV)/.installed ## Rebuild tables, figures, verdicts and index.html from the trial logs in results/.
	$(BIN)/ddr report $(RESULTS)
	for run in $(PICTURES); do cp $(RESULTS)/$$run/figure.png docs/images/$$run.png; done

$(VENV)/.installed-extras: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALLING)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,umap,opentsne,pacmap,torch]'
	@touch $@ $(VENV)/.installed $(VENV)/.installed-dev

extras: $(VENV)/.installed-extras ## Install all optional libraries and test the methods that need them.
	$(BIN)/pytest -n $(JOBS) tests/reducers/test_extras.py

$(PEERS)/.installed: benchmarks/peers.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/peers.txt
	@touch $@

bench: $(VENV)/.installed-dev $(PEERS)/.installed ## Measure speed, memory and error rates, and write docs/speed.md (hours; QUICK=1: a short trial).
	$(BIN)/python benchmarks/run.py $(if $(QUICK),--quick)

docs: $(VENV)/.installed-docs ## Build the documentation in build/docs; a warning is an error.
	$(MKDOCS)

site: $(VENV)/.installed-docs ## Build the documentation with the report and the leaderboard in build/docs.
	$(BIN)/ddr report $(RESULTS)
	$(BIN)/ddr suite page lite --out $(RESULTS)
	$(MKDOCS)

faults: $(VENV)/.installed-dev ## Interrupt runs by faults for MINUTES (10) and count lost rows.
	$(BIN)/python benchmarks/bench_faults.py --minutes $(MINUTES)

$(MUTANTS)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(MUTANTS)
	$(MUTANTS)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]' mutmut==3.8.1
	@touch $@

same: $(VENV)/.installed-dev ## Compare all shipped results with their record (RECORD=1 writes a new record).
	$(BIN)/python benchmarks/same.py $(if $(RECORD),--record)

size: $(VENV)/.installed-dev ## Print what has grown since size.csv was recorded (RECORD=1 writes the new figures).
	$(BIN)/python benchmarks/size.py $(if $(RECORD),--record)

$(LOWEST)/.installed: pyproject.toml
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --only-binary :all: \
		--resolution lowest-direct --requirements pyproject.toml
	$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --no-deps --editable .
	@touch $@

processors: $(VENV)/.installed-dev $(LOWEST)/.installed ## Run the same trials with several BLAS kernels and library versions; count rows that differ.
	$(BIN)/python benchmarks/processors.py --lowest $(LOWEST)/bin/python

mutants: $(MUTANTS)/.installed ## Test 300 mutants of the code that computes and judges; list the survivors.
	$(MUTANTS)/bin/python benchmarks/mutants.py
	$(MUTANTS)/bin/python benchmarks/mutants.py --survivors

compat: ## Run TESTS (default: all) with the oldest and the newest libraries on each of PYTHONS (hours).
	@.ci/compat "$(PYTHONS)" $(TESTS)

format: $(VENV)/.installed-dev ## Format the code with ruff.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## Remove the environments and the caches, not results/.
	rm -rf $(VENV) $(PEERS) $(MUTANTS) $(LOWEST) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
