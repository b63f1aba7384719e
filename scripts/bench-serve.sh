#!/bin/sh
# Compares `tidegate serve` with `nbdkit file` and `qemu-nbd` (one event loop, io_uring, direct I/O) on
# the same file: random reads by fio over a Unix socket, in turns. Prints the median of the rounds:
# IOPS, and the server's processor time for each read, in microseconds. On a shared machine only
# ratios within one run are meaningful.
#
# usage: scripts/bench-serve.sh PROGRAM [ROUNDS [SECONDS [FOLDER]]]
#
# PROGRAM is the tidegate binary. The file is in FOLDER, or beside PROGRAM; `nbdkit file` reads it
# through the page cache, the others past it. Variables, all optional:
#
#   BUSY_POLL=100us   the key `busy_poll` of the serve file
#   PROCESSOR=1       binds every server and fio to this processor
#   PRIORITY=30       gives fio, nbdkit and qemu-nbd this real-time priority, because Tidegate has
#                     one too; for a machine that also does other work
set -eu

program=$(realpath "$1")
rounds=${2:-5}
seconds=${3:-3}
folder=${4:-$(dirname "$program")}

for tool in fio nbdkit qemu-nbd; do
    if ! command -v $tool >/dev/null 2>&1; then
        echo "bench-serve: skipped: $tool is not installed (scripts/tools.sh installs it)"
        exit 0
    fi
done
bind=${PROCESSOR:+taskset -c $PROCESSOR}
urgent="$bind ${PRIORITY:+chrt -f $PRIORITY}"
work=$(mktemp -d "$folder/bench-serve.XXXXXX")
servers=
stop() {
    [ -z "$servers" ] || kill $servers 2>/dev/null || true
    wait
    rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT TERM

head -c 256M /dev/urandom >"$work/disk.img"
sync "$work/disk.img"
cat >"$work/serve.toml" <<'TOML'
backing = "disk.img"
socket = "tidegate.sock"
read_only = true

[[export]]
name = "reads"
size = "256MiB"
best_effort = true
TOML
if [ -n "${BUSY_POLL:-}" ]; then
    sed -i "1i busy_poll = \"$BUSY_POLL\"" "$work/serve.toml"
fi
$bind "$program" serve "$work/serve.toml" >"$work/tidegate.log" 2>&1 &
tidegate=$!
$urgent nbdkit --foreground --threads 64 -r --unix "$work/nbdkit.sock" file "$work/disk.img" &
nbdkit=$!
$urgent qemu-nbd -f raw -r -x reads --persistent --shared=0 --cache=none --aio=io_uring \
    -k "$work/qemu.sock" "$work/disk.img" &
qemu=$!
servers="$tidegate $nbdkit $qemu"
waited=0
while [ ! -S "$work/tidegate.sock" ] || [ ! -S "$work/nbdkit.sock" ] || [ ! -S "$work/qemu.sock" ]; do
    waited=$((waited + 1))
    [ $waited -lt 600 ] || { cat "$work/tidegate.log"; exit 3; }
    sleep 0.1
done
echo "$(nproc) cores, $(stat -f -c %T "$work"), $("$program" --version)"

ticks=$(getconf CLK_TCK)
cpu() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }

# Appends "IOPS MICROSECONDS" of one run. Arguments: server, process, export, block size, depth.
measure() {
    before=$(cpu "$2")
    $urgent fio --name=reads --ioengine=nbd --uri="nbd+unix:///$3?socket=$work/$1.sock" --rw=randread \
        --bs="$4" --iodepth="$5" --runtime="$seconds" --time_based --output-format=json \
        >"$work/fio.json"
    after=$(cpu "$2")
    awk -v used=$((after - before)) -v ticks="$ticks" '
        /"read" : / { is_read = 1 }
        is_read && /"iops" : / && !iops { gsub(/[^0-9.]/, "", $3); iops = $3 }
        is_read && /"total_ios" : / && !ios { gsub(/[^0-9]/, "", $3); ios = $3 }
        END { printf "%.0f %.1f\n", iops, used / ticks * 1e6 / ios }' "$work/fio.json" \
        >>"$work/$1.$4.$5"
}

# Prints the median of a column. Arguments: file, column.
median() { awk -v c="$2" '{ print $c }' "$1" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

echo "size   depth   tidegate IOPS, us   qemu-nbd IOPS, us   nbdkit file IOPS, us   CPU ratio  IOPS ratio (qemu-nbd)"
for size in 4k 128k; do
    for depth in 1 16 64; do
        round=1
        while [ "$round" -le "$rounds" ]; do
            measure tidegate $tidegate reads $size $depth
            measure qemu $qemu reads $size $depth
            measure nbdkit $nbdkit "" $size $depth
            round=$((round + 1))
        done
        line=
        for server in tidegate qemu nbdkit; do
            line="$line $(median "$work/$server.$size.$depth" 1) $(median "$work/$server.$size.$depth" 2)"
        done
        echo "$size $depth $line" | awk '{ printf "%-5s %6d %12d %6.1f %12d %6.1f %15d %6.1f %12.2f %11.2f\n",
            $1, $2, $3, $4, $5, $6, $7, $8, $4 / $6, $3 / $5 }'
    done
done
