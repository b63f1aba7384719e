// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the screens of `tidegate cpu` stay as they are: proofs and simulations of a processor,
//! tests of servers, and the refusals of `cpu profile` and `cpu serve`, for which only refusals do
//! not depend on the host. Method: snapshots.

use crate::screens;

screens! {
    cpu_check_verdicts: [
        "tidegate cpu check processor.toml",
        "cat processor.toml late.toml > w.toml",
        "tidegate cpu check w.toml",
        "sed 's/3ms/6ms/; /deadline/d' w.toml > over.toml",
        "tidegate cpu check over.toml",
        "tidegate cpu check server.toml",
        "tidegate cpu check processor.toml --json",
    ];
    cpu_check_edf: [
        "sed 's/# edf/[cpu]\\nscheduling = \"edf\"/; /priority/d' edf.toml > w.toml",
        "tidegate cpu check w.toml",
        "sed 's/5ms/6ms/' w.toml > over.toml",
        "tidegate cpu check over.toml",
    ];
    cpu_check_interference: [
        "cat processor.toml interference.toml > w.toml",
        "tidegate cpu check w.toml",
        "sed 's/# bound/bound/' w.toml > points.toml",
        "tidegate cpu check points.toml",
        "sed 's/# margin/margin/' w.toml > margin.toml",
        "tidegate cpu check margin.toml",
        "sed '/^priority = 50/d' idle.cpu.toml > t && mv t idle.cpu.toml",
        "tidegate cpu check margin.toml",
    ];
    /// For windows longer than every measured one, the line extrapolates, but the points do not.
    /// The lengths of the windows that the bound relies on matter, not the lengths of the
    /// deadlines: R = e + 0.4 + 0.1 R.
    cpu_check_extrapolated: [
        "cat slow.toml interference.toml > short.toml",
        "tidegate cpu check short.toml",
        "sed 's/8.5ms/8.7ms/' short.toml > long.toml",
        "tidegate cpu check long.toml",
        "sed 's/# bound/bound/' long.toml > points.toml",
        "tidegate cpu check points.toml",
        // The first job responds within 9.9 ms, and the busy interval continues.
        "sed 's/\"11ms\"/\"9.6ms\"/; s/# deadline/deadline/' short.toml > many.toml",
        "tidegate cpu check many.toml",
        "(printf '[cpu]\\nscheduling = \"edf\"\\n'; sed '/^priority/d' many.toml) > edf.toml",
        "tidegate cpu check edf.toml",
    ];
    /// A measurement at priority 50 does not observe threads of that priority or below.
    cpu_check_priorities: [
        "sed 's/8.5ms/1ms/; s/priority = 60/priority = 49/' slow.toml > t",
        "cat t interference.toml > w.toml",
        "tidegate cpu check w.toml",
        "sed 's/priority = 49/priority = 50/' w.toml > same.toml",
        "tidegate cpu check same.toml",
        "sed 's/priority = 49/priority = 51/' w.toml > above.toml",
        "tidegate cpu check above.toml",
    ];
    cpu_check_servers: [
        "tidegate cpu check table-6.1.toml",
        "cat table-6.1.toml events.toml > w.toml",
        "tidegate cpu check w.toml",
        "sed 's/kind = \"sporadic\"/kind = \"posix-sporadic\"/' w.toml > posix.toml",
        "tidegate cpu check posix.toml",
        "sed 's/arrivals = \"sporadic\"/arrivals = \"poisson\"/' w.toml > random.toml",
        "tidegate cpu check random.toml",
        "sed 's/deadline = \"80ms\"//' random.toml > late.toml",
        "tidegate cpu check late.toml",
    ];
    cpu_check_json: [
        "cat table-6.1.toml events.toml interference.toml > w.toml",
        "tidegate cpu check w.toml --json",
        "sed 's/kind = \"sporadic\"/kind = \"posix-sporadic\"/' w.toml > posix.toml",
        "tidegate cpu check posix.toml --json",
    ];
    cpu_check_faults: [
        "(cat processor.toml; sed 's/idle.cpu/no/' interference.toml) > w.toml",
        "tidegate cpu check w.toml",
        "(cat processor.toml; sed 's/# bound = \"points\"/bound = \"load\"/' interference.toml) > w.toml",
        "tidegate cpu check w.toml",
        "(cat processor.toml; sed 's/# bound = \"points\"/bound = \"guess\"/' interference.toml) > w.toml",
        "tidegate cpu check w.toml",
        "sed 's/400_000/300_000/' idle.cpu.toml > low.cpu.toml",
        "(cat processor.toml; sed 's/idle.cpu/low.cpu/' interference.toml) > w.toml",
        "tidegate cpu check w.toml",
        "tidegate cpu check inline.toml",
        "tidegate check idle.cpu.toml",
        "tidegate cpu check idle.cpu.toml",
        "tidegate check recorder.toml --drive idle.cpu.toml",
        "(cat processor.toml; sed 's/idle.cpu/recorder/' interference.toml) > w.toml",
        "tidegate cpu check w.toml",
        "tidegate cpu profile --trials 1 --baseline recorder.toml --thief 2ms/10ms",
    ];
    cpu_sim_side_by_side: [
        "tidegate cpu sim arrivals.toml --duration 200ms",
        "tidegate cpu sim arrivals.toml --duration 200ms --server posix-sporadic,sporadic",
        "tidegate cpu sim processor.toml --duration 1s",
        "tidegate cpu sim overload.toml --duration 1h",
    ];
    /// A job of `urgent` arrives while `other` executes; interference takes 9 ms immediately and
    /// then a quarter of the time.
    cpu_sim_disturbed: [
        "tidegate cpu check disturbed.toml",
        "tidegate cpu sim disturbed.toml --duration 10s",
        "tidegate cpu sim disturbed.toml --duration 10s --disturb random",
        "tidegate cpu sim disturbed.toml --duration 10s --disturb never",
        // A third task, with a priority between the two, must not be blocked.
        "(sed 's/priority = 2/priority = 3/' disturbed.toml; cat third.toml) > three.toml",
        "tidegate cpu sim three.toml --duration 10s",
    ];
    cpu_sim_faults: [
        "sed 's/\"sporadic\"/\"sporadik\"/' arrivals.toml > w.toml",
        "tidegate cpu sim w.toml",
        "tidegate check w.toml",
        "tidegate cpu sim inline.toml",
        "tidegate cpu sim arrivals.toml --duration 5124000h",
        "tidegate cpu sim arrivals.toml --duration 0ms",
        "tidegate cpu sim arrivals.toml --server list",
        "rm thief.cpu.toml",
        "tidegate cpu sim disturbed.toml",
    ];
    cpu_conformance_of_ours: [
        "tidegate cpu conformance --runs 30",
        "tidegate cpu conformance --server sporadic --runs 20",
        "tidegate cpu conformance --server posix-sporadic --runs 20",
        "tidegate cpu conformance --server polling --runs 0",
    ];
    cpu_conformance_of_programs: [
        "tidegate cpu conformance --runs 5 -- tidegate cpu conformance --answer hybrid-gradual",
        "tidegate cpu conformance --runs 5 -- tidegate cpu conformance --answer posix-sporadic",
        "tidegate cpu conformance --time-limit 60s -- sh hasty.sh",
        "tidegate cpu conformance --json -- sh hasty.sh",
        "tidegate cpu conformance -- ./nowhere",
        "tidegate cpu conformance -- sh babbler.sh",
        "tidegate cpu conformance --time-limit 100ms -- sleep 600",
        // The message depends on whether writing to the program or reading from it fails first.
        "tidegate cpu conformance -- true 2> said; echo $?; grep -q program said",
        "tidegate cpu conformance --server list",
    ];
    cpu_profile_faults: [
        "tidegate cpu profile --trials 1 --lengths 0",
        "tidegate cpu profile --trials 1 --longest 11s",
        "tidegate cpu profile --trials 1 --thief 2ms",
        "tidegate cpu profile --trials 1 --thief 10ms/2ms",
        "tidegate cpu profile --trials 1 --thief 9.9ms/10ms",
        "tidegate cpu profile --trials 1 --priority 99",
        "tidegate cpu profile --trials 1 --name \"$(printf '\\a')\"",
        "tidegate cpu profile --trials 1 --duration 0ms",
        "cp idle.cpu.toml before && ls -A > names",
        "tidegate cpu profile --trials 1 -o idle.cpu.toml",
        "tidegate cpu profile --trials 1 -o no/b.cpu.toml",
        "tidegate cpu profile --trials 1 -o b.cpu.toml --svg idle.cpu.toml",
        "tidegate cpu profile --trials 1 -o y --svg ./y",
        "cmp idle.cpu.toml before && ls -A | cmp - names",
        "echo hours > a.cpu.toml.partial",
        "tidegate cpu profile --trials 1 -o a.cpu.toml",
    ];
    cpu_serve_faults: [
        "tidegate cpu serve --thread 'no such thread' --budget 1ms --period 10ms",
        "tidegate cpu serve --thread 2147483647 --budget 1ms --period 10ms",
        "tidegate cpu serve --thread 1 --budget 1ms --period 10ms --server deferrable",
        "tidegate cpu serve --thread 1 --budget 1ms --period 10ms --charge 1ms",
        "tidegate cpu serve --thread 1 --budget 1ms --period 10ms --background never",
        "tidegate cpu serve --thread 1 --budget 20ms --period 10ms",
        "tidegate cpu serve --thread 1 --budget 1ms --budget 2ms --period 10ms",
        "tidegate cpu serve --thread 1 --budget 1ms --period 18446744073709551615ns",
        "tidegate cpu serve --thread 1 --budget 3000000h --period 3000000h",
    ];
}
