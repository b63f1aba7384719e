#!/bin/sh
# Makes in TARGET/dist what users install: Debian packages of the program and of the kernel module, and an archive with
# a static program for each processor. Usage: scripts/dist.sh TARGET
# A part whose tools this machine lacks is left out, and the reason is printed; a build that fails ends the script.
# One commit gives the same bytes in every folder, with the same compilers and libraries. Zig's C compiler, which comes
# with musl for each processor, goes into TARGET/dist-tools.
set -eu
umask 022

zig_version=0.13.0

cd "$(dirname "$0")/.."
mkdir -p "$1/dist-tools"
target=$(cd "$1" && pwd)
tools=$target/dist-tools
dist=$target/dist
build=$target/dist-build
files=$build/install-files
triples="x86_64-unknown-linux-musl aarch64-unknown-linux-musl"

# Git must also read sources that belong to another user, as under sudo.
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0="$PWD"

# Fixes everything that a build could take from its time and its place. The programs name their commit, so they must
# be built from it.
revision=
if [ -e .git ]; then
    commit=$(git rev-parse --short=12 HEAD)
    changes=$(git status --porcelain)
    [ -z "$changes" ] || { printf 'dist: commit these changes or remove them:\n%s\n' "$changes" >&2; exit 1; }
    SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git show --no-patch --no-show-signature --format=%ct HEAD)}
    # Before a release, a package must be newer than those of earlier commits, and older than the release: Debian
    # sorts a tilde before the end of a version.
    git describe --exact-match --match 'v*' HEAD >/dev/null 2>&1 ||
        revision="~git$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M).$commit"
fi
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(stat -c %Y Cargo.lock)}
cargo_home=${CARGO_HOME:-$HOME/.cargo}
remap="--remap-path-prefix=$PWD=/tidegate --remap-path-prefix=$cargo_home=/cargo"
remap="$remap --remap-path-prefix=$build=/build"
export SOURCE_DATE_EPOCH
export CARGO_TARGET_DIR="$build" CARGO_PROFILE_RELEASE_DEBUG=none CARGO_PROFILE_RELEASE_STRIP=symbols

# `make test-dist` accepts a missing part only if this list names it.
skip() { echo "dist: no $1: $2" | tee -a "$build/skipped" >&2; }

# Builds the program for this machine, with OpenSSL, and the files that are installed with it.
build_here() {
    RUSTFLAGS="$remap" cargo build --release --locked -p tidegate
    rm -rf "$files"
    "$build/release/tidegate" install-files "$files"
    version=$("$build/release/tidegate" --version | cut -d ' ' -f 2)
}

# Installs files that everybody may read.
put() { install -D -m 644 -t "$@"; }

debian_package() {
    command -v dpkg-shlibdeps >/dev/null || { skip "package for Debian" "dpkg-dev is missing"; return 0; }
    stage=$build/deb
    share=$stage/usr/share
    rm -rf "$stage"
    install -D -m 755 "$build/release/tidegate" "$stage/usr/bin/tidegate"
    put "$share/man/man1" "$files"/share/man/man1/*
    gzip -9n "$share"/man/man1/*
    put "$share/bash-completion/completions" "$files"/share/bash-completion/completions/*
    put "$share/zsh/vendor-completions" "$files"/share/zsh/site-functions/*
    put "$share/fish/vendor_completions.d" "$files"/share/fish/vendor_completions.d/*
    put "$stage/usr/lib/systemd/system" packaging/systemd/tidegate@.service packaging/systemd/tidegate@.socket
    install -D -m 644 packaging/systemd/tidegate.sysusers "$stage/usr/lib/sysusers.d/tidegate.conf"
    put "$share/doc/tidegate" README.md LICENSE-APACHE LICENSE-MIT packaging/debian/copyright
    scripts/notices.py "$(rustc -vV | sed -n 's/^host: //p')" >"$share/doc/tidegate/NOTICES"
    put "$share/doc/tidegate/examples" workloads/*.toml
    install -D -m 755 -t "$stage/DEBIAN" packaging/debian/postinst packaging/debian/prerm packaging/debian/postrm
    control >"$stage/DEBIAN/control"
    # dpkg-deb gives no file in the package a time after SOURCE_DATE_EPOCH.
    dpkg-deb --root-owner-group -Zxz --build "$stage" "$dist" >/dev/null
}

# Prints the size of the staged files in KiB, as Debian counts: each file rounded up, and 1 for a folder, whatever the
# file system is.
kib() {
    find "$stage/usr" -printf '%y %s\n' |
        awk '{ kib += $1 == "f" ? int(($2 + 1023) / 1024) : 1 } END { print kib }'
}

# Prints the package's control file; the libraries are those that the program was linked with.
control() {
    mkdir -p "$build/shlibdeps/debian"
    printf 'Source: tidegate\n\nPackage: tidegate\nArchitecture: any\n' >"$build/shlibdeps/debian/control"
    libraries=$(cd "$build/shlibdeps" && dpkg-shlibdeps -O "$stage/usr/bin/tidegate")
    libraries=${libraries#shlibs:Depends=}
    size=$(kib)
    sed -e "s/@version@/$version$revision/; s/@architecture@/$(dpkg --print-architecture)/" \
        -e "s/@libraries@/$libraries/; s/@size@/$size/" packaging/debian/control
}

# Fills in the version of a file of the module's package.
versioned() { sed "s/@version@/$version$revision/; s/@size@/${size:-}/" "packaging/dkms/$1"; }

# Packs the source of the kernel module, which DKMS builds where it is installed.
module_package() {
    command -v dpkg-deb >/dev/null || { skip "package of the module" "dpkg is missing"; return 0; }
    stage=$build/dkms
    source=$stage/usr/src/tidegate-$version$revision
    rm -rf "$stage"
    put "$source" kernel/*.c kernel/*.h kernel/Kbuild LICENSE-GPL-2.0
    versioned dkms.conf >"$source/dkms.conf"
    put "$stage/usr/share/doc/tidegate-dkms" packaging/debian/copyright
    mkdir -p "$stage/DEBIAN"
    size=$(kib)
    versioned control >"$stage/DEBIAN/control"
    for script in postinst prerm; do
        versioned "$script" >"$stage/DEBIAN/$script"
        chmod 755 "$stage/DEBIAN/$script"
    done
    dpkg-deb --root-owner-group -Zxz --build "$stage" "$dist" >/dev/null
}

# Writes a C compiler and an archiver for a triple, for the allocator. A static program has no TLS: OpenSSL would
# have to be built into it, and each of its fixes would need a new build.
c_compiler() {
    [ -x "$tools/zig/bin/python" ] || python3 -m venv "$tools/zig" || return 1
    "$tools/zig/bin/python" -m pip install --quiet "ziglang==$zig_version" || return 1
    cat >"$tools/$1-cc" <<END
#!/bin/sh
for argument; do
    shift
    # Zig has its own names for targets.
    case \$argument in --target=*) ;; *) set -- "\$@" "\$argument" ;; esac
done
exec "$tools/zig/bin/python" -m ziglang cc -target ${1%%-*}-linux-musl -fno-sanitize=undefined "\$@"
END
    printf '#!/bin/sh\nexec "%s" -m ziglang ar "$@"\n' "$tools/zig/bin/python" >"$tools/$1-ar"
    chmod +x "$tools/$1-cc" "$tools/$1-ar"
}

static_program() {
    triple=$1
    rustup target add "$triple" >/dev/null 2>&1 ||
        { skip "$triple" "rustup cannot install the target"; return 0; }
    c_compiler "$triple" || { skip "$triple" "pip cannot install ziglang"; return 0; }
    name=$(echo "$triple" | tr - _)
    env "CC_$name=$tools/$triple-cc" "AR_$name=$tools/$triple-ar" \
        RUSTFLAGS="$remap -C linker=rust-lld -C link-self-contained=yes" \
        cargo build --release --locked -p tidegate --no-default-features --target "$triple"
    folder=tidegate-$version-${triple%%-*}-linux-static
    rm -rf "${build:?}/$folder"
    mkdir -p "$build/$folder/bin"
    cp "$build/$triple/release/tidegate" "$build/$folder/bin/"
    cp -R "$files/share" "$build/$folder/"
    cp LICENSE-APACHE LICENSE-MIT "$build/$folder/"
    scripts/notices.py "$triple" --no-default-features >"$build/$folder/NOTICES"
    tar -C "$build" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
        --mode=u+rw,go+r-w -cf - "$folder" | gzip -9n >"$dist/$folder.tar.gz"
}

rm -rf "$dist"
mkdir -p "$dist" "$build"
: >"$build/skipped"
build_here
debian_package
module_package
for triple in $triples; do
    static_program "$triple"
done
cd "$dist"
sha256sum -- * >SHA256SUMS
echo "dist: $dist"
cat SHA256SUMS
