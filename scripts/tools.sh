#!/bin/sh
# Installs what the tests need where that is possible (root on Debian); otherwise says what
# is missing. Needed: a Rust toolchain (rust-toolchain.toml says which) and a C linker.
set -eu

if ! command -v cargo >/dev/null 2>&1; then
    echo "tools: cargo is missing: install Rust with rustup, then try again" >&2
    exit 3
fi
# Without these the tests of `serve` say so and pass.
if ! command -v nbdkit >/dev/null 2>&1 || ! command -v nbdcopy >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "tools: installing nbdkit and libnbd-bin"
        { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -qq nbdkit libnbd-bin; } >/dev/null 2>&1 ||
            echo "tools: that failed: the tests of \`serve\` are skipped" >&2
    fi
fi
if command -v cc >/dev/null 2>&1; then
    exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "tools: installing a C linker (gcc)"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq gcc libc6-dev
else
    echo "tools: cc is missing: install gcc (Debian: apt-get install gcc libc6-dev), then try again" >&2
    exit 3
fi
