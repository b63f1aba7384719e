#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Adds the times at families of places to the tables of a drive file, and keeps its comments.

    tidegate profile nearline-7200 --only places,drain-places .. -o measured.drive.toml
    scripts/add_families.py drives/nearline-7200.drive.toml measured.drive.toml

Each table of the drive file gets the families of the same table in the measured file, and its ns_max
becomes the longest of all of them. Families that the table already has are replaced, except for
random places; with --random only random places and the quantiles are replaced. Starvation is added as
[[starvation_places]].
"""

import re
import sys
import tomllib

SECTIONS = ("batch", "drain", "priority")
LISTS = ("ns_max", "ns_p99", "ns_p50")
QUANTILES = ("ns_p999", "ns_p99", "ns_p90", "ns_p50", "ns_p10", "ns_min")


def listed(key, values):
    """Formats a list of times, five a line."""
    texts = [f"{value:_}" for value in values]
    width = max(len(text) for text in texts)
    rows = [texts[at : at + 5] for at in range(0, len(texts), 5)]
    lines = ["    " + ", ".join(text.rjust(width) for text in row) + "," for row in rows]
    return "\n".join([f"{key} = [", *lines, "]"])


def block(header, family):
    """Formats one family."""
    lines = [f"[[{header}]]", f'places = "{family["places"]}"']
    if "samples" in family:
        lines.append(f"samples = {family['samples']:_}")
    if family.get("screened"):
        lines.append("screened = true")
    lines += [listed(key, family[key]) for key in LISTS if family.get(key)]
    return "\n".join(lines) + "\n"


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
    ns_max = listed("ns_max", longest([it["ns_max"] for it in families]))
    text = re.sub(r"^ns_max = \[[^\]]*\]", lambda _: ns_max, text, count=1, flags=re.M)
    for key in (key for key in QUANTILES if is_random and measured.get(key)):
        quantiles = listed(key, measured[key])
        text = re.sub(rf"^{key} = \[[^\]]*\]", lambda _: quantiles, text, count=1, flags=re.M)
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
    headers = [match.start() for match in re.finditer(r"^\[", text, flags=re.M)]
    pieces = [text[a:b] for a, b in zip([0, *headers], [*headers, len(text)])]
    kept, pending = [], ""
    for piece in pieces:
        is_replaced = has_starvation and piece.startswith("[[starvation_places]]")
        if ".families]]" in piece.split("\n", 1)[0] or is_replaced:
            comment = re.search(r"(\n\s*#[^\n]*)+\s*\Z", piece)
            pending = comment.group(0) if comment else ""
            kept[-1] += pending
            continue
        kept.append(piece)
    return kept


def main():
    path, measured_path, *options = sys.argv[1:]
    is_random = options == ["--random"]
    text = open(path, encoding="utf-8").read()
    known, measured = tomllib.loads(text), tomllib.load(open(measured_path, "rb"))
    at = dict.fromkeys(SECTIONS, 0)
    made, starved = [], "" if is_random else starvation(known, measured)
    for piece in parts(text, bool(starved)):
        section = next((it for it in SECTIONS if piece.startswith(f"[[{it}]]")), None)
        if section:
            table = known[section][at[section]]
            at[section] += 1
            is_it = lambda it: (it["op"], it["size"]) == (table["op"], table["size"])
            found = next(filter(is_it, measured.get(section, [])), {})
            if found or "families" in table:
                piece = with_families(piece, section, table, found, is_random)
        if starved and piece.startswith("[identity]"):
            piece = starved + piece
        made.append(piece)
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(r"\n{3,}", "\n\n", "".join(made)).rstrip("\n") + "\n")


if __name__ == "__main__":
    main()
