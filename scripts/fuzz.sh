#!/bin/sh
# Runs each fuzz target for SECONDS (60): fuzz.sh [SECONDS] [TARGET ..]. Needs cargo-fuzz and a
# nightly toolchain. New inputs stay in fuzz/corpus; failing inputs are in fuzz/artifacts. Copy
# those to fuzz/seeds, where the tests of the workspace also use them.
set -eu

seconds="${1:-60}"
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- serve_file control requests nbd
cd "$(dirname "$0")/.."
if ! cargo fuzz --version >/dev/null 2>&1; then
    echo "fuzz: cargo-fuzz is missing: cargo install cargo-fuzz" >&2
    exit 3
fi
for target in "$@"; do
    echo "fuzz: $target for $seconds s"
    mkdir -p "fuzz/corpus/$target"
    cargo +nightly fuzz run "$target" "fuzz/corpus/$target" "fuzz/seeds/$target" -- \
        -max_total_time="$seconds" -print_final_stats=1 -timeout=20 -rss_limit_mb=2048
done
