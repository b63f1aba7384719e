# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Fleets that are refused, and changes of plans after the fleet, contracts or disks changed."""

import subprocess
import sys
import tomllib
from dataclasses import replace

import pytest
import tidegate

pytest.importorskip("ortools")

from tidegate.placement import (  # noqa: E402
    Disk,
    Fleet,
    NotPlacedError,
    PlacementError,
    Plan,
    Stream,
    place,
    place_with_margin,
)
from tidegate.placement.pricing import WORTH_MIN, dearest  # noqa: E402

MAXTOR = tidegate.drive("maxtor-atlas-10k-v")
FUJITSU = tidegate.drive("fujitsu-max3036rc")
CAMERA = Stream("camera", {"period": "300ms", "size": "128KiB"}, count=48)
SHELF = Disk("shelf", MAXTOR, count=4)
STORED = replace(CAMERA, export="1GiB")
SIMULATED = {"simulate": True, "socket": "{disk}.sock"}


def at_places(stream):
    return replace(stream, task={**stream.task, "offset": {"step": "1ms"}})


def names(plan):
    return {placed.name for placed in plan.disks}


def holds_what_the_fleet_wants(plan):
    """Whether each disk is proved and within its tiers, and each stream has its copies."""
    for placed in plan.disks:
        workload = tidegate.workload(plan.content(placed), placed.disk.drive)
        assert tidegate.check(workload).is_proven, placed
        for stream in plan.fleet.streams:
            assert stream.may_use(placed.disk) or not placed.streams.get(stream.name)
    held = sorted(
        name for placed in plan.disks for held in placed.streams.values() for name in held
    )
    wanted = [name for stream in plan.fleet.streams for name in stream.names * stream.replicas]
    return held == sorted(wanted)


@pytest.mark.parametrize(
    ("streams", "disks", "more", "fault"),
    [
        ([CAMERA], [SHELF, Disk("shelf", FUJITSU, 2)], {}, "disks are named shelf"),
        ([CAMERA, CAMERA], [SHELF], {}, "streams are named camera"),
        ([CAMERA], [Disk("rack/shelf", MAXTOR, 1)], {}, "files are named after it"),
        ([replace(CAMERA, count=0)], [SHELF], {}, "count = 0"),
        ([replace(CAMERA, replicas=0)], [SHELF], {}, "replicas = 0"),
        ([CAMERA], [replace(SHELF, count=-1)], {}, "count = -1"),
        ([replace(CAMERA, task={**CAMERA.task, "count": 1})], [SHELF], {}, "`count` is no field"),
        ([replace(CAMERA, task={**CAMERA.task, "name": "a"})], [SHELF], {}, "`name` is no field"),
        ([CAMERA], [SHELF], {"shared": {"task": []}}, "`task` is no field"),
        ([CAMERA], [SHELF], {"shared": {"drive": "sata-ssd"}}, "`drive` is no field"),
        ([CAMERA], [SHELF], {"shared": {"policy": {}}}, "`policy` is no field"),
        ([CAMERA], [SHELF], {"policy": "dqf"}, "is no table"),
        ([], [SHELF], {}, "at least one stream"),
        ([STORED], [SHELF], {}, "needs a \\[serve\\] table"),
        ([CAMERA], [SHELF], {"serve": SIMULATED}, "write the size of its export"),
        ([STORED], [SHELF], {"serve": {}}, "needs `backing`"),
        ([STORED], [SHELF], {"serve": {**SIMULATED, "backing": "/dev/sdb"}}, "needs `backing`"),
        ([STORED], [SHELF], {"serve": {**SIMULATED, "policy": {}}}, "`policy` is no field"),
        ([at_places(STORED)], [SHELF], {"serve": SIMULATED}, "a contract has no `offset`"),
    ],
)
def test_a_fleet_whose_plan_would_be_another_is_refused(streams, disks, more, fault):
    with pytest.raises(PlacementError, match=fault):
        Fleet(streams, disks, **more)


def test_a_profile_of_the_processor_is_beside_the_fleet_file(tmp_path):
    folder = tmp_path / "fleet"
    folder.mkdir()
    source = (
        '[[disk]]\nname = "shelf"\ndrive = "maxtor-atlas-10k-v"\n[[stream]]\nname = "camera"\n'
        'period = "300ms"\nsize = "128KiB"\n[host]\nrelease = "1us"\nbatch = "1us"\n'
        'request = "1us"\nreply = "1us"\n[host.interference]\nfile = "host.cpu.toml"\n'
    )
    (folder / "fleet.toml").write_text(source)
    shared = Fleet.load(folder / "fleet.toml").shared
    assert shared["host"]["interference"]["file"] == str(folder / "host.cpu.toml")


def test_disks_that_failed_are_not_used_with_or_without_an_earlier_plan():
    fleet = Fleet([CAMERA], [SHELF])
    failed = {"shelf-1", "shelf-3"}
    plan = place(fleet, failed=failed)
    assert names(plan) == {"shelf-2", "shelf-4"} and plan.failed == failed
    with pytest.raises(NotPlacedError, match="at least 2 disks"):
        place(fleet, failed=[*failed, "shelf-4"])
    assert names(place_with_margin(fleet, failed=failed)) == {"shelf-2", "shelf-4"}
    with pytest.raises(PlacementError, match="no disk shelf-5"):
        place(fleet, failed=["shelf-5"])


def test_unused_disks_may_fail_and_failed_ones_may_be_named_again():
    plan = place(Fleet([CAMERA], [SHELF]))
    assert names(plan) == {"shelf-1", "shelf-2"}
    spare = place(plan.fleet, before=plan, failed=["shelf-3"])
    assert names(spare) == names(plan) and spare.moved_from(plan) == 0
    again = place(plan.fleet, before=spare, failed=["shelf-3", "shelf-1"])
    assert names(again) == {"shelf-2", "shelf-4"}
    assert again.failed == {"shelf-1", "shelf-3"}


def test_no_disk_is_opened_beyond_the_count():
    plan = place(Fleet([CAMERA], [SHELF]))
    small = Fleet([replace(CAMERA, count=200)], [replace(SHELF, count=2)])
    with pytest.raises(NotPlacedError):
        place(small, before=plan)


def test_a_count_below_the_disks_in_use_is_refused_unless_they_failed():
    plan = place(Fleet([CAMERA], [SHELF]))
    small = Fleet([replace(CAMERA, count=20)], [replace(SHELF, count=1)])
    with pytest.raises(PlacementError, match="no disk shelf-2, which the plan uses"):
        place(small, before=plan)
    assert names(place(small, before=plan, failed=["shelf-2"])) == {"shelf-1"}


def test_what_a_changed_fleet_no_longer_allows_leaves():
    fast = Disk("fast", MAXTOR, 4, tier="fast")
    two = replace(CAMERA, count=30, replicas=2)
    plan = place(Fleet([two], [replace(SHELF, tier="slow"), fast]))
    for changed in (
        Fleet([replace(two, replicas=1)], [replace(SHELF, tier="slow"), fast]),
        Fleet([replace(two, tiers=("fast",))], [replace(SHELF, tier="slow"), fast]),
        Fleet([replace(two, tiers=("slow",))], [replace(SHELF, tier="slow"), fast]),
        Fleet(
            [replace(two, task={"period": "250ms", "size": "128KiB"})],
            [replace(SHELF, tier="slow"), fast],
        ),
    ):
        assert holds_what_the_fleet_wants(place(changed, before=plan))


def test_a_kind_of_disks_that_is_gone_is_named():
    plan = place(Fleet([CAMERA], [SHELF]))
    others = Fleet([CAMERA], [Disk("rack", MAXTOR, 4)])
    with pytest.raises(PlacementError, match="no disk shelf-"):
        place(others, before=plan)
    assert names(place(others, before=plan, failed=names(plan))) == {"rack-1", "rack-2"}


def test_a_margin_of_the_fleet_is_not_replaced():
    policy = {"name": "dqf", "batch": "auto", "margin": "10%"}
    with pytest.raises(PlacementError, match="has a margin"):
        place_with_margin(Fleet([CAMERA], [SHELF], policy))


def test_the_search_looks_for_no_worth_that_is_hardly_higher():
    from tidegate.placement import Oracle

    oracle = Oracle(Fleet([CAMERA], [SHELF]), SHELF)
    found = dearest(oracle, [[count * 0.5 for count in range(1 + oracle.alone()[0])]])
    assert found.worth_max >= found.worth + WORTH_MIN


def test_a_plan_that_is_made_with_the_files_of_a_failed_fleet(tmp_path):
    source = '[[stream]]\nname = "camera"\ncount = 48\nperiod = "300ms"\nsize = "128KiB"\n'
    source += '[[disk]]\nname = "shelf"\ndrive = "maxtor-atlas-10k-v"\ncount = 4\n'
    (tmp_path / "fleet.toml").write_text(source)
    words = [sys.executable, "-m", "tidegate", "place", "fleet.toml", "-o", "plan"]
    words += ["--failed", "shelf-1"]
    said = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    plan = Plan.load(tmp_path / "plan", Fleet.load(tmp_path / "fleet.toml"))
    assert names(plan) == {"shelf-2", "shelf-3"} and plan.failed == {"shelf-1"}


def test_each_disk_has_a_serve_file_that_the_command_proves(command, tmp_path):
    backup = {"name": "backup", "size": "2GiB", "best_effort": True}
    door = Stream("door", {"period": "1s", "size": "128KiB", "op": "write"}, 4, 2, (), "512MiB")
    shelf = Disk("shelf", FUJITSU, count=6)
    streams = [replace(STORED, count=12), door]
    fleet = Fleet(streams, [shelf], serve={**SIMULATED, "export": [backup]})
    plan = place(fleet)
    plan.write(tmp_path / "plan")
    for placed in plan.disks:
        file = tmp_path / "plan" / f"{placed.name}.serve.toml"
        content = tomllib.loads(file.read_text())
        held = [name for of in placed.streams.values() for name in of]
        assert [export["name"] for export in content["export"]] == [*held, "backup"]
        assert content["socket"] == f"{placed.name}.sock"
        said = command("check", file, "--quiet")
        assert said.returncode == 0, said.stdout + said.stderr
        # The server's own reading finds room for the exports too.
        said = command("serve", file, "--print", "--quiet")
        assert said.returncode == 0, said.stdout + said.stderr


def test_exports_take_room_on_a_disk():
    """The drive has 73.6 GB: seven exports of 9 GiB, where the deadlines allow more than 20."""
    large = replace(CAMERA, count=14, export="9GiB")
    plan = place(Fleet([large], [SHELF], serve=SIMULATED))
    assert [sum(placed.pattern) for placed in plan.disks] == [7, 7]
    with pytest.raises(NotPlacedError):
        place(Fleet([replace(large, count=1, export="90GiB")], [SHELF], serve=SIMULATED))


def test_a_policy_that_is_a_class_is_refused():
    class OneByOne(tidegate.Policy):
        pass

    workload = tidegate.workload({"task": [{"name": "a", **CAMERA.task}]}, MAXTOR)
    with pytest.raises(TypeError, match="pass a policy, OneByOne()"):
        tidegate.simulate(workload, OneByOne)
