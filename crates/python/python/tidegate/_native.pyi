# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Types of the native half."""

from typing import Any, Literal

class Fault:
    message: str
    help: str | None
    file: str | None
    line: int | None
    column: int | None

class TidegateError(Exception): ...

class InputError(TidegateError):
    faults: list[Fault]

class NotApplicableError(InputError): ...

class PolicyError(TidegateError):
    violations: list[str]

class Full(Exception): ...

class Drive:
    name: str
    kind: str
    text: str
    @staticmethod
    def load(name: str) -> Drive: ...
    @staticmethod
    def parse(text: str, name: str = "drive") -> Drive: ...
    def show_json(self) -> str: ...

class Workload:
    tasks: list[str]
    drive: str
    own_drive: Drive | None
    policy: str
    depth: int
    text: str
    @staticmethod
    def load(
        path: str,
        drive: Drive | None = None,
        *,
        batch: int | None = None,
        order: str | None = None,
        margin_ppm: int | None = None,
        policies: list[str] = ...,
    ) -> Workload: ...
    @staticmethod
    def parse(
        text: str,
        drive: Drive | None = None,
        name: str = "workload",
        batch: int | None = None,
        order: str | None = None,
        margin_ppm: int | None = None,
        policies: list[str] = ...,
    ) -> Workload: ...
    @property
    def changes(self) -> tuple[int | None, str | None, int | None]: ...
    def on(self, drive: Drive | None, policies: list[str]) -> Workload: ...
    def proves_disk(self) -> bool: ...
    def check_json(
        self,
        policy: str | None = None,
        *,
        require: str = "weak",
        explain: bool = False,
        fits: bool = True,
    ) -> str: ...

class Processor:
    tasks: list[str]
    servers: list[str]
    text: str
    @staticmethod
    def load(path: str) -> Processor: ...
    @staticmethod
    def parse(text: str, name: str = "workload") -> Processor: ...
    def check_json(self) -> str: ...
    def simulate(
        self, kinds: list[str], *, duration_ns: int, seed: int, disturb: str
    ) -> tuple[str, list[str]]: ...

class Request:
    id: int
    task: int
    class_: Literal["hard", "soft", "interactive", "best_effort"]
    released_ns: int
    due_ns: int | None
    is_write: bool
    start_sector: int
    size_bytes: int
    is_optional: bool

class Release:
    request: Request

class Complete:
    id: int
    has_failed: bool

class Cancel:
    id: int

class Notice:
    task: int
    report: Literal["deadline_missed", "stream_ended"]

class Wait:
    until_ns: int
    def __init__(self, until_ns: int) -> None: ...

__version__: str

def drive_names() -> list[str]: ...
def experiment_names() -> list[str]: ...
def proves_contracts(text: str, drive: Drive, name: str) -> bool: ...
def policy_names() -> list[str]: ...
def server_names() -> list[str]: ...
def import_drive(paths: list[str], name: str | None = None) -> tuple[Drive, str]: ...
def profile(
    drive: Drive,
    *,
    only: list[str],
    ops: list[str],
    sizes_bytes: list[int],
    depth: int | None,
    samples: int | None,
    is_quick: bool,
    seed: int,
) -> tuple[Drive, str]: ...
def replay(drive: Drive, trace: str, *, format: str, seed: int) -> tuple[str, str]: ...
def read_result(path: str) -> str: ...
def read_processor_profile(path: str) -> str: ...
def simulate(
    workload: Workload,
    names: list[str],
    *,
    jobs: int | None = None,
    duration_ns: int | None = None,
    seed: int = 0,
) -> tuple[str, list[str]]: ...
def simulate_own(
    workload: Workload,
    policy: Any,
    *,
    name: str,
    rules: list[str],
    jobs: int | None = None,
    duration_ns: int | None = None,
    seed: int = 0,
) -> tuple[str, list[str]]: ...
