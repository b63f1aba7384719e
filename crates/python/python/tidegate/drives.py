# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Drives: built in, from files, imported, measured, and compared with traces."""

import io
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from . import _native
from ._native import Drive
from .frames import measured

__all__ = ["Imported", "Profile", "Replay", "drive", "import_drive", "profile", "replay", "tables"]


def drive(name: str | os.PathLike[str]) -> Drive:
    """Returns a built-in drive, or the drive in a file, for example a profile of a real one.

    >>> drive("nearline-7200").kind
    'mechanical'
    """
    return Drive.load(os.fspath(name))


def drive_beside(name: str, folder: Path) -> Drive:
    """Returns the drive in the file of this name in a folder, or else what `drive` finds."""
    beside = folder / name
    return drive(beside if beside.is_file() else name)


def tables(drive: Drive) -> pd.DataFrame:
    """Returns a row for each entry of the tables of a drive: `requests` at once take at most
    `ns_max`.

    >>> entries = tables(drive("fujitsu-max3036rc"))
    >>> entries[entries.table == "batch"].ns_max.head(3).tolist()
    [15358669, 26164331, 34657846]
    """
    data = json.loads(drive.show_json())
    names = {"batch": "tables", "drain": "drain", "priority": "priority"}
    return measured({name: data[key] for name, key in names.items()})


@dataclass(frozen=True)
class Imported:
    """A drive that was made from parameter files of DiskSim or DIXtrac."""

    drive: Drive
    #: The object that `tidegate drive import --json` prints: what was used, left out, not found.
    data: dict[str, Any]


def import_drive(*paths: str | os.PathLike[str], name: str | None = None) -> Imported:
    """Makes a drive from the parameter files of one disk, or from folders that contain them.

    `name` takes the place of the name in the files. The drive has mechanics and no tables:
    `profile` measures them.

    >>> imported = import_drive("disk")
    >>> imported.drive.name, imported.data["left_out"][0]["name"]
    ('made-up', 'Allow almost read hits')
    """
    files = [os.fspath(path) for path in paths]
    imported, report = _native.import_drive(files, name)
    return Imported(imported, json.loads(report))


@dataclass(frozen=True)
class Profile:
    """The measurement of a simulated drive."""

    #: The drive with the measured tables.
    drive: Drive
    #: The object that `tidegate profile --json` prints.
    data: dict[str, Any]

    @property
    def tables(self) -> pd.DataFrame:
        """A row for each measured entry: its longest time, and quantiles."""
        return measured({name: self.data[name] for name in ("batch", "drain", "priority")})

    @property
    def warnings(self) -> pd.DataFrame:
        """A row for each reason to doubt the measurement: `kind` and `text`."""
        return pd.DataFrame(self.data["warnings"], columns=["kind", "text"])


def profile(
    drive: Drive,
    *,
    only: Iterable[str] = (),
    ops: Iterable[str] = ("read",),
    sizes_bytes: Iterable[int] = (128 << 10,),
    depth: int | None = None,
    samples: int | None = None,
    quick: bool = False,
    seed: int = 1,
) -> Profile:
    """Measures a simulated drive in virtual time, as `tidegate profile` does.

    `only` names experiments (`tidegate.experiment_names()`), all that apply by default. Each kind
    of request, an operation and a size, is measured by itself, in batches of 1 to `depth`.
    `samples` counts those of each entry: 1,000 by default, 100 if `quick`. Ctrl-C ends the
    measurement.

    >>> fujitsu = profile(drive("fujitsu-max3036rc"), only=["batch"], depth=4, samples=50)
    >>> fujitsu.tables.ns_max.is_monotonic_increasing
    True
    >>> fujitsu.drive.kind
    'mechanical'
    """
    made, report = _native.profile(
        drive,
        only=list(only),
        ops=list(ops),
        sizes_bytes=list(sizes_bytes),
        depth=depth,
        samples=samples,
        is_quick=quick,
        seed=seed,
    )
    return Profile(made, json.loads(report))


@dataclass(frozen=True)
class Replay:
    """A trace on a simulated drive."""

    #: The object that `tidegate drive replay --json` prints: mean, quantiles, and the distance
    #: between the distributions (`demerit_ms`) where the trace has measured times.
    data: dict[str, Any]
    #: A row for each request: what it is, when it was issued, and its times.
    requests: pd.DataFrame


def replay(
    drive: Drive,
    trace: str | os.PathLike[str],
    *,
    format: str = "measured",
    seed: int = 1,
) -> Replay:
    """Sends the requests of a trace to a simulated drive.

    A `measured` trace has the response times of a real drive: its requests are sent one at a time,
    and both times compared. Requests in the formats `disksim`, `mqsim`, `spc`, `msr` and `blkparse`
    are sent when they arrived.

    >>> replayed = replay(import_drive("disk").drive, "d.trace")
    >>> replayed.data["demerit_ms"], int(replayed.requests.difference_ns.max())
    (4.905299, 10300000)
    """
    report, rows = _native.replay(drive, os.fspath(trace), format=format, seed=seed)
    return Replay(json.loads(report), whole_csv(io.StringIO(rows)))


def whole_csv(file: Any) -> pd.DataFrame:
    """Reads a CSV file of Tidegate, in which whole numbers stay whole where some are missing.

    >>> whole_csv(io.StringIO("source,batch\\ncamera,3\\nbackup,\\n")).batch.tolist()
    [3, <NA>]
    """
    return pd.read_csv(file, dtype_backend="numpy_nullable")
