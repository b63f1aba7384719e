# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Plans: every disk proved, no more disks than first fit decreasing, copies apart."""

import random
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import tidegate

pytest.importorskip("ortools")

from tidegate.placement import (  # noqa: E402
    Disk,
    Fleet,
    Oracle,
    PlacementError,
    Stream,
    first_fit_decreasing,
    place,
    place_with_margin,
)

MAXTOR = tidegate.drive("maxtor-atlas-10k-v")
CAMERA = Stream("camera", {"period": "300ms", "size": "128KiB"}, count=100)
FAST = Stream("fast", {"period": "100ms", "size": "128KiB"}, count=20)


def proved(plan):
    """Whether every disk is proved and every stream is where it must be, counted anew."""
    copies = Counter()
    for placed in plan.disks:
        workload = tidegate.workload(plan.content(placed), placed.disk.drive)
        if not tidegate.check(workload).is_proven:
            return False
        for kind, names in placed.streams.items():
            assert len(set(names)) == len(names), "two copies of a stream on one disk"
            copies.update(names)
            stream = next(stream for stream in plan.fleet.streams if stream.name == kind)
            assert not stream.tiers or placed.disk.tier in stream.tiers
    wanted = {
        f"{stream.name}-{1 + number}": stream.replicas
        for stream in plan.fleet.streams
        for number in range(stream.count)
    }
    return copies == wanted


def random_fleet(seed):
    draw = random.Random(seed)
    streams = [
        Stream(
            f"kind{index}",
            {"period": f"{draw.choice([100, 150, 200, 300, 600])}ms", "size": "128KiB"},
            count=draw.randint(3, 40),
            replicas=draw.choice([1, 1, 2]),
        )
        for index in range(draw.randint(1, 3))
    ]
    return Fleet(streams, [Disk("shelf", MAXTOR, count=60)])


@pytest.mark.parametrize("seed", range(20))
def test_random_fleets_need_no_more_disks_than_first_fit_decreasing(seed):
    fleet = random_fleet(seed)
    plan = place(fleet)
    greedy = first_fit_decreasing(fleet, [Oracle(fleet, disk) for disk in fleet.disks])
    assert proved(plan)
    assert plan.disks_min <= len(plan.disks) <= sum(greedy.values())
    assert plan.gap <= 1


def test_a_failed_disk_is_placed_again_and_nothing_else_moves():
    fleet = Fleet([CAMERA, replace(FAST, replicas=2)], [Disk("shelf", MAXTOR, count=20)])
    plan = place(fleet)
    failed = plan.disks[0]
    again = place(fleet, before=plan, failed=[failed.name])
    assert proved(again)
    assert failed.name not in {placed.name for placed in again.disks}
    lost = {name for names in failed.streams.values() for name in names}
    assert again.moved_from(plan) == len(lost)


def test_a_new_stream_is_placed_and_nothing_else_moves():
    disks = [Disk("shelf", MAXTOR, count=20)]
    plan = place(Fleet([CAMERA], disks))
    more = place(Fleet([replace(CAMERA, count=130)], disks), before=plan)
    assert proved(more)
    assert more.moved_from(plan) == 0


def test_tiers_are_kept():
    streams = [replace(CAMERA, tiers=("cold",)), replace(FAST, tiers=("hot", "cold"))]
    disks = [Disk("old", MAXTOR, 10, tier="cold"), Disk("new", MAXTOR, 10, tier="hot")]
    plan = place(Fleet(streams, disks))
    assert proved(plan)
    assert {p.disk.tier for p in plan.disks if "camera" in p.streams} == {"cold"}


def test_too_few_disks_are_refused_with_the_least_number():
    fleet = Fleet([CAMERA], [Disk("shelf", MAXTOR, count=2)])
    with pytest.raises(PlacementError, match="at least"):
        place(fleet)


def test_a_stream_that_no_disk_can_serve_is_named():
    hopeless = Stream("hopeless", {"period": "1ms", "size": "128KiB"}, count=1)
    with pytest.raises(PlacementError, match="hopeless"):
        place(Fleet([CAMERA, hopeless], [Disk("shelf", MAXTOR, count=9)]))


def test_more_disks_allow_a_larger_margin():
    few, many = (
        place_with_margin(Fleet([FAST], [Disk("shelf", MAXTOR, count=count)])) for count in (5, 10)
    )
    assert many.margin_ppm > few.margin_ppm
    assert proved(many)


def test_the_files_of_a_plan_are_proved_as_they_are(tmp_path):
    (tmp_path / "fleet.toml").write_text(
        """
        [[stream]]
        name = "camera"
        count = 50
        growth = "20%"
        period = "300ms"
        size = "128KiB"

        [[disk]]
        drive = "maxtor-atlas-10k-v"
        count = 10
        """
    )
    command = [sys.executable, "-m", "tidegate", "place", "fleet.toml", "-o", "plan"]
    said = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert said.stdout.startswith("PLACED: ")
    files = sorted(Path(tmp_path, "plan").glob("*.workload.toml"))
    workloads = [tidegate.load(file) for file in files]
    assert sum(len(workload.tasks) for workload in workloads) == 60
    assert all(tidegate.check(workload).is_proven for workload in workloads)
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert again.returncode == 2, "an existing plan is not overwritten"
