# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The serve files of a fleet: each stream is an export of its disk's server."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..inputs import as_file
from .fleet import CONTRACT_KEYS, SHARED_KEYS, Disk, Fleet


def serve_file(
    fleet: Fleet,
    disk: Disk,
    name: str,
    policy: Mapping[str, Any],
    held: Mapping[str, Sequence[str]],
) -> str:
    """Returns the text of the serve file of the disk with this name, which holds these streams."""
    serve = _named(dict(fleet.serve or {}), name)
    own = serve.pop("export", [])
    drive_file = f"{disk.name}.drive.toml"
    store = {"simulate": drive_file} if serve.pop("simulate", False) else {"drive": drive_file}
    shared = {key: fleet.shared[key] for key in SHARED_KEYS if key in fleet.shared}
    exports = [
        {
            "name": export,
            "size": stream.export,
            "read_only": stream.task.get("op", "read") == "read",
            "contract": {"op": "read"}
            | {CONTRACT_KEYS[key]: value for key, value in stream.task.items()},
        }
        for stream in fleet.streams
        for export in held.get(stream.name, ())
    ]
    content = {**serve, **store, **shared, "policy": dict(policy), "export": [*exports, *own]}
    return as_file(content)


def _named(value: Any, disk: str) -> Any:
    """Returns the value with the disk's name in place of `{disk}`."""
    if isinstance(value, str):
        return value.replace("{disk}", disk)
    if isinstance(value, Mapping):
        return {key: _named(of, disk) for key, of in value.items()}
    if isinstance(value, list | tuple):
        return [_named(of, disk) for of in value]
    return value
