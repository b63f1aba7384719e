#!/bin/sh
# Tries what `make dist` made in a clean Debian root: installs the package, uses it and purges it, after which nothing
# may be left but the user of the services; runs the static programs there, those of other processors under qemu-user.
# With the word `twice` it also builds everything again from a copy of the sources elsewhere, and compares the bytes.
# Usage: scripts/test-dist.sh TARGET [twice]. Needs root and mmdebstrap; without them it says so and passes.
set -eu

cd "$(dirname "$0")/.."
target=$(cd "$1" && pwd)
dist=$target/dist
root=$target/dist-root

fail() { echo "test-dist: $*" >&2; exit 1; }
skip() { echo "test-dist: skipped: $*"; exit 0; }

[ "$(id -u)" = 0 ] || skip "not root"
if ! command -v mmdebstrap >/dev/null; then
    apt-get update -qq >/dev/null 2>&1 || true
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends mmdebstrap \
        >/dev/null 2>&1 || skip "mmdebstrap is missing and cannot be installed"
fi

inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"; }

# Lists the files in the root, without the records of the package system itself. The programs that add and remove users
# keep a copy of each file that they change, whose name ends in a dash.
listed() {
    (cd "$root" && find . -xdev ! -path './proc/*' ! -path './sys/*' ! -path './dev/*' ! -path './var/cache/*' \
        ! -path './var/log/*' ! -path './var/lib/apt/*' ! -path './var/lib/dpkg/*' ! -path './tmp/*' \
        ! -path './etc/*-' | sort)
    # The user stays, and so does its membership in the group `disk`.
    (cd "$root" && sort etc/passwd etc/group | sed '/^tidegate:/d; /^disk:/s/tidegate$//')
}

try_program() {
    inside "$@" --version
    inside "$@" check /tmp/examples/recorder.workload.toml --quiet
    inside "$@" sim /tmp/examples/recorder.workload.toml --jobs 100 --quiet --result /tmp/recorder.result.json
    inside "$@" report /tmp/recorder.result.json -o /tmp/recorder.html
    rm "$root/tmp/recorder.result.json" "$root/tmp/recorder.html"
}

trap 'umount "$root/proc" 2>/dev/null || true; rm -rf --one-file-system "$root"' EXIT
trap 'exit 130' INT TERM
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
rm -rf "$root"
mmdebstrap --quiet --variant=apt "$codename" "$root" || skip "no root of $codename can be made here"
mount -t proc proc "$root/proc"
inside apt-get update -qq

mkdir "$root/tmp/examples"
cp workloads/*.toml "$root/tmp/examples/"
# A part that could not be built here is no fault; a file that is missing without a reason is one.
lacks() {
    grep "^dist: no $1:" "$target/dist-build/skipped" || fail "$dist has no $1, and \`make dist\` gave no reason"
}

tried=0
for processor in x86_64 aarch64; do
    archive=$(ls "$dist"/*"-$processor-linux-static.tar.gz" 2>/dev/null) ||
        { lacks "$processor-unknown-linux-musl"; continue; }
    tar -xzf "$archive" -C "$root/tmp" --strip-components=1
    program=/tmp/bin/tidegate
    case $processor in
        "$(uname -m)") try_program "$program" ;;
        *)
            emulator=qemu-$processor-static
            command -v "$emulator" >/dev/null ||
                apt-get install -y -qq --no-install-recommends qemu-user-static >/dev/null 2>&1 ||
                { echo "test-dist: skipped: $archive: $emulator is missing"; continue; }
            cp "$(command -v "$emulator")" "$root/tmp/emulator"
            try_program /tmp/emulator "$program" ;;
    esac
    rm -r "$root/tmp/bin" "$root/tmp/share"
    tried=$((tried + 1))
done
echo "test-dist: static programs that ran: $tried"

package=$(ls "$dist"/tidegate_*.deb 2>/dev/null) || { lacks "package for Debian"; exit 0; }
inside apt-get install -y -qq systemd-standalone-sysusers passwd >/dev/null 2>&1
listed >"$target/dist-before"
cp "$package" "$root/tmp/tidegate.deb"
inside apt-get install -y -qq --no-install-recommends /tmp/tidegate.deb >/dev/null 2>&1 || fail "it cannot be installed"
try_program tidegate
for file in /usr/share/man/man1/tidegate-check.1.gz /usr/share/bash-completion/completions/tidegate \
    /usr/lib/systemd/system/tidegate@.service /usr/share/doc/tidegate/copyright; do
    inside dpkg -L tidegate | grep -qx "$file" || fail "the package lacks $file"
done
inside getent passwd tidegate >/dev/null || fail "there is no user for the services"
inside apt-get purge -y -qq --auto-remove tidegate >/dev/null 2>&1 || fail "it cannot be purged"
listed >"$target/dist-after"
diff "$target/dist-before" "$target/dist-after" || fail "these differ after the purge"
echo "test-dist: installed, used and purged; nothing but the user is left"

module=$(ls "$dist"/tidegate-dkms_*.deb)
built() { (cd "$root" && find lib/modules -name 'dm-tidegate.ko*'); }
cp "$module" "$root/tmp/module.deb"
inside apt-get install -y -qq dkms "linux-headers-$(dpkg --print-architecture)" >/dev/null 2>&1
inside apt-get install -y -qq --no-install-recommends /tmp/module.deb >/dev/null 2>&1 || fail "the module cannot be installed"
[ -n "$(built)" ] || fail "DKMS did not build the module"
inside apt-get purge -y -qq tidegate-dkms >/dev/null 2>&1 || fail "the module cannot be purged"
[ -z "$(built)" ] || fail "the module is left after the purge"
echo "test-dist: the module was built by DKMS and purged"

[ "${2:-}" = twice ] || exit 0
copy=$target/dist-copy
rm -rf "$copy"
git clone --quiet --no-hardlinks . "$copy"
# The tools were made for the first build.
mkdir "$copy/target"
ln -s "$target/dist-tools" "$copy/target/dist-tools"
(cd "$copy" && scripts/dist.sh "$copy/target" >/dev/null)
diff "$dist/SHA256SUMS" "$copy/target/dist/SHA256SUMS" || fail "a second build gives other bytes"
rm -rf "$copy"
echo "test-dist: a second build elsewhere gives the same bytes"
