#!/usr/bin/env bash
# Checks the machine-checked proofs, and lets the checkers that are extracted from them judge the
# real policies and certificates. Installs Coq on Debian if it may; skips with a reason otherwise.
# With the argument `coqchk`, also checks the proofs again with Coq's independent checker.
set -euo pipefail
cd "$(dirname "$0")/.."
packages=(coq ocaml-nox ocaml-findlib libzarith-ocaml-dev libyojson-ocaml-dev)

has_all() { command -v coqc >/dev/null && ocamlfind query zarith yojson >/dev/null 2>&1; }

if ! has_all && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get update -qq && apt-get install -qq -y --no-install-recommends "${packages[@]}" >/dev/null || true
fi
if ! has_all; then
  echo "skipped: the proofs need Debian's packages ${packages[*]} (Coq 8.16)"
  exit 0
fi

make -s -C proofs judge all
[ "${1:-}" = coqchk ] && make -s -C proofs coqchk

# Built with the profile of the tests, whose build already contains the example.
cargo build -q --profile test --locked -p tidegate-report --example judged
judged=${CARGO_TARGET_DIR:-target}/debug/examples/judged

# Runs the example with these arguments, passes its output to the judge, and compares the first number of
# the judge's last line: how many it accepts. Arguments: how many are expected, then the example's.
judge() {
  local expected=$1 verdict accepted
  shift
  verdict=$("$judged" "$@" | proofs/judge | tail -n 1)
  echo "$*: $verdict"
  accepted=${verdict%% *}
  case $expected in
    all) [ "$accepted" = "$2" ] && [[ $verdict != *" exceed,"* || $verdict == *" 0 exceed,"* ]] ;;
    none) [ "$accepted" = 0 ] ;;
    few) [ "$accepted" -lt "$(($2 * 3 / 4))" ] ;;
  esac || { echo "the judge should have accepted $expected of them" >&2; exit 1; }
}

# True logs are executions of the model. Logs with a flaw are not, but not every log shows its flaw.
for policy in dqf costs dq-edf; do
  judge all "$policy" 600 200
  for flaw in z beta long-batch early-release; do judge few "$policy" 600 200 "$flaw"; done
done
judge few dqf 600 200 order
for policy in adaptive gated; do
  judge all "$policy" 600 200
  for flaw in deadline short-drain long-drain early-release; do judge few "$policy" 600 200 "$flaw"; done
done
judge few gated 600 200 depth
# Certificates follow from the theorem; a bound lower by 1 ns does not.
judge all certificates 600
judge none certificates 600 lower-bound
