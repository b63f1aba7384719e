# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Drives and workloads: built in, from files, or from Python objects."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import tomli_w

from ._native import Drive, Workload


def drive(name: str | os.PathLike[str]) -> Drive:
    """Returns a built-in drive, or the drive in a file.

    >>> drive("nearline-7200").kind
    'mechanical'
    """
    return Drive.load(os.fspath(name))


def load(path: str | os.PathLike[str], drive: Drive | None = None, **changes: Any) -> Workload:
    """Returns the workload in a file, on its own drive or another one.

    `changes` take the place of values in the file: `batch` (requests), `order` (of best effort),
    `margin_ppm`, and `policies`, the names of policies that will be asked for.
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
    >>> workload({"task": [camera], "best_effort": [backup]}, drive("fujitsu-max3036rc")).tasks
    ['camera']
    """
    named = {"drive": drive.name} if drive is not None else {}
    text = as_file({**content, **named})
    return Workload.parse(text, drive, name=name, policies=list(policies))


def as_file(content: Mapping[str, Any]) -> str:
    """Returns the content of a workload file as its text, with a `[[table]]` for each entry.

    >>> print(as_file({"task": [{"name": "camera"}], "drive": "sata-ssd"}))
    drive = "sata-ssd"
    <BLANKLINE>
    [[task]]
    name = "camera"
    <BLANKLINE>
    """
    lists = {key: value for key, value in content.items() if _is_list_of_tables(value)}
    rest = {key: value for key, value in content.items() if key not in lists}
    entries = (f"\n[[{key}]]\n{tomli_w.dumps(entry)}" for key in lists for entry in lists[key])
    return tomli_w.dumps(rest) + "".join(entries)


def _is_list_of_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(x, Mapping) for x in value)
