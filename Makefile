# Everything about hauteur that is a command. `make help` lists the targets.
#
# Needs Python >= 3.11 and a Rust toolchain. `make setup` creates .venv and downloads once what learning needs (the extra
# `train`); tests and checks add the rest (`dev`). After that nothing is downloaded. Where no NVIDIA GPU is found, torch's build
# for processors is asked for first (TORCH_INDEX= goes without). Choose an interpreter with `make setup PYTHON=/path/to/python`.
# `make demo WHEEL=FILE.whl` needs no Rust: it uses that wheel of this version instead of the checkout.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV ?= .venv
BIN := $(VENV)/bin
RUNS ?= runs
# Processes of the Python tests: one more than cores, as some always wait for a browser, an engine or a worker.
WORKERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))
PIP_ARGS ?=
WHEEL ?=
CHESS_NET ?=

# Rust's installer puts cargo here; a shell that was open before does not know yet.
export PATH := $(PATH):$(HOME)/.cargo/bin
export PYO3_PYTHON := $(abspath $(BIN)/python)
# An inherited PYTHONPATH could show another checkout to these commands.
unexport PYTHONPATH
# Tests start many processes, and without byte code each compiles the package again.
unexport PYTHONDONTWRITEBYTECODE

INSTALLED := $(VENV)/.installed
DEVELOPING := $(VENV)/.developing
BUILT := $(VENV)/.built
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml 2>/dev/null) Cargo.toml Cargo.lock

.PHONY: help setup setup-dev demo quick test test-base test-rust test-python test-web test-slow types lint schema format docs docs-links paper examples pictures screenshots wheel page release-check nets bench size clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(BUILT)  ## create .venv, install what learning needs, build the core (once; again only after changes)

setup-dev: $(DEVELOPING) setup  ## the same, with everything that tests and checks need

$(DEVELOPING): $(INSTALLED)
	@echo "make: installing what tests and checks need into $(VENV)"
	$(BIN)/python -m pip install --quiet $(PIP_ARGS) --editable '.[dev]' --editable experiments
	@touch $@

ifeq ($(WHEEL),)
$(INSTALLED): pyproject.toml experiments/pyproject.toml
	@command -v cargo >/dev/null || { echo "make: cargo not found, and no wheel is published yet: get Rust from https://rustup.rs (Debian 12: apt install rustc-web cargo-web), let pip bring one for the time of the build (pip install '.[train]'), or name a wheel with WHEEL=FILE.whl" >&2; exit 1; }
	@test -x $(BIN)/python || { python="$$(.ci/find-python $(PYTHON))" && "$$python" -m venv $(VENV); }
	@echo "make: installing what learning needs into $(VENV), once: 0.3 GB to download with torch's build for processors, or, where that cannot be had or an NVIDIA GPU is found, 3.1 GB (6 GB on disk)"
	.ci/install-torch $(BIN)/python $(PIP_ARGS)
	$(BIN)/python -m pip install --quiet $(PIP_ARGS) 'maturin>=1.9,<2' --editable '.[train]' --editable experiments
	@touch $@

$(BUILT): $(INSTALLED) $(RUST_SOURCES)
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --locked --quiet --skip-install
	@touch $@
else
$(BUILT): $(WHEEL)
	@test -x $(BIN)/python || { python="$$(.ci/find-python $(PYTHON))" && "$$python" -m venv $(VENV); }
	@echo "make: installing the wheel $(WHEEL) with what learning needs into $(VENV), in the place of this checkout"
	$(BIN)/python -m pip install --quiet $(PIP_ARGS) '$(abspath $(WHEEL))[train]' ./experiments
	@touch $@
endif

demo: RUN := $(RUNS)/tictactoe/demo-$(shell date +%Y%m%d-%H%M%S)
demo: setup  ## learn tic-tac-toe from zero, prove that it never loses, show where the report is (seconds)
	$(BIN)/hauteur train runs/tictactoe.toml --run $(RUN) --fresh
	$(BIN)/hauteur prove tictactoe --net $(RUN)/best.safetensors --visits 100
	@echo "report: $(abspath $(RUN))/report.html"
	@echo "next: source $(VENV)/bin/activate, then hauteur says what can be done"

test: setup-dev test-rust test-python types lint docs  ## all tests and checks (a quarter to half of an hour on two cores)

quick: QUICK := $(shell grep --recursive --files-with-matches --include='test_*.py' 'mark[.]quick' tests)
quick: setup-dev  ## a third of the tests and ruff: about a minute on two cores
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/python -m pytest -n $(WORKERS) -q -m "quick and not slow" $(QUICK)

test-rust: setup-dev  ## the core's own tests
	cargo test --locked --package hauteur-core --package hauteur-evaluate --package hauteur-lab --package hauteur-machine --package hauteur-page

test-python: setup-dev  ## the Python tests, in WORKERS processes
	$(BIN)/python -m pytest -n $(WORKERS)

test-web: setup-dev  ## the browser lab alone, in a real browser where there is one
	$(BIN)/python -m pytest tests/web --durations 10

test-base: setup-dev  ## the base layer: a wheel without extras, in a new environment without Rust
	$(BIN)/maturin build --release --locked --quiet --out dist
	$(BIN)/python .ci/base_layer.py "$$(ls -t dist/*.whl | head -1)" --net "$(CHESS_NET)"

test-slow: setup-dev  ## the tests that take minutes each, and the search against its reference a thousand times
	$(BIN)/python -m pytest -m slow --timeout 3600
	cargo test --locked --release --package hauteur-evaluate -- --ignored
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest -n $(WORKERS) --timeout 7200 tests/mcts

types: setup-dev  ## mypy strict, and the core's stub against the built core
	$(BIN)/python -m mypy
	$(BIN)/python -m mypy.stubtest hauteur._core --mypy-config-file pyproject.toml

lint: setup-dev  ## ruff, the packages' import order, clippy, formatting
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-cache
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets --quiet -- -D warnings

schema: setup  ## write Python's settings, the tables of UCI options and recipes, and the model cards from their one source
	$(BIN)/python tools/settings_schema.py
	$(BIN)/python tools/recipe_page.py
	$(BIN)/python tools/model_cards.py

format:  ## format Python and Rust
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	cargo fmt --all

docs: setup-dev  ## build the documentation site into build/docs/html, offline; every warning is an error
	$(BIN)/python docs/site/build.py

docs-links: setup-dev  ## the site, and all its links to other sites (needs the network)
	$(BIN)/python docs/site/build.py --external

paper: setup-dev  ## write the paper, the pages of findings and their figures from the results
	$(BIN)/python experiments/paper/make_paper.py

examples: setup-dev  ## run the programs in examples/
	@for program in examples/*.py; do echo "make: $$program"; $(BIN)/python "$$program" || exit 1; done

pictures: REPORT := $(RUNS)/pictures
pictures: setup-dev  ## draw the pictures of the README: a run of the demo's recipe (minutes), and a browser for report and pages
	$(BIN)/hauteur train runs/tictactoe.toml --run $(REPORT)
	$(BIN)/python tools/tree_picture.py
	$(BIN)/python docs/site/pictures.py --report $(REPORT)/report.html
	$(BIN)/python docs/site/screenshots.py analyse review --pictures docs/pictures

screenshots: setup-dev  ## photograph every page of the browser lab into build/screenshots (minutes; needs Chromium)
	$(BIN)/python docs/site/screenshots.py

# Two small environments of their own: a wheel needs maturin alone, the page the base and what writes HTML; neither torch.
WHEEL_BIN := build/wheel-env/bin
PAGE_BIN := build/page-env/bin

$(WHEEL_BIN)/maturin:
	@command -v cargo >/dev/null || { echo "make: cargo not found: get Rust from https://rustup.rs" >&2; exit 1; }
	@python="$$(.ci/find-python $(PYTHON))" && "$$python" -m venv build/wheel-env
	$(WHEEL_BIN)/python -m pip install --quiet $(PIP_ARGS) 'maturin>=1.9,<2'

wheel: export PYO3_PYTHON := $(abspath $(WHEEL_BIN)/python)
wheel: $(WHEEL_BIN)/maturin  ## build a wheel into dist/ (maturin and Rust are all that it needs)
	$(WHEEL_BIN)/maturin build --release --locked --out dist

$(PAGE_BIN)/.installed: pyproject.toml $(RUST_SOURCES)
	@command -v cargo >/dev/null || { echo "make: cargo not found: get Rust from https://rustup.rs" >&2; exit 1; }
	@test -x $(PAGE_BIN)/python || { python="$$(.ci/find-python $(PYTHON))" && "$$python" -m venv build/page-env; }
	$(PAGE_BIN)/python -m pip install --quiet $(PIP_ARGS) --editable '.[web]'
	@touch $@

page: export PYO3_PYTHON := $(abspath $(PAGE_BIN)/python)
page: $(PAGE_BIN)/.installed  ## write the lab as a page without a server into dist/page (Rust's target wasm32-unknown-unknown; CHESS_NET: more nets)
	tools/page_core.sh build/page
	$(PAGE_BIN)/python tools/build_page.py --core build/page --out dist/page $(CHESS_NET)

release-check: setup-dev  ## what must be true before a version is published: versions, changelog, wheel, sdist, crates
	$(BIN)/python checks/release_check.py

NETS ?= tictactoe connect4 minichess nogo7 nogo9 nogo7_again othello6 othello8 hex7 hex11 gomoku9 gomoku9_again gomoku15 gomoku15_again go5 go7 go9 go9_again
nets: setup  ## learn the nets that ship again, each from its recipe (hours; NETS=hex7 makes one; chess needs its teacher's games)
	@for net in $(NETS); do \
		recipe=runs/bundled/$$net.toml; test -f $$recipe || recipe=runs/$$net.toml; \
		$(BIN)/hauteur train $$recipe --run $(RUNS)/nets/$$net; \
		$(BIN)/hauteur net convert $(RUNS)/nets/$$net/best.safetensors python/hauteur/networks/data/$${net%_again}.safetensors --encoding float16 --force; \
	done

bench: setup  ## speed of search, without and with a network
	$(BIN)/hauteur bench search connect4
	$(BIN)/hauteur bench search chess
	$(BIN)/hauteur bench evaluator --net python/hauteur/networks/data/connect4.safetensors

BASE ?= main
size:  ## print the lines of code by package and crate, and their density, beside those of the commit BASE (default main); never fails
	@python3 checks/size.py --base $(BASE)

clean:  ## remove everything that was built, the virtual environment too
	cargo clean
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	rm -f python/hauteur/_core.*.so python/hauteur/_core.pyd
	find python tests -name __pycache__ -type d -prune -exec rm -rf {} +
