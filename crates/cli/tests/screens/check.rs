// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the screens of `tidegate check` stay as they are, for disks and for whole machines.
//! Method: snapshots.

use crate::screens;

screens! {
    check_verdicts: [
        "tidegate check inline.toml",
        "tidegate check inline.toml --policy noop",
        "tidegate check inline.toml --policy fifo",
        "tidegate check inline.toml --policy gated-drain",
        "tidegate check tight.toml",
        "tidegate check best-effort.toml",
        "tidegate check cameras.toml",
        "tidegate check inline.toml --json",
        "tidegate check inline.toml --policy noop --json",
        "tidegate check depth.toml --policy rtio-limit --json",
    ];
    /// The steps add up to the bound, and are also in the JSON; `--quiet` prints one line.
    check_explained: [
        "tidegate check workloads/recorder.workload.toml --explain",
        "tidegate check best-effort.toml --explain --json | sed -n '/steps/,/}/p'",
        "tidegate check inline.toml --policy edf --explain",
        "tidegate check tight.toml --quiet",
    ];
    /// A simulated drive is measured for a size that its file lacks; for a real disk, that is
    /// impossible.
    check_other_sizes: [
        "sed 's/128KiB/1MiB/; s/300ms/2s/g' workloads/recorder.workload.toml > large.toml",
        "tidegate check large.toml",
        "tidegate check large.toml --certificate l.json --quiet && tidegate verify l.json --workload large.toml --quiet",
        "sed '/^drive/s/=.*/= \"real.drive.toml\"/' large.toml > real.toml",
        "sed '/^code = \"simulated\"/s/simulated/drift/' drives/fujitsu-max3036rc.drive.toml > real.drive.toml",
        "tidegate check real.toml",
    ];
    /// The contracts of a serve file are proved although its backing does not exist here.
    check_serve_files: [
        "sed 's,^simulate,backing = \"/dev/absent\"\\ndrive,' workloads/media.serve.toml > far.toml",
        "tidegate check far.toml",
        "tidegate check far.toml --quiet --certificate c.json",
        "sed '0,/size = \"4GiB\"/s//size = 7/' far.toml > odd.toml; tidegate check odd.toml",
        "sed 's/250ms/10ms/' far.toml > fast.toml; tidegate check fast.toml",
        "tidegate check far.toml --json | sed -n '/verdict/p; /origin/,$p'",
        "tidegate check far.toml --policy fifo",
        "sed 's/^contract.*/best_effort = true/' far.toml > none.toml; tidegate check none.toml",
        "sed 's/^drive.*/drive = \"fujitsu\"/' far.toml > unknown.toml; tidegate check unknown.toml",
    ];
    /// All faults of a file are reported together, in the order of the file, with suggestions for
    /// misspelt names.
    check_all_faults: [
        "printf 'drive = \"sata-ssd\"\n[policy]\nname = \"dfq\"\n[[task]]\nname = \"a\"\n' > w.toml",
        "printf 'perod = \"1s\"\nsize = \"4KiB\"\nop = \"raed\"\n[[tasks]]\n' >> w.toml",
        "tidegate check w.toml",
        "tidegate check w.toml --json",
        "printf '[drive]\nname = \"fujitsu\"\n[policy]\nname = \"dfq\"\n[[tasks]]\nname = \"a\"\n' > w.toml",
        "printf 'perod = 1\nsize = \"4KiB\"\n' >> w.toml",
        "tidegate sim w.toml",
        "printf '{\"format\": 1,\n \"tasks\": [' > c.json; tidegate verify c.json",
        "tidegate verify c.json --json",
        "tidegate profile fujitsu",
        "tidegate check w.toml --polcy dqf --json",
        "tidegate check inline.toml --drive fujitsu",
        "tidegate check inline.toml --drive doubts.drive.tml",
        "tidegate check inlien.toml",
        "sed 's/doubts.drive/doubt.drive/' doubts.toml > near.toml; tidegate check near.toml",
        "tidegate check inline.toml --policy dfq --json",
        "printf '{\"a\":' > x.json && tidegate check x.json",
        "sed 's/name = \"here\"/name = here/' inline.drive.toml > x.drive.toml",
        "tidegate check inline.toml --drive x.drive.toml",
    ];
    /// A doubt about the drive file appears in the verdict, its JSON, the exit code and a
    /// simulation. A premise that voids the verdict leaves no bound.
    check_premises: [
        "tidegate check doubts.toml",
        "tidegate check doubts.toml --json",
        "tidegate check doubts.toml --require strong",
        "tidegate check inline.toml --require strong",
        "tidegate check inline.toml --require perfect",
        "tidegate sim doubts.toml --jobs 20 --json | grep -v wall_ns",
        "tidegate drive show doubts.drive.toml",
        "sed 's/few_samples/places_set_unmeasured/' doubts.drive.toml > void.drive.toml",
        "tidegate check doubts.toml --drive void.drive.toml",
        "tidegate check doubts.toml --drive void.drive.toml --json",
        "tidegate sim doubts.toml --drive void.drive.toml --jobs 20",
        "sed 's/few_samples/few/' doubts.drive.toml > unknown.drive.toml",
        "tidegate check doubts.toml --drive unknown.drive.toml",
    ];
    /// If the host's time is stated, the bounds hold at the clients, and the disk's part is shown
    /// beside them. The screens show a policy that cannot be late, a deadline within the host's
    /// time, and faults.
    check_host: [
        "tidegate check host.toml",
        "tidegate check host.toml --explain | sed -n '/Steps/,$p'",
        "tidegate check host.toml --json | sed -n '/host/,/}/p; /response_ns_max/p'",
        "tidegate sim host.toml --jobs 100",
        "sed 's/20ms/100us/' host.toml > short.toml",
        "tidegate check short.toml",
        "tidegate check host.toml --certificate c.json > out",
        "tidegate verify c.json --workload host.toml",
        // A certificate with another host time is refused, although its bounds hold.
        "sed 's/\"batch_ns\": [0-9]*/\"batch_ns\": 7/' c.json > h.json",
        "tidegate verify h.json --workload host.toml",
        "sed 's/submit/sumbit/' host.toml > w.toml",
        "tidegate check w.toml",
        "cat host.toml host-interference.toml > i.toml",
        "tidegate check i.toml --quiet",
        "tidegate check i.toml --json | sed -n '/\"host\"/,/}/p'",
        "sed 's/priority = 60/priority = 50/' i.toml > w.toml",
        "tidegate check w.toml",
    ];
    /// A certificate is accepted unchanged, and refused with a flaw or with another file.
    check_certificates: [
        "tidegate check inline.toml --certificate c.json | grep Verdict",
        "tidegate verify c.json --workload inline.toml",
        "sed 's/response_ns_max\": [0-9]*/response_ns_max\": 7/' c.json > flawed.json",
        "tidegate verify flawed.json",
        // A certificate with other numbers is refused, although its bounds hold.
        "sed 's/deadline_ns\": [0-9]*/deadline_ns\": 999000000000/' c.json > later.json",
        "tidegate verify later.json --workload inline.toml",
        "tidegate verify c.json --workload tight.toml",
        "tidegate verify tight.toml",
        "tidegate check inline.toml --policy edf --certificate e.json > out",
    ];
    check_examples: [
        "tidegate check workloads/cameras.workload.toml",
        "tidegate check workloads/cameras-24.workload.toml",
        "tidegate check workloads/recorder.workload.toml",
        "tidegate check workloads/queries.workload.toml",
        "tidegate check workloads/throttling.workload.toml",
        "tidegate check workloads/machine.workload.toml",
        "tidegate cpu check workloads/network.workload.toml",
    ];
    /// Less best effort on the drive shortens a bound and, here, costs no throughput; if no
    /// throughput was measured, `auto` has no effect.
    check_depth: [
        "sed 's/^name = \"gated.*/name = \"rtio-limit\"\\nbest_effort_depth = 0/; s/75ms/160ms/' \
            workloads/throttling.workload.toml > none.toml",
        "tidegate check none.toml",
        "sed 's/= 0$/= \"auto\"/' none.toml > auto.toml",
        "tidegate check auto.toml",
        "tidegate check auto.toml --policy dqf --certificate c.json > out",
        "tidegate verify c.json --workload auto.toml",
        "tidegate sim auto.toml --policy rtio-limit,gated-drain,dqf --jobs 100",
        "sed 's/= 0$/= 5/' none.toml > five.toml",
        "tidegate check five.toml --policy dqf | grep Depth",
        "printf '[policy]\\nname = \"dqf\"\\nbest_effort_depth = \"auto\"\\n' >> inline.toml",
        "printf '[[best_effort]]\\nname = \"c\"\\noutstanding = 8\\nsize = \"4KiB\"\\n' >> inline.toml",
        "tidegate check inline.toml | grep -A2 Depth",
    ];
    /// Windows of deadlines: one that is proven, one that is too wide for the deadlines, and one
    /// that is not shorter than a deadline.
    check_windows: [
        "printf '[policy]\\nname = \"scan-edf\"\\n[policy.scan-edf]\\nwindow = \"20ms\"\\n' >> inline.toml",
        "tidegate check inline.toml",
        "tidegate sim inline.toml --jobs 100 | head -4",
        "sed 's/20ms/49ms/' inline.toml > wide.toml",
        "tidegate check wide.toml",
        "sed 's/20ms/50ms/' inline.toml > wide.toml",
        "tidegate check wide.toml | head -5",
    ];
    check_soft: [
        "tidegate check soft.toml --batch 2",
        "sed '/samples/d' soft.drive.toml > t && mv t soft.drive.toml",
        "tidegate check soft.toml",
    ];
    /// Requests that differ are charged their own costs, and the screen names the basis.
    check_costs: [
        "tidegate check sizes.toml --batch 3",
        "tidegate check cost.toml",
        "sed 's/# batch_cost/batch_cost/' cost.toml > limit.toml",
        "tidegate check limit.toml",
        "sed 's/24ms/20ms/' limit.toml > cuts.toml",
        "tidegate check cuts.toml",
        "sed 's/24ms/100ms/; s/# best_effort/[[best_effort]]/; s/# load//' limit.toml > load.toml",
        "tidegate check load.toml",
        // Without a cost limit, the tighter bound is still the one by costs.
        "sed 's/# deadline/deadline/' cost.toml > late.toml",
        "tidegate check late.toml",
        "tidegate check late.toml --policy edf",
    ];
    check_published_depths: [
        "tidegate check depth.toml --policy rtio-limit",
        "sed 's/75ms/160ms/' depth.toml > later.toml",
        "tidegate check later.toml --policy rtio-limit",
    ];
    /// A drain table below the batch table of the same drive proves nothing and is reported.
    check_drains: [
        "tidegate check drain.toml --policy gated-drain",
        "sed 's/8ms/9ms/' drain.toml > later.toml",
        "tidegate check later.toml --policy gated-drain",
        "tidegate check later.toml --policy dqf",
    ];
    /// No table includes the effect of a disk's write cache on reads that are mixed with writes.
    check_write_cache: [
        "tidegate check cache.toml",
        "sed 's/op = \"write\"//' cache.toml > reads.toml",
        "tidegate check reads.toml",
        "tidegate check cache.toml --drive fujitsu-max3036rc",
        "tidegate sim cache.toml --jobs 100",
    ];
    check_faults: [
        "sed 's/\"100ms\"/100/' inline.toml > w.toml",
        "tidegate check w.toml",
        "sed 's/\"inline.drive.toml\"/\"sata\"/' paths.toml > w.toml",
        "tidegate check w.toml",
        "sed 's/\"inline.drive.toml\"/\"none.toml\"/' paths.toml > w.toml",
        "tidegate check w.toml",
        "sed 's/size = \"4KiB\"/size = 4/' inline.drive.toml > faulty.drive.toml",
        "tidegate check paths.toml --drive faulty.drive.toml",
        "sed 's/inline.drive/faulty.drive/' paths.toml > w.toml",
        "tidegate check w.toml",
        "tidegate check nowhere.toml",
        "tidegate check inline.toml --batch 8",
        "tidegate check paths.toml --batch 3",
        "tidegate check inline.toml --batch 0",
        "sed 's/# policy/[policy]\\nname = \"dqf\"\\nbatch = 9/' inline.toml > w.toml",
        "tidegate check w.toml",
        "tidegate check w.toml --batch 2",
        "tidegate check inline.toml --policy list",
        "tidegate check",
    ];
    check_faulty_costs: [
        "sed 's/# batch_cost/batch_cost/; s/24ms/19ms/' cost.toml > w.toml",
        "tidegate check w.toml",
        "sed 's/# batch_cost = \"24ms\"/batch_cost = 60/' cost.toml > w.toml",
        "tidegate check w.toml",
        "sed 's/# batch_cost/batch/' cost.toml > w.toml",
        "tidegate check w.toml",
    ];
    /// Endless or huge files are refused, according to their kind, without being read.
    check_no_files: [
        "truncate -s 16777217 large",
        "tidegate check /dev/zero",
        "tidegate check .",
        "tidegate check large",
        "tidegate check inline.toml --drive /dev/zero",
        "tidegate check inline.toml --drive .",
        "tidegate check inline.toml --drive large",
    ];
    /// One command gives the verdict on the whole machine: it is positive only if both the disk and
    /// the processor are proven.
    check_machines: [
        "cat inline.toml processor.toml > both.toml",
        "tidegate check both.toml",
        "cat inline.toml overload.toml > disk.toml",
        "tidegate check disk.toml",
        "tidegate check disk.toml --policy noop",
        "cat tight.toml processor.toml > cpu.toml",
        "tidegate check cpu.toml",
        "cat tight.toml overload.toml > none.toml",
        "tidegate check none.toml",
        // `check` treats a file without a disk as `cpu check` does.
        "tidegate check processor.toml",
        "tidegate check processor.toml --policy dqf",
    ];
}
