# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Parses the guest's output: the responses of tasks at the client and in the block layer, and the host's times."""

import dataclasses
import re

# `block_rq_insert: 259,0 RS 65536 () 27106176 + 128 be,0,4 [load]`; 6.1 has no class.
EVENT = re.compile(r" (\d+)\.(\d{6}): block_rq_(insert|issue|complete): \S+ (\w+) (?:\d+ )?\(\) (\d+) \+ (\d+) ")


@dataclasses.dataclass
class Result:
    """The results of one run; times in ns. The trace counts in us, so its times are accurate to 1,000 ns."""

    settings: dict
    disk: dict
    # For each task, the pairs (begin, end) at the client.
    jobs: dict
    load_requests: int
    load_wait_max: int
    events: list
    # The exit code of each step of `tidegate tune` in the guest.
    tune: dict

    client_max = trace_max = early_max = 0
    host: dict = dataclasses.field(default_factory=dict)

    @property
    def load_rate(self):
        """Returns the loads' requests per second."""
        jobs = [job for task in self.jobs.values() for job in task]
        return self.load_requests * 1e9 / (max(end for _, end in jobs) - min(begin for begin, _ in jobs))


def runs(text):
    """Returns the results of the runs in the guest's output."""
    parts = text.split("run ended\n")
    if parts.pop() not in ("", "end\n"):
        raise ValueError("text after the last run")
    return [result(part) for part in parts]


def result(text):
    found = Result({}, {}, {}, 0, 0, [], {})
    for line in text.splitlines():
        if event := EVENT.search(line):
            seconds, micros, what, op, sector, sectors = event.groups()
            found.events.append(
                ((int(seconds) * 1_000_000 + int(micros)) * 1_000, what, (op[0], int(sector), int(sectors))))
            continue
        if line.startswith(" ") or line.startswith("#"):
            continue
        word, _, rest = line.partition(" ")
        if word == "set":
            name, _, value = rest.partition(" ")
            # In a list of words, the chosen word is in brackets.
            found.settings[name] = value.partition("[")[2].partition("]")[0] or value
        elif word == "disk":
            name, _, value = rest.partition(" ")
            found.disk[name] = int(value)
        elif word == "tune":
            step, _, code = rest.partition(" ")
            found.tune[step] = int(code)
        elif word == "job":
            index, begin, end = map(int, rest.split())
            found.jobs.setdefault(index, []).append((begin, end))
        elif word == "source":
            _, kind, count, wait = rest.split()
            if kind == "load":
                found.load_requests += int(count)
                found.load_wait_max = max(found.load_wait_max, int(wait))
        else:
            raise ValueError(f"the guest printed: {line}")
    return found


def measure(found, depth, task_sectors):
    """Adds the responses and the host's times to a result. A task's requests are identified by their size."""
    client_times(found, task_sectors)
    found.host["submit"] = gap_max(found.events, depth, task_sectors)
    found.host["complete"] = found.disk["late_ns"]
    found.early_max = early_max(found.events, task_sectors)


def client_times(found, task_sectors):
    inserted, spans = {}, []
    for time, what, key in found.events:
        if key[2] == task_sectors and what == "insert":
            inserted[key] = time
        elif key[2] == task_sectors and what == "complete":
            spans.append((inserted.pop(key), time))
    jobs = sorted(job for task in found.jobs.values() for job in task)
    if len(jobs) != len(spans):
        raise ValueError(f"{len(jobs)} jobs at the client, {len(spans)} in the trace")
    # A task has at most one job at a time, but several tasks release together. The trace has one
    # insertion after each release, in the same order.
    releases = zip((begin for begin, _ in jobs), sorted(insertion for insertion, _ in spans))
    replies = zip(sorted(end for _, end in jobs), sorted(completion for _, completion in spans))
    found.trace_max = max(completion - insertion for insertion, completion in spans)
    found.client_max = max(end - begin for begin, end in jobs)
    found.host["release"] = max(insertion - begin for begin, insertion in releases)
    found.host["reply"] = max(end - completion for end, completion in replies)


def gap_max(events, depth, task_sectors):
    """Returns the longest time for which a real-time request waited although the disk could accept one.

    While a request waits, the kernel sends it or the request that it took early, so this is the host's
    time between a completion or an insertion and the next dispatch.
    """
    longest, on_disk, waiting, able_since = 0, set(), set(), None
    for time, what, key in events:
        if what == "issue" and able_since is not None:
            longest = max(longest, time - able_since)
        if what == "insert" and key[2] == task_sectors:
            waiting.add(key)
        elif what == "issue":
            waiting.discard(key)
            on_disk.add(key)
        elif what == "complete":
            on_disk.discard(key)
        is_able = bool(waiting) and len(on_disk) < depth
        if not is_able:
            able_since = None
        elif able_since is None or what == "issue":
            able_since = time
    return longest


def early_max(events, task_sectors):
    """Returns how many lower requests, taken early, the kernel sent at most in one real-time busy period."""
    most, sent, pending = 0, 0, set()
    for _, what, key in events:
        is_task = key[2] == task_sectors
        if what == "insert" and is_task:
            pending.add(key)
        elif what == "complete":
            pending.discard(key)
        elif what == "issue" and not is_task and pending:
            sent += 1
            most = max(most, sent)
        if not pending:
            sent = 0
    return most
