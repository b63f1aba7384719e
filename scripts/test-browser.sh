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
"$python" scripts/report_in_browser.py "$work"
