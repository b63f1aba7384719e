#!/bin/sh
# Makes in TARGET/dist what users install: a Debian package, and an archive with a static program for each
# processor. Usage: scripts/dist.sh TARGET
# What this machine lacks the tools for is left out, and the reason is printed; a build that fails ends the script.
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

# Also where the sources belong to another user, as under sudo.
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0="$PWD"

# Everything that a build could take from its time and its place. The programs name their commit, so they must be
# built from it.
revision=
if [ -e .git ]; then
    commit=$(git rev-parse --short=12 HEAD)
    changes=$(git status --porcelain)
    [ -z "$changes" ] || { printf 'dist: commit these changes or remove them:\n%s\n' "$changes" >&2; exit 1; }
    SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git show --no-patch --no-show-signature --format=%ct HEAD)}
    # Before a release, a package must be newer than those of earlier commits.
    revision=+git$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M).$commit
fi
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(stat -c %Y Cargo.lock)}
cargo_home=${CARGO_HOME:-$HOME/.cargo}
remap="--remap-path-prefix=$PWD=/tidegate --remap-path-prefix=$cargo_home=/cargo"
remap="$remap --remap-path-prefix=$build=/build"
export SOURCE_DATE_EPOCH
export CARGO_TARGET_DIR="$build" CARGO_PROFILE_RELEASE_DEBUG=none CARGO_PROFILE_RELEASE_STRIP=symbols

skip() { echo "dist: no $1: $2" >&2; }

# Builds the program with OpenSSL for this machine, and with it the files that surround it.
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
    # It takes no file to be newer than SOURCE_DATE_EPOCH.
    dpkg-deb --root-owner-group -Zxz --build "$stage" "$dist" >/dev/null
}

# Prints what the package says of itself; the libraries are those that the program was linked with.
control() {
    mkdir -p "$build/shlibdeps/debian"
    printf 'Source: tidegate\n\nPackage: tidegate\nArchitecture: any\n' >"$build/shlibdeps/debian/control"
    libraries=$(cd "$build/shlibdeps" && dpkg-shlibdeps -O "$stage/usr/bin/tidegate")
    libraries=${libraries#shlibs:Depends=}
    # In KiB, as Debian counts: each file rounded up, and 1 for a folder. The file system has no part in it.
    size=$(find "$stage/usr" -printf '%y %s\n' |
        awk '{ kib += $1 == "f" ? int(($2 + 1023) / 1024) : 1 } END { print kib }')
    sed -e "s/@version@/$version$revision/; s/@architecture@/$(dpkg --print-architecture)/" \
        -e "s/@libraries@/$libraries/; s/@size@/$size/" packaging/debian/control
}

# Writes a C compiler and an archiver for a triple, for the allocator. A static program has no TLS: OpenSSL would
# have to be built into it, and each of its corrections would need a new program.
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
mkdir -p "$dist"
build_here
debian_package
for triple in $triples; do
    static_program "$triple"
done
cd "$dist"
sha256sum -- * >SHA256SUMS
echo "dist: $dist"
cat SHA256SUMS
