#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Raises the climbed places of a drive file to the batches that an adversary found.

    cargo run --release -p tidegate-soundness --example longest_batches -- NAME 3000 6 > found.txt
    scripts/raise_climbed.py drives/NAME.drive.toml found.txt

The times of [[batch.families]] with places = "climbed", and the ns_max of its table, become at least
the times of found.txt. Comments stay.
"""

import re
import sys
import tomllib

from add_families import listed


def raised(times, found):
    return [max(ns, found.get(count, 0)) for count, ns in enumerate(times, 1)]


def replaced(text, times):
    """Returns the text of one section with other ns_max."""
    return re.sub(r"ns_max = \[.*?\]", lambda _: listed("ns_max", times), text, count=1, flags=re.S)


def main():
    path, results = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found = {}
    with open(results, encoding="utf-8") as lines:
        for line in lines:
            op, size, count, ns = line.split()
            found.setdefault((op, int(size)), {})[int(count)] = int(ns)
    units = {"KiB": 1024, "MiB": 1 << 20, "B": 1}
    parts = re.split(r"(?m)^(?=\[)", text)
    table = {}
    for at, part in enumerate(parts):
        if part.startswith("[[batch]]"):
            known = tomllib.loads(part)["batch"][0]
            number, unit = re.fullmatch(r"(\d+)(\D+)", known["size"]).groups()
            table = found.get((known["op"], int(number) * units[unit]), {})
            parts[at] = replaced(part, raised(known["ns_max"], table))
        elif part.startswith("[[batch.families]]"):
            family = tomllib.loads(part)["batch"]["families"][0]
            if family["places"] == "climbed":
                parts[at] = replaced(part, raised(family["ns_max"], table))
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(parts))


if __name__ == "__main__":
    main()
