# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Workloads, from files or from Python objects."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import tomli_w

from ._native import Drive, Workload


def load(path: str | os.PathLike[str], drive: Drive | None = None, **changes: Any) -> Workload:
    """Returns the workload in a file, on its own drive or another one.

    `changes` take the place of values in the file: `batch` (requests), `order` (of best effort),
    `margin_ppm`, and `policies`, the names of policies that will be asked for.

    >>> load("workloads/cameras.workload.toml", margin_ppm=50_000)
    Workload(16 tasks on "maxtor-atlas-10k-v")
    """
    return Workload.load(os.fspath(path), drive, **changes)


def workload(
    content: Mapping[str, Any],
    drive: Drive | None = None,
    *,
    policies: Sequence[str] = (),
    name: str = "workload",
) -> Workload:
    """Returns a workload with the content of a workload file, as Python objects.

    The keys are those of the file (docs/reference/workload-file.md). `drive` takes the place of the
    key of that name. The lines that faults name are those of `as_file(content)`.

    >>> backup = {"name": "backup", "size": "256KiB", "outstanding": 32}
    >>> camera = {"name": "camera", "period": "150ms", "size": "256KiB"}
    >>> workload({"task": [camera], "best_effort": [backup]}, Drive.load("fujitsu-max3036rc")).tasks
    ['camera']
    """
    named = {"drive": drive.name} if drive is not None else {}
    text = as_file({**content, **named})
    return Workload.parse(text, drive, name=name, policies=list(policies))


def as_file(content: Mapping[str, Any]) -> str:
    """Returns the content of a workload file as its text, with a `[[table]]` for each entry.

    >>> camera = {"name": "camera", "offset": {"step": "10ms"}}
    >>> print(as_file({"task": [camera], "drive": "sata-ssd"}))
    drive = "sata-ssd"
    <BLANKLINE>
    [[task]]
    name = "camera"
    offset = { step = "10ms" }
    <BLANKLINE>
    """
    lists = {key: value for key, value in content.items() if _is_list_of_tables(value)}
    rest = {key: value for key, value in content.items() if key not in lists}
    entries = (f"\n[[{key}]]\n{_entry(entry)}" for key in lists for entry in lists[key])
    return tomli_w.dumps(rest) + "".join(entries)


def _is_list_of_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(x, Mapping) for x in value)


def _entry(entry: Mapping[str, Any]) -> str:
    """Returns the lines of an entry. Its tables are inline: a heading would belong to the file."""
    return "".join(f"{_key(key)} = {_value(value)}\n" for key, value in entry.items())


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(of)}" for key, of in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(one) for one in value) + "]"
    return tomli_w.dumps({"x": value}).removeprefix("x = ").rstrip("\n")


def _key(key: str) -> str:
    return tomli_w.dumps({key: 0}).removesuffix(" = 0\n")
