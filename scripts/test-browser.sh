#!/bin/sh
# Opens pages of `tidegate report` in headless Chromium: scripts/report_in_browser.py has the checks. Installs Chromium
# as root on Debian, and Selenium into TARGET/browser-tools. Without them it says so and passes.
# Usage: scripts/test-browser.sh TARGET
set -eu

selenium_version=4.27.1

cd "$(dirname "$0")/.."
target=$(cd "$1" && pwd)
tools=$target/browser-tools
work=$target/browser
tidegate=$target/debug/tidegate

skip() { echo "test-browser: skipped: $*"; exit 0; }

if ! command -v chromium >/dev/null || ! command -v chromedriver >/dev/null; then
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || skip "chromium or chromedriver is missing"
    { apt-get update -qq &&
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium chromium-driver \
            fonts-dejavu-core; } >/dev/null 2>&1 || skip "chromium cannot be installed"
fi
python=$tools/bin/python
[ -x "$python" ] || python3 -m venv "$tools" || skip "python3-venv is missing"
"$python" -m pip install --quiet "selenium==$selenium_version" || skip "selenium cannot be installed"

rm -rf "$work"
mkdir -p "$work"
"$tidegate" check workloads/recorder.workload.toml --quiet --result "$work/check.result.json"
# noop misses deadlines, which is no failure here.
"$tidegate" sim workloads/recorder.workload.toml --policy noop,dqf --jobs 2000 --quiet \
    --result "$work/sim.result.json" || [ $? = 1 ]
"$tidegate" report "$work/check.result.json" "$work/sim.result.json" -o "$work/report.html"

# A service on a simulated drive, and two clients of it.
sed 's/^socket = .*/&\ncontrol = "media.ctl"/' workloads/media.serve.toml >"$work/media.serve.toml"
"$tidegate" serve "$work/media.serve.toml" >"$work/service.txt" 2>&1 &
service=$!
device=
finish() {
    kill "$service" 2>/dev/null || true
    [ -z "$device" ] || losetup --detach "$device"
}
trap finish EXIT
trap 'exit 130' INT TERM
for _ in $(seq 100); do
    [ -S "$work/media.ctl" ] && break
    sleep 0.1
done
[ -S "$work/media.ctl" ] || { cat "$work/service.txt" >&2; exit 1; }
for export in library backup; do
    "$tidegate" nbd measure "nbd+unix:///$export?socket=$work/media.sock" --duration 3s --quiet >/dev/null
done
"$tidegate" ctl "$work/media.serve.toml" statistics --quiet --result "$work/service.result.json" >/dev/null
"$tidegate" ctl "$work/media.serve.toml" stop --quiet >/dev/null
"$tidegate" report "$work/service.result.json" -o "$work/service.html"

# A watch of a loop device, where this machine allows one.
truncate -s 64M "$work/disk.img"
if [ "$(id -u)" = 0 ] && [ -d /sys/kernel/tracing ] && device=$(losetup --find --show "$work/disk.img" 2>/dev/null); then
    { sleep 1; dd if="$device" of=/dev/null bs=128k iflag=direct status=none; } &
    reader=$!
    "$tidegate" watch "$device" --duration 3s --quiet --result "$work/watch.result.json" >/dev/null
    wait "$reader"
    "$tidegate" report "$work/watch.result.json" -o "$work/watch.html"
else
    echo "test-browser: no page of a watch: no loop device can be watched here"
fi
"$python" scripts/report_in_browser.py "$work"
