#!/bin/sh
# Runs three tenants on one disk that is simulated in real time: two with contracts, and a backup
# with 64 requests outstanding. In the first run all keep their contracts; in the second one tenant
# demands ten times its contract. The other tenants' bounds must hold in both runs.
#
# usage: scripts/tenants.sh TARGET_DIR [SECONDS] (length of each run; default 600)
#
# Response times are the server's, from the instant at which the contract allows a request until its
# completion. The best-effort throughput is compared with a simulation of the same workload.
set -eu

target=$(cd "$1" && pwd)
seconds=${2:-600}
tidegate=$target/release/tidegate

for tool in fio; do
    if ! command -v $tool >/dev/null 2>&1; then
        echo "tenants: skipped: $tool is not installed (Debian: apt-get install $tool)"
        exit 0
    fi
done
work=$(mktemp -d)
server=
stop() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    wait
    rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT TERM

cat >"$work/tenants.serve.toml" <<'TOML'
simulate = "fujitsu-max3036rc"
socket = "tenants.sock"
control = "tenants.control"

[[export]]
name = "camera"
size = "4GiB"
read_only = true
contract = { period = "300ms", requests = 2, size_max = "128KiB", op = "read" }

[[export]]
name = "player"
size = "4GiB"
read_only = true
contract = { period = "250ms", requests = 1, size_max = "128KiB", op = "read" }

[[export]]
name = "backup"
size = "12GiB"
read_only = true
best_effort = true
TOML

# The same workload for the simulator: places as shares of the drive's 36 GB, and the clients'
# periods. The clients pause after each completion, so they never demand too early.
cat >"$work/tenants.workload.toml" <<'TOML'
drive = "fujitsu-max3036rc"
[policy]
name = "dqf"
batch = "auto"
regulators = ["tokens-per-task"]

[[task]]
name = "camera"
period = "250ms"
size = "128KiB"
place = { from = "0%", to = "11%" }

[[task]]
name = "player"
period = "330ms"
size = "128KiB"
place = { from = "11%", to = "23%" }

[[best_effort]]
name = "backup"
outstanding = 64
size = "128KiB"
place = { from = "23%", to = "58%" }
TOML
echo "# the simulation"
"$tidegate" sim "$work/tenants.workload.toml" --duration 600s

client() { # name, options of fio
    name=$1
    shift
    fio --name="$name" --ioengine=nbd --uri="nbd+unix:///$name?socket=$work/tenants.sock" \
        --rw=randread --bs=128k --runtime="$seconds" --time_based --output-format=json \
        --output="$work/$name.json" "$@" &
}

run() { # title, options of the camera's reads
    title=$1
    shift
    "$tidegate" serve "$work/tenants.serve.toml" >"$work/log" 2>&1 &
    server=$!
    waited=0
    while [ ! -S "$work/tenants.sock" ] || [ ! -S "$work/tenants.control" ]; do
        waited=$((waited + 1))
        [ $waited -lt 600 ] || { cat "$work/log"; exit 3; }
        sleep 0.1
    done
    client backup --iodepth=64
    backup=$!
    client player --iodepth=1 --thinktime=255000
    player=$!
    client camera "$@"
    camera=$!
    wait $backup $player $camera
    echo
    echo "# $title, $seconds s"
    "$tidegate" ctl "$work/tenants.control" statistics
    "$tidegate" ctl "$work/tenants.control" status || true
    sed -n 's/^ *"bw_bytes" : \([0-9]*\).*/\1/p' "$work/backup.json" | head -n 1 |
        awk '{ printf "best effort %.2f MB/s\n", $1 / 1e6 }'
    kill "$server"
    wait "$server" || true
    server=
    cat "$work/log"
    rm -f "$work/tenants.sock" "$work/tenants.control"
}

run "all tenants keep their contracts" --iodepth=1 --thinktime=155000
# The contract allows 2 requests in 300 ms, 6.7 a second.
run "the camera demands ten times its contract" --iodepth=16 --rate_iops=67
