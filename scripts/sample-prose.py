#!/usr/bin/env python3
"""Prints 40 random doc comments and 20 random paragraphs of the docs, for a reader who checks them against the rules
of docs/reference/prose.md. The same seed and files give the same sample.
"""

import argparse
import pathlib
import random
import re

COMMENTS, PARAGRAPHS = 40, 20
ROOT = pathlib.Path(__file__).resolve().parent.parent


def files(pattern):
    found = (path for path in ROOT.rglob(pattern) if path.is_file())
    hidden = ("target", ".git")
    return sorted(path for path in found if not set(hidden) & set(path.relative_to(ROOT).parts))


def comments(path):
    """Doc comments of a Rust file, each with its line and the item behind it."""
    lines, found, start = path.read_text().splitlines(), [], None
    for number, line in enumerate(lines + [""]):
        is_comment = line.lstrip().startswith(("///", "//!"))
        if is_comment and start is None:
            start = number
        elif not is_comment and start is not None:
            text = [line.strip() for line in lines[start:number]]
            found.append((path, start + 1, "\n".join([*text, line.strip()])))
            start = None
    return found


def paragraphs(path):
    """Paragraphs of a page, without code, tables, headings and formulas."""
    text = re.sub(r"^```.*?^```", lambda code: "\n" * code[0].count("\n"), path.read_text(), flags=re.M | re.S)
    found, line = [], 1
    for part in re.split(r"(\n\s*\n)", text):
        if re.match(r"[^|#$\n]", part) and len(part.split()) > 8:
            found.append((path, line, part.strip()))
        line += part.count("\n")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seed", nargs="?", type=int, default=1, metavar="SEED", help="chooses the sample (default 1)")
    chance = random.Random(parser.parse_args().seed)
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *files("docs/**/*.md")]
    for title, count, found in (
        ("Doc comments", COMMENTS, [each for path in files("*.rs") for each in comments(path)]),
        ("Paragraphs", PARAGRAPHS, [each for path in pages for each in paragraphs(path)]),
    ):
        print(f"== {title}: {count} of {len(found)} ==\n")
        for path, line, text in chance.sample(found, min(count, len(found))):
            print(f"-- {path.relative_to(ROOT)}:{line}\n{text}\n")


if __name__ == "__main__":
    main()
