# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Frames of what the native code returns."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd


def whole(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Returns a frame in which whole numbers stay whole where some are missing.

    >>> whole([{"misses": 2}, {"misses": None}]).misses.tolist()
    [2, <NA>]
    """
    frame = pd.DataFrame(list(rows))
    for column in frame:
        values = frame[column].dropna()
        if len(values) and all(_is_whole(value) for value in values):
            frame[column] = pd.array(
                [None if pd.isna(x) else int(x) for x in frame[column]], "Int64"
            )
    return frame


def flat(row: Mapping[str, Any], *left_out: str) -> dict[str, Any]:
    """Returns the values of a row that are no lists and no objects, without those `left_out`.

    >>> flat({"name": "camera", "bound_ns": 5, "loads": {"ceil_ppm": 1}}, "name")
    {'bound_ns': 5}
    """
    return {
        key: value
        for key, value in row.items()
        if key not in left_out and not isinstance(value, Mapping | list)
    }


def measured(tables: Mapping[str, Iterable[Mapping[str, Any]]]) -> pd.DataFrame:
    """Returns a row for each entry of the tables of a drive: `requests` at once take at most
    `ns_max`.

    >>> measured({"batch": [{"op": "read", "size_bytes": 4096, "samples": 9, "ns_max": [3, 5]}]})
       table    op  size_bytes  requests  samples  ns_max
    0  batch  read        4096         1        9       3
    1  batch  read        4096         2        9       5
    """
    return whole(
        {
            "table": name,
            "op": table["op"],
            "size_bytes": table["size_bytes"],
            "requests": 1 + index,
            "samples": table["samples"],
        }
        | {key: table[key][index] for key in table if key.startswith("ns_")}
        for name, all_of_name in tables.items()
        for table in all_of_name
        for index in range(len(table["ns_max"]))
    )


def _is_whole(value: Any) -> bool:
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return is_integer or (isinstance(value, float) and value.is_integer())
