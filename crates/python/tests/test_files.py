# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Drives measured, imported and replayed; results and logs read. The figures are those of the
command line."""

import json

import pytest
import tidegate
from conftest import ROOT

SCREENS = ROOT / "crates" / "cli" / "tests" / "screens" / "files"


def without(data, *keys):
    return {key: value for key, value in data.items() if key not in keys}


def test_a_profile_is_that_of_the_command(command, tmp_path):
    words = ["--only", "batch", "--depth", "3", "--samples", "20", "--seed", "5", "--json"]
    said = command("profile", "fujitsu-max3036rc", *words, "-o", tmp_path / "f.drive.toml")
    measured = tidegate.profile(
        tidegate.drive("fujitsu-max3036rc"), only=["batch"], depth=3, samples=20, seed=5
    )
    named = ("answer", "written", "samples_file", "toml")
    assert without(json.loads(said.stdout), *named) == without(measured.data, *named)
    read = tidegate.drive(tmp_path / "f.drive.toml")
    assert read.text == measured.drive.text
    batch = tidegate.tables(read)
    assert batch[batch.table == "batch"].ns_max.tolist() == measured.tables.ns_max.tolist()


def test_what_cannot_be_measured_is_refused():
    fujitsu = tidegate.drive("fujitsu-max3036rc")
    with pytest.raises(tidegate.InputError, match="did you mean `batch`"):
        tidegate.profile(fujitsu, only=["batsch"])
    with pytest.raises(tidegate.InputError, match="a depth of at most 20"):
        tidegate.profile(fujitsu, only=["batch"], depth=21)
    with pytest.raises(tidegate.InputError, match="multiple of 512B"):
        tidegate.profile(fujitsu, only=["batch"], sizes_bytes=[1000])
    with pytest.raises(tidegate.InputError, match="did you mean `read`"):
        tidegate.profile(fujitsu, only=["batch"], ops=["reed"])


def test_an_imported_disk_and_its_replay_are_those_of_the_command(command, tmp_path):
    drive_file, rows = tmp_path / "d.drive.toml", tmp_path / "rows.csv"
    said = command("drive", "import", SCREENS / "disk", "-o", drive_file, "--json")
    imported = tidegate.import_drive(SCREENS / "disk")
    keys = ("answer", "written")
    assert without(json.loads(said.stdout), *keys) == without(imported.data, *keys)
    assert imported.drive.text == drive_file.read_text()
    words = ["--trace", SCREENS / "d.trace", "--csv", rows, "--json"]
    said = command("drive", "replay", drive_file, *words)
    replayed = tidegate.replay(imported.drive, SCREENS / "d.trace")
    assert json.loads(said.stdout) == replayed.data
    assert replayed.requests.to_csv(index=False) == rows.read_text()


def test_faults_of_traces_and_imports_have_their_places(tmp_path):
    trace = tmp_path / "trace"
    trace.write_text("# head\nR Hit 1 2 3.0 4.0\nR Hit\n")
    with pytest.raises(tidegate.InputError) as caught:
        tidegate.replay(tidegate.drive("nearline-7200"), trace)
    assert [fault.line for fault in caught.value.faults] == [3]
    with pytest.raises(tidegate.InputError, match="did you mean `blkparse`"):
        tidegate.replay(tidegate.drive("nearline-7200"), trace, format="blkpars")
    with pytest.raises(tidegate.InputError):
        tidegate.import_drive(tmp_path / "nowhere")


def test_results_and_logs_are_read_as_they_were_written(command, tmp_path):
    result, log = tmp_path / "r.json", tmp_path / "log.csv"
    cameras = ROOT / "workloads" / "cameras.workload.toml"
    words = ["--policy", "dqf,edf", "--jobs", "20", "--result", result, "--log", log, "--json"]
    said = json.loads(command("sim", cameras, *words).stdout)
    read = tidegate.read_result(result)
    assert (read.command, read.data) == ("sim", said)
    camera = read.responses[read.responses.source == "camera-1"]
    longest = camera.groupby("policy").response_ns.max()
    tasks = read.report.tasks
    for policy in ("dqf", "edf"):
        row = tasks[(tasks.policy == policy) & (tasks.task == "camera-1")]
        assert row.response_ns_max.tolist() == [longest[policy]]
    assert set(read.busy_intervals.step) <= {"released", "dispatched", "completed", "dropped"}
    requests = tidegate.read_log(log)
    of_camera = requests[(requests.source == "camera-1") & (requests.policy == "dqf")]
    assert (of_camera.ended_ns - of_camera.released_ns).max() == longest["dqf"]
    command("check", cameras, "--result", tmp_path / "c.json")
    assert tidegate.read_result(tmp_path / "c.json").report.is_proven


def test_other_files_are_no_results_and_no_logs(tmp_path):
    other = tmp_path / "other"
    other.write_text("a,b\n1,2\n")
    with pytest.raises(tidegate.InputError, match="not a result file"):
        tidegate.read_result(other)
    for path in (other, tmp_path / "missing"):
        with pytest.raises(tidegate.InputError, match="request log"):
            tidegate.read_log(path)
