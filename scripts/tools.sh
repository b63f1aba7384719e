#!/bin/sh
# Installs what the tests need where that is possible (root on Debian); otherwise says what
# is missing. Needed: a Rust toolchain (rust-toolchain.toml says which) and a C linker.
set -eu

if ! command -v cargo >/dev/null 2>&1; then
    echo "tools: cargo is missing: install Rust with rustup, then try again" >&2
    exit 3
fi
# The server and its clients, each a program and the package that has it. Without one the tests of
# `serve` that need it say so and pass.
packages=""
for pair in nbdkit:nbdkit nbdcopy:libnbd-bin nbdfuse:nbdfuse qemu-img:qemu-utils fio:fio \
    psktool:gnutls-bin mkfs.ext4:e2fsprogs fusermount3:fuse3; do
    PATH="$PATH:/usr/sbin:/sbin" command -v "${pair%%:*}" >/dev/null 2>&1 ||
        packages="$packages ${pair#*:}"
done
if [ -n "$packages" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "tools: installing$packages"
    # Each name is a word of its own.
    # shellcheck disable=SC2086
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends $packages; } >/dev/null 2>&1 ||
        echo "tools: that failed: the tests of \`serve\` that need it are skipped" >&2
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
