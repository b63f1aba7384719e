#!/bin/sh
# Compares `tidegate run` with fio on the same file: 4 KiB random reads, 32 outstanding, io_uring,
# direct I/O. The two run in turns; on a shared machine only the ratio of each pair is meaningful.
#
# usage: scripts/bench-fio.sh TARGET_DIR [ROUNDS]
set -eu

target=$1
rounds=${2:-5}
tidegate=$target/release/tidegate
work=$target/bench-fio

if ! command -v fio >/dev/null 2>&1; then
    echo "bench-fio: skipped: fio is not installed (Debian: apt-get install fio)"
    exit 0
fi
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
if ! "$tidegate" profile "$work/disk.img" --create 512MiB --size 4KiB --depth 32 --samples 20 \
    -o "$work/disk.drive.toml" >"$work/log" 2>&1; then
    echo "bench-fio: skipped:"
    cat "$work/log"
    exit 0
fi
cat >"$work/reads.workload.toml" <<'TOML'
drive = "disk.drive.toml"
[policy]
name = "noop"
[[best_effort]]
name = "reads"
outstanding = 32
size = "4KiB"
TOML

# Prints the first number after `"KEY":` that follows `"PART"` in a JSON file.
number() { sed -n "/\"$2\"/,\$p" "$1" | sed -n "s/.*\"$3\" *: *\([0-9]*\).*/\1/p" | head -n 1; }

echo "round  tidegate IOPS  fio IOPS  ratio"
round=1
while [ "$round" -le "$rounds" ]; do
    "$tidegate" run "$work/reads.workload.toml" --device "$work/disk.img" --policy noop \
        --duration 5s --json >"$work/run.json"
    bytes=$(number "$work/run.json" best_effort throughput_bytes_per_s)
    fio --name=reads --filename="$work/disk.img" --rw=randread --bs=4k --direct=1 \
        --ioengine=io_uring --iodepth=32 --runtime=5 --time_based --output-format=json \
        >"$work/fio.json"
    fio_iops=$(number "$work/fio.json" read iops)
    awk -v r="$round" -v t="$((bytes / 4096))" -v f="$fio_iops" \
        'BEGIN { printf "%5d %14d %9d %6.2f\n", r, t, f, t / f }'
    round=$((round + 1))
done
