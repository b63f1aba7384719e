#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measures the tables of built-in drives anew, on the drives' own simulation: `make drives`.

    scripts/drives.py target/release                             # every drive: many hours
    scripts/drives.py target/release seagate-36es2               # one drive: an hour or more
    scripts/drives.py target/release --step commands nvme-ssd    # one step

The steps: `commands` runs the commands that the drive file names ("Made by"), `places` measures the
families of places, `climb` lets the adversary of tests/soundness search for longer batches. Seeds
and samples are fixed, so a second run writes the same bytes. Comments, chosen figures and tables
without a command stay. `cargo test -p tidegate-measure --test all stale` finds stale tables.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

DRIVES = pathlib.Path(__file__).parent.parent / "drives"
SECTIONS = ("batch", "drain", "priority")
LISTS = ("ns_max", "ns_p99", "ns_p50")
QUANTILES = ("ns_p999", "ns_p99", "ns_p90", "ns_p50", "ns_p10", "ns_min")
# Sections without families: the keys that name a table, and those that are measured.
PLAIN = {
    "throughput": (("op", "size", "place", "elevator"), ("bytes_per_s", "bytes_per_s_min")),
    "prediction": (("op", "size"), ("late_ns_max", "early_ns_max", "error_ns_quantiles")),
}
# Samples of batches of up to 8 and of all sizes, of drains, and of starvation.
SAMPLES = {
    "nearline-7200": (6_000, 12_000, 300, 20),
    "fujitsu-max3036rc": (6_000, 16_000, 400, 20),
    "seagate-36es2": (6_000, 10_000, 300, 20),
    "seagate-st340810a": (6_000, 6_000, 6_000, 0),
    "ibm-36z15": (4_000, 1_500, 60, 20),
    "ibm-40k1044": (4_000, 1_500, 60, 20),
    "maxtor-atlas-10k-v": (4_000, 1_500, 60, 0),
    "sata-ssd": (500, 1_000, 100, 0),
    "nvme-ssd": (500, 1_000, 100, 0),
}
# Steps and seeds of the adversary; some drives have a longer search.
CLIMB = ("3000", "6")
CLIMB_LONGER = dict.fromkeys(("fujitsu-max3036rc", "seagate-36es2"), ("6000", "12"))


def number(value):
    return f"{value:_}"


def listed(key, values):
    """Formats a list of times, five a line."""
    texts = [number(value) for value in values]
    width = max(len(text) for text in texts)
    rows = [texts[at : at + 5] for at in range(0, len(texts), 5)]
    lines = ["    " + ", ".join(text.rjust(width) for text in row) + "," for row in rows]
    return "\n".join([f"{key} = [", *lines, "]"])


def short(value, key):
    """Formats a number, or a list on one line if it fits."""
    if isinstance(value, int):
        return number(value)
    text = ", ".join(map(number, value))
    return f"[{text}]" if len(f"{key} = [{text}]") <= 100 else f"[\n    {text},\n]"


def block(header, family):
    """Formats one family."""
    lines = [f"[[{header}]]", f'places = "{family["places"]}"']
    if "samples" in family:
        lines.append(f"samples = {number(family['samples'])}")
    if family.get("screened"):
        lines.append("screened = true")
    lines += [listed(key, family[key]) for key in LISTS if family.get(key)]
    return "\n".join(lines) + "\n"


def replaced(text, key, value):
    """Returns a section with another value of a key, which may be a list over several lines."""
    return re.sub(rf"^{key} = (\[[^\]]*\]|.*)$", lambda _: value, text, count=1, flags=re.M)


def longest(lists):
    entries = max(len(values) for values in lists)
    return [max(values[at] for values in lists if at < len(values)) for at in range(entries)]


def families_of(known, measured, is_random):
    """Returns the families of a table: its own random places, and what was measured at others."""
    source = measured if is_random and measured else known
    random = [it for it in source.get("families", []) if it["places"] == "random"]
    if not random:
        random = [{"places": "random", "ns_max": source["ns_max"]}]
        random[0] |= {"samples": source["samples"]} if "samples" in source else {}
    others = known.get("families", [])
    others = others if is_random else measured.get("families", others)
    others = [it for it in others if it["places"] != "random"]
    cut = len(known["ns_max"])
    others = [{key: value[:cut] if key in LISTS else value for key, value in it.items()} for it in others]
    return random + others


def with_families(text, section, known, measured, is_random):
    """Returns the text of one table with its families."""
    families = families_of(known, measured, is_random)
    text = replaced(text, "ns_max", listed("ns_max", longest([it["ns_max"] for it in families])))
    for key in (key for key in QUANTILES if is_random and measured.get(key)):
        text = replaced(text, key, listed(key, measured[key]))
    blocks = "\n".join(block(f"{section}.families", it) for it in families)
    end = re.search(r"(\n\s*#[^\n]*)*\s*\Z", text)
    return text[: end.start()].rstrip("\n") + "\n\n" + blocks + end.group(0).rstrip("\n") + "\n\n"


def starvation(known, measured):
    """Returns the text of the starvation at families of places; random places keep the file's time."""
    others = [it for it in measured.get("starvation_places", []) if it["places"] != "random"]
    if not others or "starvation_ns_max" not in known:
        return ""
    random = [it for it in known.get("starvation_places", []) if it["places"] == "random"]
    random = random or [{"places": "random", "ns_max": [known["starvation_ns_max"]]}]
    if max(it["ns_max"][0] for it in others) > known["starvation_ns_max"]:
        sys.exit("starvation_ns_max is too short: write the longest of starvation_places")
    return "\n".join(block("starvation_places", it) for it in random + others) + "\n"


def parts(text, has_starvation):
    """Splits a file before each header of a table, without the families that it has."""
    kept = []
    for piece in re.split(r"(?m)^(?=\[)", text):
        is_replaced = has_starvation and piece.startswith("[[starvation_places]]")
        if ".families]]" in piece.split("\n", 1)[0] or is_replaced:
            comment = re.search(r"(\n\s*#[^\n]*)+\s*\Z", piece)
            kept[-1] += comment.group(0) if comment else ""
            continue
        kept.append(piece)
    return kept


def plain(piece, section, measured):
    """Returns a table without families, with the figures of the same table in `measured`."""
    names, figures = PLAIN[section]
    known = tomllib.loads(piece)[section][0]
    is_it = lambda it: all(it.get(name) == known.get(name) for name in names)
    for found in filter(is_it, measured.get(section, [])):
        for key in figures:
            value = found[key]
            piece = replaced(piece, key, f"{key} = {short(value, key)}")
    return piece


def put(path, measured, is_random):
    """Puts what was measured into a drive file."""
    text = path.read_text(encoding="utf-8")
    known = tomllib.loads(text)
    at = dict.fromkeys(SECTIONS, 0)
    made, starved = [], "" if is_random else starvation(known, measured)
    if "flush_ns_max" in measured and "flush_ns_max" in known:
        text = replaced(text, "flush_ns_max", f"flush_ns_max = {number(measured['flush_ns_max'])}")
    for piece in parts(text, bool(starved)):
        header = re.match(r"\[\[(\w+)\]\]", piece)
        section = header.group(1) if header else None
        if section in SECTIONS:
            table = known[section][at[section]]
            at[section] += 1
            is_it = lambda it: (it["op"], it["size"]) == (table["op"], table["size"])
            found = next(filter(is_it, measured.get(section, [])), {})
            if found or "families" in table:
                piece = with_families(piece, section, table, found, is_random)
        elif section in PLAIN:
            piece = plain(piece, section, measured)
        if starved and piece.startswith("[identity]"):
            piece = starved + piece
        made.append(piece)
    path.write_text(re.sub(r"\n{3,}", "\n\n", "".join(made)).rstrip("\n") + "\n", encoding="utf-8")


def run(command, **options):
    print("+", *command, flush=True)
    return subprocess.run([str(word) for word in command], check=True, **options)


def profiled(binaries, path, profiles, is_random):
    """Runs profiles, each added to the one before, and puts what they found into the drive file."""
    with tempfile.TemporaryDirectory() as folder:
        measured = pathlib.Path(folder) / "measured.drive.toml"
        for options in profiles:
            added = ["--add"] if measured.exists() else []
            output = [*added, "--quiet", "-o", measured]
            run([binaries / "tidegate", "profile", *options, *output], stdout=subprocess.DEVNULL)
        put(path, tomllib.loads(measured.read_text(encoding="utf-8")), is_random)


def commands(text, name):
    """Returns the options of the commands that made the tables."""
    text = re.sub(r"\n# ?", " ", text)
    found = re.findall(rf"tidegate profile {name}((?: +--[a-z-]+ [\w,-]+)+)", text)
    return [options.split() for options in found]


def by_commands(binaries, path, name):
    for options in commands(path.read_text(encoding="utf-8"), name):
        only = [] if "--only" in options else ["--only", "batch"]
        profiled(binaries, path, [[name, *options, *only, "--seed", 1]], True)


def by_places(binaries, path, name):
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    ops, sizes = ([*dict.fromkeys(it[key] for it in tables["batch"])] for key in ("op", "size"))
    depth = max(len(it["ns_max"]) for it in tables["batch"])
    small, all_of, drains, starved = SAMPLES[name]
    kinds = [name, "--op", ",".join(ops), "--size", ",".join(sizes)]
    few = [*kinds, "--only", "places", "--depth", min(depth, 8), "--samples", small, "--seed", 1]
    many = [*kinds, "--only", "places", "--depth", depth, "--samples", all_of, "--seed", 2]
    profiled(binaries, path, [few, many], False)
    more = "drain-places,priority-places" if "priority" in tables else "drain-places"
    kinds += ["--depth", depth]
    profiled(binaries, path, [[*kinds, "--only", more, "--samples", drains, "--seed", 3]], False)
    if starved:
        largest = ["--size", sizes[-1], "--depth", depth, "--samples", starved, "--seed", 1]
        profiled(binaries, path, [[name, "--only", "starvation-places", *largest]], False)


def by_climbing(binaries, path, name):
    """Raises the climbed places, and their tables, to the batches that the adversary finds."""
    search = [binaries / "examples" / "longest_batches", name, *CLIMB_LONGER.get(name, CLIMB)]
    tables = tomllib.loads(path.read_text(encoding="utf-8"))["batch"]
    units = {"KiB": 1024, "MiB": 1 << 20, "B": 1}
    for line in run(search, stdout=subprocess.PIPE, text=True).stdout.splitlines():
        op, size, count, ns = line.split()
        for table in tables:
            value, unit = re.fullmatch(r"(\d+)(\D+)", table["size"]).groups()
            if (table["op"], int(value) * units[unit]) != (op, int(size)):
                continue
            for family in (it for it in table["families"] if it["places"] == "climbed"):
                times = family["ns_max"]
                times[int(count) - 1] = max(times[int(count) - 1], int(ns))
    put(path, {"batch": tables}, False)


STEPS = {"commands": by_commands, "places": by_places, "climb": by_climbing}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("drives", nargs="*", metavar="drive", help=", ".join(SAMPLES))
    parser.add_argument("--step", choices=STEPS)
    arguments = parser.parse_intermixed_args()
    for name in arguments.drives or SAMPLES:
        if name not in SAMPLES:
            parser.error(f"no built-in drive {name}: {', '.join(SAMPLES)}")
        path = DRIVES / f"{name}.drive.toml"
        has_heads = "\n[mechanics]\n" in path.read_text(encoding="utf-8")
        for step in [arguments.step] if arguments.step else STEPS:
            if step != "climb" or has_heads:
                STEPS[step](arguments.binaries, path, name)


if __name__ == "__main__":
    main()
