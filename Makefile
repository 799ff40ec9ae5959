# The only set-up there is: `make build`, `make demo`, `make test`, `make bench`.
# One cargo profile serves all of them, so that the C library is compiled once.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help build wheel demo test test-abi lint bench clean packages

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
TARGET := $(or $(CARGO_TARGET_DIR),target)
PLUGINS := dist/h5plugins
# Where the wheel is not to be installed.
UNPACK = $(PY) -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target dist/python dist/btune-*.whl
# C-Blosc2 is built with the cmake of the environment.
CARGO := PATH="$(CURDIR)/$(VENV)/bin:$$PATH" cargo

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 15

build: $(VENV)/.ready | packages ## Build the libraries and the command into dist
	@# All at once: apart, they would have other features, and the C libraries would be compiled twice.
	$(CARGO) build --release --locked -p h5btune -p blosc2_btune -p btune_zarr -p btune_cli
	@mkdir -p $(PLUGINS) dist/lib
	@# A rename: processes that have the old library open keep it.
	@for to in $(PLUGINS)/libh5btune.so dist/lib/lib{h5btune,blosc2_btune,btune_zarr}.so dist/btune; do \
	  from=$(TARGET)/release/$${to##*/}; \
	  cmp -s $$from $$to || { cp $$from dist/new.tmp; mv dist/new.tmp $$to; }; \
	done

wheel: build ## Build the Python wheel into dist
	@rm -f dist/btune-*.whl
	$(PY) -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps -w dist ./python
	@ls dist/btune-*.whl

demo: wheel ## Compress real arrays and print tables
	@$(PY) examples/hdf5_tune.py
	@$(UNPACK)
	@echo && echo "The same in Blosc2, with BTUNE_TRADEOFF=0.5 python examples/create_ndarray.py:"
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" PYTHONPATH=dist/python BTUNE_TRADEOFF=0.5 $(PY) examples/create_ndarray.py

test: build lint ## Run every check and every test
	if cargo nextest --version >/dev/null 2>&1; \
	  then $(CARGO) nextest run --release --locked --workspace; \
	  else $(CARGO) test --release --locked --workspace --lib --bins --tests --examples; fi
	$(CARGO) test --release --locked --workspace --doc
	$(PY) -m pytest -q

lint: build ## Run the formatters and linters, changing nothing
	cargo fmt --all --check
	$(CARGO) clippy --release --locked --workspace --all-targets -- -D warnings
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	@# Where cargo-deny is installed. Its advisories need a download: `cargo deny check advisories`.
	if cargo deny --version >/dev/null 2>&1; \
	  then cargo deny --locked check licenses bans sources; fi

test-abi: build ## Run the tuner plugin in python-blosc2 2.7 to 4.14
	$(PY) tests/abi/matrix.py

bench: wheel ## Measure, and print tables
	@$(PY) tests/bench/hdf5.py
	@$(PY) tests/bench/regret.py
	@$(UNPACK)
	@PYTHONPATH=dist/python $(PY) tests/bench/zarr_arrays.py
	@dist/btune bench examples/data --mode COMP,DECOMP

clean: ## Remove what was built, but keep .venv
	cargo clean
	rm -rf dist .pytest_cache .ruff_cache .hypothesis

packages:
	@PYTHON=$(PYTHON) .ci/packages

# The mark is the last thing made: an interrupted set-up starts afresh.
$(VENV)/.ready: requirements.txt | packages
	$(PYTHON) -m venv --clear $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@
