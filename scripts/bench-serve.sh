#!/bin/sh
# Compares `tidegate serve` with `nbdkit file` on the same file: 4 KiB random reads by fio over a
# unix socket, in turns; on a shared machine only the ratio of each pair is meaningful.
#
# usage: scripts/bench-serve.sh TARGET_DIR [ROUNDS [SECONDS [FOLDER]]]
#
# `nbdkit file` reads through the page cache, Tidegate past it. To make both read from the disk, the
# script empties the cache before each run (as root), and the file is larger than one run's reads.
# BUSY_POLL, for example 100us, is the key `busy_poll` of the serve file.
set -eu

target=$1
rounds=${2:-7}
seconds=${3:-4}
folder=${4:-$target}

for tool in fio nbdkit; do
    if ! command -v $tool >/dev/null 2>&1; then
        echo "bench-serve: skipped: $tool is not installed (Debian: apt-get install $tool)"
        exit 0
    fi
done
work=$(mktemp -d "$folder/bench-serve.XXXXXX")
servers=
stop() {
    [ -z "$servers" ] || kill $servers 2>/dev/null || true
    wait
    rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT TERM

if [ "$(id -u)" != 0 ]; then
    echo "bench-serve: skipped: only root can empty the page cache"
    exit 0
fi
head -c 4G /dev/urandom >"$work/disk.img"
sync "$work/disk.img"
cat >"$work/serve.toml" <<'TOML'
backing = "disk.img"
socket = "tidegate.sock"

[[export]]
name = "reads"
size = "4GiB"
best_effort = true
TOML
if [ -n "${BUSY_POLL:-}" ]; then
    sed -i "1i busy_poll = \"$BUSY_POLL\"" "$work/serve.toml"
fi
"$target/release/tidegate" serve "$work/serve.toml" >"$work/tidegate.log" 2>&1 &
servers=$!
nbdkit --foreground --threads 64 --unix "$work/nbdkit.sock" file "$work/disk.img" &
servers="$servers $!"
waited=0
while [ ! -S "$work/tidegate.sock" ] || [ ! -S "$work/nbdkit.sock" ]; do
    waited=$((waited + 1))
    [ $waited -lt 600 ] || { cat "$work/tidegate.log"; exit 3; }
    sleep 0.1
done

# Prints the IOPS of one run. Arguments: socket, export, depth.
iops() {
    echo 1 >/proc/sys/vm/drop_caches
    fio --name=reads --ioengine=nbd --uri="nbd+unix:///$2?socket=$work/$1.sock" --rw=randread \
        --bs=4k --iodepth="$3" --runtime="$seconds" --time_based --output-format=json |
        sed -n 's/^ *"iops" : \([0-9]*\).*/\1/p' | head -n 1
}

echo "depth  round  tidegate IOPS  nbdkit file IOPS  ratio"
for depth in 1 16; do
    round=1
    while [ "$round" -le "$rounds" ]; do
        # The first of the two changes with each round.
        if [ $((round % 2)) = 0 ]; then
            ours=$(iops tidegate reads $depth); theirs=$(iops nbdkit "" $depth)
        else
            theirs=$(iops nbdkit "" $depth); ours=$(iops tidegate reads $depth)
        fi
        awk -v d="$depth" -v r="$round" -v o="$ours" -v t="$theirs" \
            'BEGIN { printf "%5d %6d %14d %17d %6.2f\n", d, r, o, t, o / t }'
        round=$((round + 1))
    done
done
