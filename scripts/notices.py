#!/usr/bin/env python3
"""Prints the libraries that are part of the program, with their licences and the notices that come with each.
Usage: scripts/notices.py TRIPLE [CARGO TREE OPTION..]"""

import json
import pathlib
import subprocess
import sys

NAMES = ("licen", "copying", "notice", "copyright", "unlicense")


def cargo(*arguments: str) -> str:
    return subprocess.run(["cargo", *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


triple, *options = sys.argv[1:]
tree = cargo("tree", "--locked", "-p", "tidegate", "-e", "normal", "--prefix", "none", "--format", "{p}",
             "--target", triple, *options)
used = {tuple(line.split()[:2]) for line in tree.splitlines() if line}
metadata = json.loads(cargo("metadata", "--locked", "--format-version", "1", "--filter-platform", triple))
printed: dict[str, str] = {}
for package in sorted(metadata["packages"], key=lambda it: (it["name"], it["version"])):
    name = f"{package['name']} {package['version']}"
    # Without a source it is our own.
    if (package["name"], f"v{package['version']}") not in used or package["source"] is None:
        continue
    print(f"{'=' * 80}\n{name}: {package['license'] or 'see below'}\n{package['repository'] or ''}\n")
    folder = pathlib.Path(package["manifest_path"]).parent
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name.lower().startswith(NAMES):
            text = path.read_text(encoding="utf-8", errors="replace").strip()
            first = printed.setdefault(text, f"{path.name} of {name}")
            is_new = first == f"{path.name} of {name}"
            print(f"{path.name}\n\n{text}\n" if is_new else f"{path.name}: the same as {first}\n")
