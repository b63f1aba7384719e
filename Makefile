# Tidegate: everything a person types. `make` alone lists it.
CARGO ?= cargo
TARGET := $(or $(CARGO_TARGET_DIR),target)

.PHONY: help build demo test check plugin lint docs book bench fuzz tools

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## The binary, target/release/tidegate, and the plugin of nbdkit beside it
	$(CARGO) build --release --locked -p tidegate -p tidegate-nbdkit

demo: build ## The whole story in under a minute: prove, simulate, measure this disk, keep deadlines on it
	@scripts/demo.sh "$(TARGET)"

test: tools lint docs plugin ## Everything that must pass; installs what it needs where it can
	$(CARGO) test --workspace --locked

check: lint docs plugin ## As `test`, without installing anything
	$(CARGO) test --workspace --locked

# The plugin as the tests of `serve` find it: built like them, beside their binary.
plugin:
	$(CARGO) build --profile test --locked -p tidegate-nbdkit

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

docs:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked

book: ## The pages of docs as a book with typeset formulas, in target/book; installs mdBook there
	@scripts/book.sh "$(TARGET)"

bench: ## Benchmarks; with fio installed also `run` against fio on the same file
	$(CARGO) bench --workspace --locked
	@scripts/bench-fio.sh "$(TARGET)"

fuzz: ## Fuzz serve files, the control socket and requests, SECONDS=60 each; needs nightly and cargo-fuzz
	@scripts/fuzz.sh $(or $(SECONDS),60)

tools:
	@scripts/tools.sh
