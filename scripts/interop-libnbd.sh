#!/usr/bin/env bash
# Runs libnbd's own tests of servers against `tidegate serve`: libnbd starts the server by socket
# activation, without TLS, with certificates and with a pre-shared key.
#
# usage: scripts/interop-libnbd.sh PROGRAM LIBNBD
#
# LIBNBD is an unpacked source archive of libnbd. It needs a C compiler, libnbd's headers, and
# `certtool` and `psktool` of GnuTLS.
set -euo pipefail

program=$(realpath "$1")
source=$(realpath "$2")
for tool in cc certtool psktool; do
    command -v $tool >/dev/null || { echo "interop-libnbd: skipped: $tool is not installed"; exit 0; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/interop" "$work/tests"
touch "$work/config.h"
head -c 1M /dev/urandom >"$work/disk.img"
sync "$work/disk.img"

# libnbd's tests look for keys and certificates in ../tests.
(SRCDIR=$source/tests CERTTOOL=certtool bash "$source/tests/make-pki.sh" "$work/tests/pki") >/dev/null 2>&1
psktool -u alice -p "$work/tests/keys.psk" >/dev/null
chmod 600 "$work"/tests/pki/*-key.pem "$work/tests/keys.psk"

# Writes a serve file with two exports. Arguments: its name, further lines.
serve_file() {
    printf '%s\n' 'backing = "disk.img"' "${@:2}" >"$work/$1.serve.toml"
    for export in first second; do
        printf '[[export]]\nname = "%s"\nshare = "whole"\nread_only = true\nbest_effort = true\n' $export \
            >>"$work/$1.serve.toml"
    done
}
serve_file plain
# The address is not used: libnbd passes a socket.
serve_file certificates 'listen = "127.0.0.1:10809"' '[tls]' 'certificates = "tests/pki"'
serve_file psk 'listen = "127.0.0.1:10809"' '[tls]' 'psk = "tests/keys.psk"'

failed=0
# Compiles and runs a test. Arguments: what is tested, its source file, the serve file, definitions.
run() {
    local what=$1 file=$2 serve=$3
    shift 3
    cc -w -I"$work" -I"$source/common/include" -DSERVER="\"$program\"" \
        -DSERVER_PARAMS="\"serve\", \"$work/$serve.serve.toml\"" "$@" \
        "$source/interop/$file.c" "$source/tests/requires.c" -lnbd -o "$work/interop/test"
    if (cd "$work/interop" && timeout 30 ./test >"$work/log" 2>&1); then
        echo "ok      $what"
    else
        echo "FAILED  $what"
        sed 's/^/        /' "$work/log"
        failed=1
    fi
}
activated=(-DSOCKET_ACTIVATION=1 '-DEXPORT_NAME="first"')
require=-DTLS_MODE=LIBNBD_TLS_REQUIRE
allow=-DTLS_MODE=LIBNBD_TLS_ALLOW
run "plain" interop plain "${activated[@]}"
run "certificates, required" interop certificates "${activated[@]}" -DCERTS=1 $require
run "certificates, allowed" interop certificates "${activated[@]}" -DCERTS=1 $allow
run "certificates, allowed, and none at the server" interop plain "${activated[@]}" -DCERTS=1 $allow -DTLS_FALLBACK=1
run "a pre-shared key, required" interop psk "${activated[@]}" -DPSK=1 $require
run "a pre-shared key, allowed" interop psk "${activated[@]}" -DPSK=1 $allow
run "a pre-shared key, allowed, and none at the server" interop plain "${activated[@]}" -DPSK=1 $allow -DTLS_FALLBACK=1
exit $failed
