#!/bin/sh
# Installs the tools of the tests if possible (as root on Debian); otherwise reports the missing
# ones. Required: a Rust toolchain (see rust-toolchain.toml) and a C linker.
set -eu

if ! command -v cargo >/dev/null 2>&1; then
    echo "tools: cargo is missing: install Rust with rustup, then try again" >&2
    exit 3
fi
# Clients, and what encrypted ones need to be built, each as program:package. Without a program, the
# tests of `serve` that need it report this and pass.
packages=""
for pair in nbdkit:nbdkit nbdcopy:libnbd-bin nbdfuse:nbdfuse qemu-img:qemu-utils fio:fio \
    psktool:gnutls-bin mkfs.ext4:e2fsprogs fusermount3:fuse3 pkg-config:pkg-config openssl:openssl; do
    PATH="$PATH:/usr/sbin:/sbin" command -v "${pair%%:*}" >/dev/null 2>&1 ||
        packages="$packages ${pair#*:}"
done
[ -e /usr/include/openssl/ssl.h ] || packages="$packages libssl-dev"
if [ -n "$packages" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "tools: installing$packages"
    # Each name is a separate word.
    # shellcheck disable=SC2086
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends $packages; } >/dev/null 2>&1 ||
        echo "tools: the installation failed: tests of \`serve\` without their tools are skipped" >&2
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
