# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The processor half; the figures are those of the command line."""

import json
import pickle

import pytest
import tidegate
from conftest import ROOT
from tidegate import cpu

NETWORK = ROOT / "workloads" / "network.workload.toml"
MACHINE = ROOT / "workloads" / "machine.workload.toml"


def test_check_and_simulation_are_those_of_the_command(command):
    machine = cpu.load(MACHINE)
    said = command("cpu", "check", MACHINE, "--json")
    assert json.loads(said.stdout) == cpu.check(machine).data
    words = ["--server", "sporadic,polling", "--duration", "1s", "--seed", "3", "--json"]
    said = json.loads(command("cpu", "sim", NETWORK, *words).stdout)
    run = cpu.simulate(cpu.load(NETWORK), ["sporadic", "polling"], duration_ns=10**9, seed=3).data
    for result in (said, run):
        for of_kind in result["runs"]:
            del of_kind["wall_ns"]
    assert said == run


def test_frames_have_a_row_for_each_thread():
    machine = cpu.load(NETWORK)
    verdict = cpu.check(machine)
    assert list(verdict.tasks.task) == machine.tasks
    assert list(verdict.servers.server) == ["net-rx"]
    run = cpu.simulate(machine, ["sporadic", "polling"], duration_ns=10**9)
    assert list(run.servers.kind) == ["sporadic", "polling"]
    assert (run.runs.events > 0).all()
    assert set(run.work.work) == {"packets"}


def test_a_workload_with_a_processor_is_proved_only_if_both_are(tmp_path):
    text = (NETWORK.read_text()).replace('execution = "2ms"', 'execution = "9ms"')
    disk = 'drive = "maxtor-atlas-10k-v"\n[[task]]\nname = "c"\nperiod = "1s"\nsize = "128KiB"\n'
    both, alone = tmp_path / "both.toml", tmp_path / "alone.toml"
    both.write_text(disk + text)
    alone.write_text(disk)
    assert tidegate.check(tidegate.load(alone)).is_proven
    verdict = tidegate.check(tidegate.load(both))
    assert not verdict.is_proven
    assert list(verdict.tasks.task) == ["c"]
    assert verdict.answer == "NOT PROVEN: its disk is, its processor is not."


def test_a_file_without_a_processor_is_refused():
    with pytest.raises(tidegate.InputError, match="no processor"):
        cpu.load(ROOT / "workloads" / "cameras.workload.toml")
    with pytest.raises(tidegate.InputError, match=r"did you mean `sporadic`"):
        cpu.simulate(cpu.load(NETWORK), "sporadics")
    with pytest.raises(tidegate.InputError, match="critical"):
        cpu.simulate(cpu.load(NETWORK), disturb="sometimes")
    with pytest.raises(tidegate.InputError, match="100 years"):
        cpu.simulate(cpu.load(NETWORK), duration_ns=0)


def test_profiles_are_read_and_processors_travel_as_text():
    profile = cpu.read_profile(ROOT / "workloads" / "example.cpu.toml")
    assert profile.points.stolen_ns_max.is_monotonic_increasing
    machine = pickle.loads(pickle.dumps(cpu.load(MACHINE)))
    assert cpu.check(machine).data == cpu.check(cpu.load(MACHINE)).data
