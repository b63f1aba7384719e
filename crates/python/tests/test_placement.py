# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Plans: every disk proved, no more disks than first fit decreasing, copies apart."""

import itertools
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
    NoPlanFoundError,
    NotPlacedError,
    Oracle,
    Placed,
    Plan,
    Stream,
    fewest,
    first_fit_decreasing,
    moves,
    place,
    place_with_margin,
)

MAXTOR = tidegate.drive("maxtor-atlas-10k-v")
FUJITSU = tidegate.drive("fujitsu-max3036rc")
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
    """Up to three kinds of streams, some with copies or for one tier, on two kinds of disks."""
    draw = random.Random(seed)
    streams = [
        Stream(
            f"kind{index}",
            {"period": f"{draw.choice([100, 150, 200, 300, 600])}ms", "size": "128KiB"},
            count=draw.randint(3, 60),
            replicas=draw.choice([1, 1, 2]),
            tiers=draw.choice([(), (), ("fast",)]),
        )
        for index in range(draw.randint(1, 3))
    ]
    disks = [Disk("shelf", MAXTOR, 60, "slow"), Disk("rack", FUJITSU, 60, "fast")]
    draw.shuffle(disks)
    return Fleet(streams, disks)


@pytest.mark.parametrize("seed", range(20))
def test_random_fleets_need_no_more_disks_than_first_fit_decreasing(seed, command, tmp_path):
    fleet = random_fleet(seed)
    plan = place(fleet)
    plan.write(tmp_path / "plan")
    for file in set((tmp_path / "plan").glob("*.workload.toml")):
        said = command("check", file, "--quiet")
        assert said.returncode == 0, said.stdout
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


TIGHT = [
    Stream("slow", {"period": "120ms", "size": "128KiB"}, count=1),
    Stream("fast", {"period": "60ms", "size": "128KiB"}, count=1),
]


def scattered(seed):
    """A plan that no search made: streams thrown on four disks, each proved; and a fleet with more
    streams, which may not fit beside them."""
    draw = random.Random(seed)
    disks = [Disk("shelf", MAXTOR, count=4)]
    oracle = Oracle(Fleet([replace(kind, count=20) for kind in TIGHT], disks), disks[0])
    patterns = [(0, 0)] * 4
    for _ in range(30):
        at, kind = draw.randrange(4), draw.randrange(2)
        pattern = tuple(n + (k == kind) for k, n in enumerate(patterns[at]))
        if oracle.allows(pattern):
            patterns[at] = pattern
    if draw.random() < 0.5:
        patterns[draw.randrange(4)] = (1, 0)
    numbers = [itertools.count(1), itertools.count(1)]
    placed = [
        Placed(
            f"shelf-{1 + at}",
            disks[0],
            pattern,
            {
                kind.name: [f"{kind.name}-{next(numbers[k])}" for _ in range(pattern[k])]
                for k, kind in enumerate(TIGHT)
            },
        )
        for at, pattern in enumerate(patterns)
    ]
    counts = [sum(pattern[k] for pattern in patterns) for k in range(2)]
    before = Fleet([replace(kind, count=counts[k]) for k, kind in enumerate(TIGHT)], disks)
    counts[draw.randrange(2)] += draw.randint(1, 2)
    after = Fleet([replace(kind, count=counts[k]) for k, kind in enumerate(TIGHT)], disks)
    return Plan(before, placed, None), after


def fewest_moves_by_trying_all(before, fleet):
    oracle = Oracle(fleet, fleet.disks[0])
    each = [range(1 + most) for most in oracle.alone()]
    proved_patterns = [pattern for pattern in itertools.product(*each) if oracle.allows(pattern)]
    wanted = [stream.copies for stream in fleet.streams]
    now = [placed.pattern for placed in before.disks]
    fewest = None
    for chosen in itertools.product(proved_patterns, repeat=len(now)):
        if all(sum(p[k] for p in chosen) >= wanted[k] for k in range(len(wanted))):
            moves = sum(
                max(0, had - has)
                for old, new in zip(now, chosen, strict=True)
                for had, has in zip(old, new, strict=True)
            )
            fewest = moves if fewest is None else min(fewest, moves)
    return fewest


def test_new_streams_move_as_few_others_as_trying_everything_finds():
    counts = Counter()
    for seed in range(40):
        before, fleet = scattered(seed)
        least = fewest_moves_by_trying_all(before, fleet)
        plan = place(fleet, before=before)
        assert proved(plan)
        assert plan.moved_from(before) == least, seed
        counts[least] += 1
    assert counts[0] and counts.total() - counts[0] >= 5, counts


def test_a_stream_that_fits_nowhere_is_refused():
    disks = [Disk("shelf", MAXTOR, count=2)]
    plan = place(Fleet([replace(CAMERA, count=48)], disks))
    with pytest.raises(NotPlacedError, match="add disks"):
        place(Fleet([replace(CAMERA, count=49)], disks), before=plan)


def test_ten_thousand_streams_on_five_hundred_disks():
    fast = ("fast",)
    streams = [
        Stream("archive", {"period": "700ms", "size": "128KiB"}, 3500),
        Stream("camera", {"period": "400ms", "size": "128KiB"}, 3500),
        Stream("plate", {"period": "600ms", "size": "128KiB", "requests": 2}, 1000),
        Stream("door", {"period": "300ms", "size": "128KiB"}, 1500, tiers=fast),
        Stream("alarm", {"period": "200ms", "size": "128KiB"}, 500, replicas=2, tiers=fast),
    ]
    disks = [Disk("shelf", MAXTOR, 300, "fast"), Disk("rack", FUJITSU, 200, "slow")]
    fleet = Fleet(streams, disks)
    assert sum(stream.count for stream in streams) == 10_000
    plan = place(fleet)
    greedy = first_fit_decreasing(fleet, [Oracle(fleet, disk) for disk in fleet.disks])
    assert len(plan.disks) < greedy.total()
    assert plan.gap <= max(1, plan.disks_min // 50)
    failed = plan.disks[0]
    again = place(fleet, before=plan, failed=[failed.name])
    assert again.moved_from(plan) == sum(failed.pattern)


def test_what_a_failed_disk_had_moves_others_only_if_it_must():
    fleet = Fleet([CAMERA, replace(FAST, replicas=2)], [Disk("shelf", MAXTOR, count=20)])
    plan = place(fleet)
    failed = plan.disks[-1]
    again = place(fleet, before=plan, failed=[failed.name])
    lost = sum(failed.pattern)
    assert proved(again)
    assert again.moved_from(plan) == lost
    assert again.failed == {failed.name}
    later = place(fleet, before=again, failed=[again.disks[0].name])
    assert proved(later)
    assert failed.name not in {placed.name for placed in later.disks}


def test_tiers_are_kept():
    streams = [replace(CAMERA, tiers=("cold",)), replace(FAST, tiers=("hot", "cold"))]
    disks = [Disk("old", MAXTOR, 10, tier="cold"), Disk("new", MAXTOR, 10, tier="hot")]
    plan = place(Fleet(streams, disks))
    assert proved(plan)
    assert {p.disk.tier for p in plan.disks if "camera" in p.streams} == {"cold"}


def test_too_few_disks_are_refused_with_the_least_number():
    fleet = Fleet([CAMERA], [Disk("shelf", MAXTOR, count=2)])
    with pytest.raises(NotPlacedError, match="at least 5 disks"):
        place(fleet)


def test_a_stream_that_no_disk_can_serve_is_named():
    hopeless = Stream("hopeless", {"period": "1ms", "size": "128KiB"}, count=1)
    with pytest.raises(NotPlacedError, match="hopeless"):
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
    changed = [*command[:-1], "changed", "--before", "plan", "--failed", "maxtor-atlas-10k-v-1"]
    said = subprocess.run(changed, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "streams have another disk than before" in said.stdout
    assert not Path(tmp_path, "changed", "maxtor-atlas-10k-v-1.workload.toml").exists()
    unknown = [*command[:-1], "other", "--before", "plan", "--failed", "shelf-7"]
    said = subprocess.run(unknown, cwd=tmp_path, capture_output=True, text=True)
    assert said.returncode == 2
    assert "no disk shelf-7" in said.stderr


def test_a_search_that_ends_early_does_not_say_that_the_streams_do_not_fit(monkeypatch):
    fleet = Fleet([CAMERA, FAST], [Disk("shelf", MAXTOR, count=20)])
    monkeypatch.setattr(fewest, "first_fit_decreasing", lambda *_: None)
    with pytest.raises(NoPlanFoundError, match="in the time allowed"):
        place(fleet, seconds_max=0)
    tight = (scattered(seed) for seed in range(40))
    before, after = next(
        (before, after) for before, after in tight if place(after, before=before).moved_from(before)
    )
    with pytest.raises(NoPlanFoundError, match="in the time allowed"):
        place(after, before=before, seconds_max=0)


def test_patterns_are_added_until_they_cover_a_plan(monkeypatch):
    fleet = Fleet([CAMERA, FAST], [Disk("shelf", MAXTOR, count=20)])
    expected, asked = len(place(fleet).disks), []

    def covers_nothing_at_first(fleet, patterns, *more):
        asked.append(len(patterns))
        if len(asked) < len(fewest.BANDS):
            return None, fewest.NONE_COVERS
        return chosen(fleet, patterns, *more)

    chosen = fewest._fewest
    monkeypatch.setattr(fewest, "_fewest", covers_nothing_at_first)
    monkeypatch.setattr(fewest, "first_fit_decreasing", lambda *_: None)
    assert len(place(fleet).disks) == expected
    assert len(asked) == len(fewest.BANDS) and asked == sorted(asked) and asked[0] < asked[-1]


def kinds(**counts):
    return [
        Stream(period, {"period": period.removeprefix("every_"), "size": "128KiB"}, count)
        for period, count in counts.items()
    ]


def test_a_plan_of_patterns_that_look_poor_is_found():
    streams = kinds(every_40ms=3, every_150ms=9, every_120ms=5)
    plan = place(Fleet(streams, [Disk("rack", FUJITSU, 1), Disk("shelf", MAXTOR, 2)]))
    assert proved(plan) and len(plan.disks) == 3


def test_a_change_to_patterns_that_look_poor_is_found(monkeypatch):
    disks = [Disk("rack", FUJITSU, 2), Disk("shelf", MAXTOR, 1)]
    few = kinds(every_120ms=1, every_200ms=2, every_40ms=3, every_80ms=1)
    more = kinds(every_120ms=2, every_200ms=4, every_40ms=3, every_80ms=2)
    before = place(Fleet(few, disks))
    assert proved(place(Fleet(more, disks), before=before))
    monkeypatch.setattr(moves, "GAPS", ())
    with pytest.raises(NoPlanFoundError, match="among the patterns"):
        place(Fleet(more, disks), before=before)
