# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The package as a user sees it; the figures are those of the command line."""

import os
import pickle
import re
import signal
import threading
import time
import tomllib
from pathlib import Path

import pytest
import tidegate
from tidegate.inputs import as_file
from tidegate.policy import Complete, Release, Wait

WORKLOADS = Path(__file__).parents[3] / "workloads"
CAMERA = {"name": "camera", "period": "40ms", "size": "128KiB"}


def on_maxtor(*tasks, **more):
    return tidegate.workload({"drive": "maxtor-atlas-10k-v", "task": list(tasks), **more})


def test_check_has_the_bounds_of_a_workload_file():
    verdict = tidegate.check(tidegate.load(WORKLOADS / "cameras.workload.toml"))
    assert verdict.is_proven
    assert len(verdict.tasks) == 16
    assert (verdict.tasks.response_ns_max <= verdict.tasks.deadline_ns).all()
    assert verdict.data["origin"]["workload"]["name"].endswith("cameras.workload.toml")


def test_objects_mean_what_the_file_means():
    for name in ("cameras", "recorder", "queries", "throttling"):
        path = WORKLOADS / f"{name}.workload.toml"
        content = tomllib.loads(path.read_text())
        again = tomllib.loads(as_file(content))
        assert again == content
    tight = {"name": 'the "tight" one', "place": {"from": "0%", "to": "20%"}, **CAMERA}
    tight["name"] = 'the "tight" one'
    assert on_maxtor(tight).tasks == ['the "tight" one']


def test_an_unmet_deadline_is_a_verdict_and_no_exception():
    too_many = on_maxtor({**CAMERA, "count": 40})
    verdict = tidegate.check(too_many, "edf")
    assert not verdict.is_proven
    assert verdict.answer.startswith("NOT PROVEN")


def test_a_weak_grade_is_not_enough_if_a_strong_one_is_required():
    workload = on_maxtor(CAMERA)
    grade = tidegate.check(workload, "dqf").grade
    assert tidegate.check(workload, "dqf", require="strong").is_proven == (grade == "strong")


def test_all_faults_of_a_file_are_told_with_their_places():
    with pytest.raises(tidegate.InputError) as caught:
        tidegate.workload(
            {"drive": "maxtor-atlas-10k-v", "task": [{**CAMERA, "perod": "1ms", "siz": 1}]}
        )
    faults = caught.value.faults
    assert len(faults) == 2
    assert all(fault.line and fault.column for fault in faults)
    assert "perod" in str(caught.value)


def test_a_misspelt_name_is_answered_with_the_right_one():
    with pytest.raises(tidegate.InputError, match="fujitsu-max3036rc"):
        tidegate.drive("fujitsu")
    with pytest.raises(tidegate.InputError, match="dqf"):
        tidegate.check(on_maxtor(CAMERA), "dfq")


def test_a_policy_that_does_not_apply_leaves_the_others():
    run = tidegate.simulate(on_maxtor(CAMERA), ["edf", "dqf"], jobs=50)
    assert list(run.policies.policy) == ["edf", "dqf"]
    with pytest.raises(tidegate.NotApplicableError):
        tidegate.simulate(
            tidegate.workload({"task": [CAMERA]}, tidegate.drive("nvme-ssd")), ["das"], jobs=5
        )


def test_the_same_seed_gives_the_same_run_and_another_one_another():
    workload = tidegate.workload(
        {"task": [{**CAMERA, "size": "256KiB"}]}, tidegate.drive("fujitsu-max3036rc")
    )

    def responses(seed):
        return tidegate.simulate(
            workload, "dqf", jobs=100, seed=seed
        ).tasks.response_ns_mean.tolist()

    assert responses(1) == responses(1)
    assert responses(1) != responses(2)


def test_drives_and_workloads_travel_as_text():
    workload = pickle.loads(pickle.dumps(tidegate.load(WORKLOADS / "cameras.workload.toml")))
    assert tidegate.check(workload).is_proven
    drive = pickle.loads(pickle.dumps(tidegate.drive("nearline-7200")))
    assert drive.text == tidegate.drive("nearline-7200").text


class Fifo(tidegate.Policy):
    """First come, first served, one at a time."""

    rules = ("one_at_a_time", "release_order")

    def start(self, workload):
        self.queue, self.is_busy = [], False

    def observe(self, now_ns, event):
        match event:
            case Release(request):
                self.queue.append(request)
            case Complete():
                self.is_busy = False

    def decide(self, now_ns):
        if self.queue and not self.is_busy:
            self.is_busy = True
            return self.queue.pop(0)
        return None


def test_a_policy_in_python_does_what_the_built_in_one_does():
    workload = on_maxtor({**CAMERA, "count": 3, "period": "60ms"})
    own = tidegate.simulate(workload, Fifo(), jobs=300, seed=7)
    built_in = tidegate.simulate(workload, "fifo", jobs=300, seed=7)
    same = ["task", "jobs", "misses", "response_ns_max", "response_ns_mean"]
    assert own.tasks[same].equals(built_in.tasks[same])
    assert own.tasks.bound_ns.isna().all()


class LastFirst(Fifo):
    """Breaks the rule that it declares."""

    def decide(self, now_ns):
        if self.queue and not self.is_busy:
            self.is_busy = True
            return self.queue.pop()
        return None


def test_a_broken_rule_is_caught():
    workload = on_maxtor({**CAMERA, "count": 3, "period": "60ms"})
    with pytest.raises(tidegate.PolicyError) as caught:
        tidegate.simulate(workload, LastFirst(), jobs=50)
    assert caught.value.violations


class SendsAnything(Fifo):
    def decide(self, now_ns):
        return 12_345


class WaitsForThePast(Fifo):
    def decide(self, now_ns):
        return Wait(now_ns)


class Fails(Fifo):
    def observe(self, now_ns, event):
        raise ZeroDivisionError("an error in the policy")


@pytest.mark.parametrize(
    ("policy", "error"),
    [
        (SendsAnything, tidegate.PolicyError),
        (WaitsForThePast, tidegate.PolicyError),
        (Fails, ZeroDivisionError),
    ],
)
def test_a_faulty_policy_ends_the_run_with_its_own_error(policy, error):
    with pytest.raises(error):
        tidegate.simulate(on_maxtor(CAMERA), policy(), jobs=10)


def simulated():
    tidegate.simulate(on_maxtor(CAMERA), "edf", jobs=10**9)


def simulated_in_python():
    tidegate.simulate(on_maxtor(CAMERA), Fifo(), jobs=10**9)


def simulated_processor():
    task = {"name": "control", "period": "1ms", "execution": "500us", "priority": 1}
    alone = tidegate.cpu.processor({"cpu": {"scheduling": "fixed-priority"}, "cpu_task": [task]})
    tidegate.cpu.simulate(alone, duration_ns=10**17)


def measured():
    tidegate.profile(tidegate.drive("nearline-7200"), samples=10**6)


@pytest.mark.parametrize("work", [simulated, simulated_in_python, simulated_processor, measured])
def test_ctrl_c_ends_what_takes_long(work):
    # A program that a shell starts in the background ignores the signal from the start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        work()
    assert time.monotonic() - start < 20


def test_other_threads_run_while_the_native_half_works():
    counted = []
    thread = threading.Thread(target=lambda: counted.extend(_ticks(50)))
    thread.start()
    tidegate.simulate(on_maxtor(CAMERA), "edf", jobs=300_000)
    was_running = len(counted)
    thread.join()
    assert was_running > 2


def _ticks(count):
    for tick in range(count):
        time.sleep(0.002)
        yield tick


def test_a_sweep_computes_only_what_its_store_lacks(tmp_path):
    sweep = {"policies": ["edf", "dqf"], "seeds": range(3), "jobs": 50, "store": tmp_path}
    workloads = {"camera": on_maxtor(CAMERA)}
    first = tidegate.sweep(workloads, **sweep)
    files = sorted(tmp_path.iterdir())
    assert len(files) == 6
    files[0].unlink()
    done = []
    again = tidegate.sweep(workloads, **sweep, progress=lambda count, _: done.append(count))
    assert done == [5, 6]
    timeless = [column for column in first.columns if column != "wall_ns"]
    assert first[timeless].equals(again[timeless])


def test_a_point_that_fails_is_a_row():
    rows = tidegate.sweep(
        [on_maxtor(CAMERA)], drives=["nvme-ssd"], policies=["das", "edf"], jobs=20
    )
    assert list(rows.policy) == ["das", "edf"]
    assert rows.error.notna().tolist() == [True, False]


def run_examples(*page):
    """Runs the Python of a page, and returns the names that it defines."""
    text = WORKLOADS.parent.joinpath(*page).read_text()
    examples = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert examples
    names = {}
    for example in examples:
        exec(example, names)
    return names


def test_the_example_of_the_readme_runs(monkeypatch):
    monkeypatch.chdir(WORKLOADS.parent)
    names = run_examples("README.md")
    assert names["verdict"].is_proven
    assert set(names["run"].tasks.policy) == {"dqf", "edf"}


def test_the_examples_of_the_guides_run(tmp_path, monkeypatch):
    pytest.importorskip("ortools")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "workloads").symlink_to(WORKLOADS)
    names = run_examples("docs", "guide", "python.md")
    assert set(names["rows"].policy) == {"dqf", "edf"}
    assert names["verdict"].is_proven
    names = run_examples("docs", "guide", "fleets.md")
    assert names["again"].moved_from(names["plan"]) == names["lost"]
