# Tidegate: the commands for daily work. `make` alone lists them.
CARGO ?= cargo
TARGET := $(or $(CARGO_TARGET_DIR),target)

.PHONY: help build demo test check lint docs book bench studies proof coqchk fuzz wheel test-python tools test-tools test-vm drives \
    dist test-dist test-browser

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: tools ## Build target/release/tidegate
	$(CARGO) build --release --locked -p tidegate

demo: build ## Build, then prove, simulate, measure this disk and keep deadlines, in under a minute
	@scripts/demo.sh "$(TARGET)"

test: test-tools lint docs ## Run all checks and tests; install missing tools if possible
	$(CARGO) test --workspace --locked

check: lint docs ## Run the same without installing anything
	$(CARGO) test --workspace --locked

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

docs:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked

book: ## Build docs as a book with formulas in target/book; install mdBook there
	@scripts/book.sh "$(TARGET)"

bench: ## Run the benchmarks; with fio installed, also compare `run` with fio on the same file
	$(CARGO) bench --workspace --locked
	@scripts/bench-fio.sh "$(TARGET)"

proof: ## Check the machine-checked proofs, and let the checkers extracted from them judge policies
	@scripts/proof.sh

coqchk: ## The same, and check the proofs again with Coq's independent checker
	@scripts/proof.sh coqchk

studies: ## Repeat every figure of the literature in full form; fails if a result is not as its study states
	$(CARGO) run --release --locked -p tidegate -- reproduce --all

drives: ## Measure the tables of the built-in drives anew: many hours; DRIVES="NAME .." for some
	$(CARGO) build --release --locked -p tidegate
	$(CARGO) build --release --locked -p tidegate-soundness --example longest_batches
	@scripts/drives.py "$(TARGET)/release" $(DRIVES)

fuzz: ## Fuzz serve files, the control socket, requests and NBD, SECONDS=60 each; needs nightly and cargo-fuzz
	@scripts/fuzz.sh $(or $(SECONDS),60)

wheel: ## Build the wheel of the Python package in target/wheels
	@scripts/python.sh

dist: tools ## Build a Debian package and static programs in target/dist; install missing tools in target
	@scripts/dist.sh "$(TARGET)"

test-dist: dist ## Install, use and purge them in a clean Debian root, and compare a second build
	@scripts/test-dist.sh "$(TARGET)" twice

test-python: ## Install the wheel into a clean environment and test it there
	@scripts/python.sh test

test-browser: tools ## Open the pages of `tidegate report` in headless Chromium; pictures in target/browser
	$(CARGO) build --locked -p tidegate
	@scripts/test-browser.sh "$(TARGET)"

test-vm: ## Compare bounds with Linux 6.1 and 6.12 in a virtual machine (QEMU); PART=stock, target, watch, files or service for a part
	$(CARGO) build --locked -p tidegate -p tidegate-vm
	@python3 tests/vm/bench/bench.py "$(TARGET)" $(if $(PART),--part $(PART))

tools:
	@scripts/tools.sh

test-tools:
	@scripts/tools.sh tests
