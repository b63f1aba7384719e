#!/usr/bin/env bash
# Builds the wheel of the Python package; with the argument `test`, installs it into a clean virtual
# environment and tests it there. Without Python 3.11, or if pip cannot install what it needs, it prints
# the reason and skips.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
tools=$target/python-tools

skip() { echo "skipped: $*"; exit 0; }

python3 -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
  skip "the package needs Python 3.11 or later, with its module venv"
[ -x "$tools/bin/maturin" ] || { python3 -m venv "$tools" &&
  "$tools/bin/pip" install -q 'maturin>=1.16,<2' 'mypy>=1.11,<3' 'ruff>=0.6,<1'; } ||
  { rm -rf "$tools"; skip "pip cannot install maturin, mypy and ruff"; }

"$tools/bin/maturin" build -q --release --locked -m crates/python/Cargo.toml --out "$target/wheels"
wheel=$(ls -t "$target"/wheels/tidegate-*.whl | head -n 1)
echo "Wheel: $wheel"
[ "${1:-}" = test ] || exit 0

clean=$target/python-clean
rm -rf "$clean"
python3 -m venv "$clean"
"$clean/bin/pip" install -q "$wheel[place,sweep]" 'pytest>=8' 'matplotlib>=3.8' ||
  skip "pip cannot install what the package needs"
# Figures of the package are compared with those of the command line, built as for its own tests.
cargo build -q --profile test --locked -p tidegate
TIDEGATE=$(cd "$target" && pwd)/debug/tidegate
export TIDEGATE
cd crates/python
"$tools/bin/ruff" check -q . && "$tools/bin/ruff" format -q --check .
"$tools/bin/mypy" --python-executable "$clean/bin/python"
# The installed package, not the sources beside these tests: they lack the compiled module.
"$clean/bin/python" -m pytest -q -p no:cacheprovider tests
PYTHONPATH=tests "$clean/bin/python" -m pytest -q -p no:cacheprovider -p examples --doctest-modules --pyargs tidegate
