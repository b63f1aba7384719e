#!/bin/sh
# Compares `tidegate cpu profile` with cyclictest and oslat on one processor, in turns: the latest
# wake-up and the longest gap that each measures. Then checks its calibration: it measures a known
# amount of stolen time (figure 5.8).
#
# usage: scripts/cpu_compare.sh TARGET_DIR [ROUNDS [SECONDS [IDLE]]]
#
# The calibration first measures the machine without the thief, for IDLE seconds (60). On a host
# that is often late this must be much longer than the runs with the thief. Intervals of up to
# LONGEST (200ms) must be far longer than the longest gap of such a host, or its line would cover
# whole intervals. The programs do not measure the same seconds; on a shared machine compare the
# medians of several rounds.
set -eu

target=$1
rounds=${2:-5}
seconds=${3:-5}
idle=${4:-60}
longest=${LONGEST:-200ms}
tidegate=$target/release/tidegate
cpu=$(($(nproc) - 1))

for tool in cyclictest oslat; do
    if ! command -v $tool >/dev/null 2>&1; then
        echo "cpu_compare: skipped: $tool is not installed (Debian: apt-get install rt-tests)"
        exit 0
    fi
done

echo "$(uname -sr), load $(cut -d' ' -f1-3 /proc/loadavg); processor $cpu, priority 80, $seconds s each"
echo "latest wake-up, us: tidegate, cyclictest; longest gap, us: tidegate, oslat; hypervisor, ms of ours"
round=0
while [ $round -lt "$rounds" ]; do
    ours=$("$tidegate" cpu profile --cpu "$cpu" --priority 80 --duration "${seconds}s" --trials 1000000 \
        --json 2>/dev/null || true)
    field() { echo "$ours" | sed -n "s/^  \"$1\": \([0-9]*\).*/\1/p"; }
    wake=$(cyclictest -q -m -p 80 -a "$cpu" -t 1 -D "$seconds" | sed -n 's/.*Max: *\([0-9]*\).*/\1/p')
    gap=$(oslat -c "$cpu" -f 80 -D "${seconds}s" 2>/dev/null | sed -n 's/^ *Maximum:[^0-9]*\([0-9.]*\).*/\1/p')
    echo "$(($(field wake_up_ns_max) / 1000)) $wake  $(($(field gap_ns_max) / 1000)) $gap" \
        " $(($(field hypervisor_ns) / 1000000))"
    round=$((round + 1))
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
shown='^(Line|Hyperbola|Calibration|  +with |Host +(stolen|the hypervisor))'
echo "the machine without the thief, ${idle} s: its line and hyperbola"
"$tidegate" cpu profile --cpu "$cpu" --priority 40 --longest "$longest" --duration "${idle}s" -o "$work/idle.cpu.toml" \
    2>/dev/null | grep -E "$shown" | sed 's/^/  /'
echo "a thief of 2 ms in 10 ms: e and p by the line, by the hyperbola, and the coverage"
round=0
while [ $round -lt "$rounds" ]; do
    "$tidegate" cpu profile --cpu "$cpu" --priority 40 --longest "$longest" --trials 30 --thief 2ms/10ms --seed $((round + 1)) \
        --baseline "$work/idle.cpu.toml" 2>/dev/null | grep -E "$shown" | sed 's/^/  /' || true
    echo
    round=$((round + 1))
done
