#!/bin/sh
# Builds docs as a book with typeset formulas in target/book. Usage: scripts/book.sh TARGET
# Installs its tools into TARGET/book-tools if they are missing: mdbook and mdbook-katex with cargo,
# and with npm the style sheet and the fonts of the KaTeX version in mdbook-katex.
set -eu

mdbook_version=0.5.4
preprocessor_version=0.10.0
katex_version=0.16.4

cd "$(dirname "$0")/.."
mkdir -p "$1/book-tools"
tools=$(cd "$1/book-tools" && pwd)
PATH="$tools/bin:$PATH"

# Installs PROGRAM VERSION unless this version is installed.
need() {
    case $("$1" --version 2>/dev/null) in
        *"$2") ;;
        *) cargo install "$1" --version "$2" --locked --root "$tools" ;;
    esac
}
need mdbook "$mdbook_version"
need mdbook-katex "$preprocessor_version"

katex="$tools/katex-$katex_version"
if [ ! -d "$katex" ]; then
    command -v npm >/dev/null 2>&1 || {
        echo "book: npm is missing: install it (Debian: apt-get install npm), then try again" >&2
        exit 3
    }
    rm -rf "$tools/package"
    archive=$(cd "$tools" && npm pack --silent "katex@$katex_version")
    tar -xzf "$tools/$archive" -C "$tools" package/dist
    rm "$tools/$archive"
    mv "$tools/package" "$katex"
fi

mdbook build docs --dest-dir "$tools/../book"
book=$(cd "$tools/../book" && pwd)
mkdir -p "$book/katex/fonts"
cp "$katex/dist/katex.min.css" "$book/katex/"
cp "$katex"/dist/fonts/*.woff2 "$book/katex/fonts/"

if grep -rlE --include='*.html' 'katex-error|<(link|script|img)[^>]*(href|src)="(https?:)?//' "$book"; then
    echo "book: these pages have a wrong formula, or load a file from the network" >&2
    exit 1
fi
echo "book: $book/index.html"
