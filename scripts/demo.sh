#!/bin/sh
# Demonstrates Tidegate in under a minute. Part (a) needs nothing; part (b) creates a file of 1 GiB
# beside the build output, measures it, and removes it.
set -eu

target=$1
tidegate=$target/release/tidegate
work=$target/demo

say() { printf '\n\033[1m%s\033[0m\n\n' "$*"; }
[ -t 1 ] && [ -z "${NO_COLOR-}" ] || say() { printf '\n== %s\n\n' "$*"; }

# Runs a command as the reader would type it. Exit code 1, a "no", is part of the demo; wrong input
# (2) or a broken bound (3) ends it.
show() {
    printf '$ tidegate %s\n\n' "$*"
    code=0
    "$tidegate" "$@" || code=$?
    if [ "$code" -gt 1 ]; then
        printf '\ndemo: exit code %s\n' "$code" >&2
        exit "$code"
    fi
}

# Prints a paragraph, as wide as the terminal.
tell() { printf '%s\n\n' "$*" | fold -s -w "${COLUMNS:-80}"; }

# Writes the results so far as one page, and says where it is.
finish() {
    say "The report of this demo, for a browser and for paper."
    "$tidegate" report "$work"/*.result.json -o "$work/report.html"
}

rm -rf "$work"
mkdir -p "$work"
work=$(cd "$work" && pwd)

say "(a) A disk of 2005 and sixteen cameras that each read 128 KiB every 300 ms."
tell "Does every read complete in time? Tidegate sends the disk batches of requests. b(1), b(2), .. \
are the longest times that so many requests took together; every bound follows from them:"
show check workloads/cameras.workload.toml --batch 16

say "Twenty-four cameras are more than the disk can promise one request at a time."
tell "Sent one by one (the policies fifo and edf), the bound admits 17 cameras, and the best \
published bound for batches 16. Batches (the policy dqf) with the bound \`tight\` admit all 24:"
show check workloads/cameras-24.workload.toml

say "The same 24 on a simulated disk that always takes its longest time."
show sim workloads/cameras-24.workload.toml --policy noop,fifo,dqf --jobs 2000
echo
tell "noop, which keeps the drive's queue full, keeps its deadlines here because all cameras release \
together and nothing else uses the disk. It has no bound:"

say "Sixteen cameras, and a backup that keeps 450 requests outstanding."
tell "noop keeps the drive's queue full, as most systems do. fifo gives up the drive's own \
scheduling. dqf keeps it, and serves the backup where the proof leaves time."
show sim workloads/recorder.workload.toml --policy noop,fifo,dqf --jobs 2000 \
    --result "$work/recorder.result.json"

say "(b) This machine's own disk: measure, prove, keep."
cp workloads/this-disk.workload.toml "$work/"
case $target in /*) ;; *) tidegate=$PWD/$tidegate ;; esac
cd "$work"
trap 'rm -f disk.img' EXIT
trap 'exit 130' INT TERM

code=0
printf '$ tidegate profile disk.img --create 1GiB --only batch --depth 16 --samples 200 --time-limit 15s -o disk.drive.toml\n\n'
"$tidegate" profile disk.img --create 1GiB --only batch --depth 16 --samples 200 --time-limit 15s \
    -o disk.drive.toml 2>&1 || code=$?
# A 1 is a measurement that the time limit ended: enough for a demo.
if [ "$code" -gt 1 ]; then
    printf '\nSkipped: this disk cannot be measured here; see the reason above.\n'
    finish
    exit 0
fi

say "Eight streams with a deadline beside a backup, on that file."
show check this-disk.workload.toml
echo
show run this-disk.workload.toml --device disk.img --policy noop,dqf --duration 6s \
    --result this-disk.result.json

echo
tell "Where no deadline was missed under noop either, the disk is fast enough for this load. The \
difference is the bound: it holds for the load of the next hour too."

finish

say "End of the demo. Next: README.md, \"A first session on your own disk\"."
