# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs `tidegate` to get the bound of a run, the settings that the bound requires, and a simulation."""

import json
import subprocess

import rehearsal
import runs


class Tidegate:
    """The program under test."""

    def __init__(self, program, work):
        self.program, self.work = program, work

    def bound(self, run):
        """Returns the bound at the client, in ns; None if nothing is proved."""
        return self.bound_of(runs.workload(run))

    def bound_of(self, workload):
        bounds = [task["response_ns_max"] for task in self.ask("check", self.write(workload))["tasks"]]
        return None if None in bounds else max(bounds)

    def bound_of_exports(self, drive_file, serve_file):
        """Returns the bound, in ns, at the clients of a serve file that names the drive file `disk.drive.toml`."""
        (self.work / "disk.drive.toml").write_text(drive_file)
        path = self.work / "run.serve.toml"
        path.write_text(serve_file)
        return max(task["response_ns_max"] for task in self.ask("check", path)["tasks"])

    def tune(self, run):
        """Returns the settings by attribute, and the reasons against them; a proved run has no such reasons."""
        root = rehearsal.machine(self.work / "machine")
        report = self.ask("tune", "sda", self.write(runs.workload(run)), "--root", root)
        settings = {setting["attribute"]: setting["new"] for setting in report["settings"]}
        reasons = report["refusals"]
        if report["verdict"] != "proven":
            reasons = [*reasons, report["reason"] or "not proven"]
        return settings, reasons

    def simulated(self, run):
        """Returns the longest response in a simulation, in ns."""
        report = self.ask("sim", self.write(runs.workload(run)), "--duration", f"{run.seconds}s")
        return max(task["response_ns_max"] for task in report["policies"][0]["tasks"])

    def write(self, workload):
        path = self.work / "run.workload.toml"
        path.write_text(workload)
        return path

    def ask(self, *arguments):
        command = [self.program, *map(str, arguments), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode > 1:
            raise RuntimeError(f"tidegate {arguments[0]} failed: {done.stderr}")
        return json.loads(done.stdout)
