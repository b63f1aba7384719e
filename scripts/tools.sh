#!/bin/sh
# Installs the tools of the build, and with the argument `tests` also those of the tests, if possible
# (as root on Debian); otherwise reports the missing ones. Required: a Rust toolchain (see
# rust-toolchain.toml), a C linker, and OpenSSL's headers, which pkg-config finds.
set -eu

if ! command -v cargo >/dev/null 2>&1; then
    echo "tools: cargo is missing: install Rust with rustup, then try again" >&2
    exit 3
fi

can_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; }

# Installs packages quietly.
install() {
    echo "tools: installing $*"
    { apt-get update -qq &&
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"; } >/dev/null 2>&1
}

# Prints the packages that the build lacks.
lacking() {
    command -v cc >/dev/null 2>&1 || echo gcc libc6-dev
    command -v pkg-config >/dev/null 2>&1 || echo pkg-config
    pkg-config --exists openssl 2>/dev/null || echo libssl-dev
}

# Each name of a package is a separate word.
# shellcheck disable=SC2046
if [ -n "$(lacking)" ] && can_install; then
    install $(lacking) || true
fi
if [ -n "$(lacking)" ]; then
    echo "tools: a C linker, pkg-config or OpenSSL's headers are missing: install them, then try again" >&2
    echo "tools: on Debian: apt-get install" $(lacking) >&2
    exit 3
fi

[ "${1:-}" = tests ] || exit 0
# Programs of the tests, each as program:package; `pgrep` stands for `kill`, which shells also have themselves. Without
# a client, the tests of `serve` that need it report this and pass.
packages=""
for pair in nbdkit:nbdkit nbdcopy:libnbd-bin nbdfuse:nbdfuse qemu-img:qemu-utils fio:fio \
    psktool:gnutls-bin mkfs.ext4:e2fsprogs fusermount3:fuse3 openssl:openssl pgrep:procps git:git; do
    PATH="$PATH:/usr/sbin:/sbin" command -v "${pair%%:*}" >/dev/null 2>&1 ||
        packages="$packages ${pair#*:}"
done
# shellcheck disable=SC2086
if [ -n "$packages" ] && can_install; then
    install $packages ||
        echo "tools: the installation failed: tests of \`serve\` without their tools are skipped" >&2
fi
