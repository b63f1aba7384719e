#!/bin/sh
# Measures the time that a network service takes from real-time tasks on this machine, and the
# service's own share: two network namespaces joined by veth, threaded NAPI on one processor, a flood
# of packets from the other.
#
# usage: scripts/network_interference.sh TARGET_DIR [bounds|quality|all [FOLDER]]
#
#   bounds    measured demand and load without traffic, and with traffic: the service above the
#             measuring thread, partly in interrupts (hybrid), below it, and under `tidegate cpu
#             serve`; with pings also above it without replies (figures 5.10, 5.12, 5.14, 5.15).
#             Profiles go to FOLDER
#   quality   missed deadlines and lost heartbeats by execution time of a task, with the service
#             in the background, in the foreground, and served (figures 5.16, 5.17)
#
# Needs root, two processors, ip, ethtool, python3. It creates its own namespaces and removes them;
# it changes nothing outside them. BUDGET and PERIOD belong to the server. TRAFFIC is udp (default) or
# ping, which the service also replies to; RATE limits the flood (packets a second). TRIALS is the
# number of longest intervals of each profile, SECONDS_EACH the length of each run of quality.
set -eu

target=$1
part=${2:-all}
folder=${3:-}
here=$(dirname "$0")
tidegate=$target/release/tidegate
heartbeats=$target/release/examples/heartbeats
budget=${BUDGET:-2ms}
period=${PERIOD:-10ms}
rate=${RATE:-}
traffic=${TRAFFIC:-udp}
trials=${TRIALS:-100}
seconds=${SECONDS_EACH:-4}

skip() {
    echo "network_interference: skipped: $1"
    exit 0
}
[ "$(id -u)" = 0 ] || skip "needs root"
for tool in ip ethtool python3 taskset chrt; do
    command -v $tool >/dev/null 2>&1 ||
        skip "$tool is not installed (Debian: apt-get install iproute2 ethtool python3 util-linux)"
done
[ "$(nproc)" -ge 2 ] || skip "needs two processors: one sends, the other receives"
[ -x "$tidegate" ] || { echo "network_interference: $tidegate is not built" >&2; exit 2; }
cpu=$(($(nproc) - 1))
id=tg$(($$ % 100000))
work=$(mktemp -d)
pids=
quiet_end() {
    for pid in $pids; do kill "$pid" 2>/dev/null || true; done
    # No `wait` here: a child that ignores the signal must not keep the namespaces.
    ip netns del "$id-a" 2>/dev/null || true
    ip netns del "$id-b" 2>/dev/null || true
    rm -rf "$work"
}
trap quiet_end EXIT
trap 'exit 130' INT TERM

# Two hosts with a cable; the receiver's NAPI has its own thread. With TSO, packets would bypass
# that thread.
{ ip netns add "$id-a" && ip netns add "$id-b" &&
    ip link add "$id" netns "$id-a" type veth peer name "$id" netns "$id-b"; } 2>"$work/error" ||
    skip "no namespaces or no veth here: $(cat "$work/error")"
ip -n "$id-a" addr add 198.18.0.1/24 dev "$id"
ip -n "$id-b" addr add 198.18.0.2/24 dev "$id"
ip -n "$id-a" link set "$id" up
ip -n "$id-b" link set "$id" up
ip netns exec "$id-a" ethtool -K "$id" tso off
ip netns exec "$id-b" ethtool -K "$id" gro on
ip netns exec "$id-b" sh -c "echo 1 >/sys/class/net/$id/threaded" 2>"$work/error" ||
    skip "no threaded NAPI: $(cat "$work/error")"
# Finds the NAPI thread, which the kernel creates anew each time, and binds it to the processor.
adopt() {
    napi=$(ps -eLo tid,comm | awk -v name="napi/$id" 'index($2, name) == 1 { print $1 }')
    [ -n "$napi" ] || return 1
    taskset -pc "$cpu" "$napi" >/dev/null
}
adopt || skip "NAPI has no thread"

# Sends from the first processor. Run in the background, it is the sender itself, which can be killed.
send() { exec ip netns exec "$id-a" taskset -c 0 python3 "$here/traffic.py" "$@"; }
# Runs the flood for $1 seconds.
flood() {
    if [ "$traffic" = ping ]; then
        send ping 198.18.0.2 "$1" $rate >"$work/sent" &
    else
        ip netns exec "$id-b" python3 "$here/traffic.py" sink 9 "$1" &
        pids="$pids $!"
        sleep 0.2
        send flood 198.18.0.2 9 "$1" $rate >"$work/sent" &
    fi
    sender=$!
    pids="$pids $sender"
    sleep 0.3
}
# Returns whether the kernel can move packets to another processor.
has_rps() { ip netns exec "$id-b" test -e "/sys/class/net/$id/queues/rx-0/rps_cpus"; }
# Moves packets of the receiver to its processor as interrupts do, with the NAPI thread off (1) or on (0).
hybrid() {
    # The kernel's mask has a comma before each eighth digit from the right.
    mask=$(printf %x $(($1 << cpu % 32)))
    groups=$((cpu / 32))
    while [ $groups -gt 0 ]; do mask=$mask,00000000 groups=$((groups - 1)); done
    ip netns exec "$id-b" sh -ec "echo $((1 - $1)) >/sys/class/net/$id/threaded
        echo $mask >/sys/class/net/$id/queues/rx-0/rps_cpus"
}
end_hybrid() {
    hybrid 0
    adopt || { echo "network_interference: NAPI has no thread again" >&2; exit 3; }
}
executed() { cut -d' ' -f1 "/proc/$napi/schedstat" 2>/dev/null || echo 0; }
received() { ip netns exec "$id-b" cat "/sys/class/net/$id/statistics/rx_packets"; }
dropped() { ip netns exec "$id-a" cat "/sys/class/net/$id/statistics/tx_dropped"; }
# Starts the server; its report goes to $work/served.
serve() {
    "$tidegate" cpu serve --thread "$napi" --budget "$budget" --period "$period" --cpu "$cpu" \
        --priority 60 --json >"$work/served" 2>"$work/serving" &
    server=$!
    pids="$pids $server"
    sleep 0.3
}
unserve() {
    kill -TERM "$server"
    wait "$server" || { cat "$work/serving" >&2; exit 3; }
}
value() { sed -n "s/^ *\"$1\": \([0-9]*\).*/\1/p" "$2" | head -n 1; }

# Measures a profile at priority 40 and prints it under the name $1.
bound() {
    before_ns=$(executed); before_packets=$(received); before_dropped=$(dropped)
    begin=$(date +%s%N)
    "$tidegate" cpu profile --cpu "$cpu" --priority 40 --trials "$trials" --seed 1 --name "$1" --json \
        ${folder:+-o "$folder/$1.cpu.toml" --svg "$folder/$1.svg"} >"$work/$1.json" 2>"$work/$1.log" ||
        { cat "$work/$1.log" >&2; exit 3; }
    took=$(($(date +%s%N) - begin))
    python3 - "$work/$1.json" "$1" $((($(executed) - before_ns) * 1000 / took)) \
        $((($(received) - before_packets) * 1000000000 / took)) \
        $((($(dropped) - before_dropped) * 1000000000 / took)) <<'PY'
import json, sys
found = json.load(open(sys.argv[1]))
at = dict(zip(found["interval_ns"], found["demand_ns"]))
task = (found["demand_fit"] or {}).get("task") or {}
load = (found["load_fit"] or {}).get("task") or {}
ms = lambda ns: f"{ns / 1e6:.3f}"
print(f"{sys.argv[2]:<12} {sys.argv[3]:>5} {sys.argv[4]:>9} {sys.argv[5]:>9} "
      f"{ms(at[1000000]):>7} {ms(at[10000000]):>7} {ms(at[50000000]):>7} "
      f"{found['demand_fit']['utilization_ppb'] / 1e7:>7.2f} "
      f"{ms(task.get('execution_ns', 0)):>8}/{ms(task.get('period_ns', 0)):<8} "
      f"{found['load_fit']['utilization_ppb'] / 1e7:>6.2f} "
      f"{ms(load.get('execution_ns', 0)):>8}/{ms(load.get('period_ns', 0)):<8} "
      f"{ms(found['gap_ns_max']):>7} {ms(found['hypervisor_ns'] or 0):>6}")
for warning in found["warnings"]:
    print(f"  {warning}")
PY
}

# Measures a profile beside the flood and prints it under the name $1.
flooded() {
    flood "$duration"
    bound "$1"
    wait "$sender"
}

bounds() {
    # A trial takes 50 ms, and 16 % more for pauses.
    duration=$((trials * 6 / 100 + 3))
    echo "The most stolen from a thread at priority 40, in ms; NAPI at 60 (above), 20 (below), served at 60"
    echo "                 o/oo  received   dropped  in 1ms in 10ms in 50ms  line %   as task e/p      load %   as task e/p       longest  steal"
    chrt -f -p 60 "$napi"
    bound quiet
    flooded above
    if [ "$traffic" = ping ]; then
        ip netns exec "$id-b" sh -c 'echo 1 >/proc/sys/net/ipv4/icmp_echo_ignore_all'
        flooded no-reply
        ip netns exec "$id-b" sh -c 'echo 0 >/proc/sys/net/ipv4/icmp_echo_ignore_all'
    fi
    chrt -f -p 20 "$napi"
    flooded below
    chrt -o -p 0 "$napi"
    flood "$duration"
    serve
    bound served
    unserve
    wait "$sender"
    echo "served: budget $budget in $period, at most $(value executed_in_period_ns_max "$work/served") ns in a" \
        "period, enforced at most $(value enforcement_delay_ns_max "$work/served") ns late; the manager" \
        "took $(value manager_ns "$work/served") ns of $(value wall_ns "$work/served") ns"
    if has_rps; then
        hybrid 1
        flooded hybrid
        end_hybrid
    fi
}

# Measures one line: configuration, execution time of task 2, priorities of tasks 1 and 2.
one() {
    flood $((seconds + 2))
    send heartbeat 198.18.0.2 7 "$seconds" >"$work/beats" &
    beats=$!
    pids="$pids $beats"
    ip netns exec "$id-b" "$heartbeats" "$cpu" "$3" "$4" "$2" "$seconds" 7 >"$work/one" 2>"$work/error"
    cat "$work/error" >&2
    wait "$beats"
    wait "$sender"
    python3 - "$work/one" "$1" "$(cat "$work/beats")" "$(cat "$work/sent")" <<'PY'
import json, sys
found = json.load(open(sys.argv[1]))
share = lambda part, all: 100 * part / max(all, 1)
print(f"{sys.argv[2]:<12} {found['execution_us'] / 1000:>6.1f} "
      f"{share(found['missed_2'], found['jobs_2']):>9.1f} {share(found['missed_1'], found['jobs_1']):>9.1f} "
      f"{found['heartbeats']:>8} of {sys.argv[3]:<5} {sys.argv[4]:>9}")
PY
}

quality() {
    [ -x "$heartbeats" ] || {
        echo "network_interference: the example is not built: cargo build --release -p tidegate-measure --example heartbeats" >&2
        exit 2
    }
    echo "NAPI hybrid (interrupts and its softirq thread), in the background (20), foreground (60), served" \
        "(60, $budget in $period); tasks at 50 and 40"
    echo "service       e2 ms  missed 2 %  missed 1 %  heartbeats   flood sent"
    for execution in ${EXECUTIONS:-1000 2000 3000 4000 5000 6000 7000}; do
        if has_rps; then
            hybrid 1
            one hybrid "$execution" 50 40
            end_hybrid
        fi
        chrt -f -p 20 "$napi"
        one background "$execution" 50 40
        chrt -f -p 60 "$napi"
        one foreground "$execution" 50 40
        chrt -o -p 0 "$napi"
        serve
        one served "$execution" 50 40
        unserve
    done
}

echo "$(uname -sr), $(nproc) processors, load $(cut -d' ' -f1-3 /proc/loadavg); NAPI on processor $cpu, sender on 0"
case $traffic in udp | ping) ;; *) echo "network_interference: TRAFFIC is udp or ping" >&2; exit 2 ;; esac
case $part in
bounds) bounds ;;
quality) quality ;;
all) bounds; quality ;;
*) echo "network_interference: bounds, quality or all" >&2; exit 2 ;;
esac
