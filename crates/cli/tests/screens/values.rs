// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: exit codes and `--json` values are correct. Method: values that follow from arithmetic.

use serde_json::{Value, json};

use crate::{folder, json_of};

/// Defines a test for each name: each line must print an object with these values at their JSON
/// pointers, and exit with this code.
macro_rules! values {
    ($($(#[$attribute:meta])* $name:ident: [$($line:expr, $code:expr, $values:tt;)*];)*) => {$(
        $(#[$attribute])*
        #[test]
        fn $name() {
            let folder = folder();
            $(has_values($line, $code, &json!($values), &json_of($line, folder.path()));)*
        }
    )*};
}

fn has_values(line: &str, code: i32, values: &Value, (found_code, object): &(i32, Value)) {
    assert_eq!(*found_code, code, "{line}: {object:#}");
    for (pointer, value) in values.as_object().unwrap() {
        // A missing key counts as null.
        let found = object.pointer(pointer).unwrap_or(&Value::Null);
        assert_eq!(found, value, "{line}: {pointer} of {object:#}");
    }
}

values! {
    check: [
        // With one request at a time and two tasks: one request in flight and one behind it, 2
        // b(1).
        "tidegate check inline.toml --json", 0, {
            "/verdict": "proven",
            "/tasks/0/bounds/tight_ns": 10_000_000,
            "/tasks/0/bounds/linear_ns": 15_000_000,
            "/tasks/0/response_ns_max": 10_000_000,
            "/tasks/0/comparison/fifo_ns": 10_000_000,
            "/tasks/0/comparison/dqf_ns": null,
        };
        "tidegate check tight.toml --json", 1, {
            "/verdict": "not_proven",
            "/tasks/0/response_ns_max": 5_000_000,
        };
        "tidegate check inline.toml --policy noop --json", 1, {
            "/verdict": "not_applicable",
            // This policy forms no batches.
            "/batch": null,
            "/tasks/0/response_ns_max": null,
        };
        // One batch of best effort in flight, and the next one filled with best effort: 2 b(3).
        "tidegate check best-effort.toml --json", 0, {
            "/best_effort_fill": 3,
            "/tasks/0/bounds/min_period_ns": null,
            "/tasks/0/bounds/tight_ns": 22_000_000,
        };
    ];
    check_paths_are_relative_to_the_workload_file_and_overrides_to_the_reader: [
        "mkdir sub && sed 's/here/other/' inline.drive.toml > o.drive.toml && \
         mv inline.drive.toml paths.toml sub && tidegate check sub/paths.toml --json", 0, {
            "/drive": "here",
        };
        "tidegate check sub/paths.toml --drive o.drive.toml --batch 2 --json", 0, {
            "/drive": "other",
            "/batch": 2,
        };
    ];
    check_soft_promises_stand_beside_the_verdict: [
        // Either of two tasks can lead a late batch; each batch exceeds the p99.9 of 10,000 samples
        // with a probability of slightly more than 0.2 %.
        "tidegate check soft.toml --batch 2 --json", 1, {
            "/verdict": "not_proven",
            "/tasks/0/soft/0/quantile_ppm": 999_000,
            "/tasks/0/soft/0/response_ns_max": 20_000,
            "/tasks/0/soft/0/confidence_ppm": 990_000,
            "/tasks/0/soft/0/meets_deadline": true,
            "/tasks/0/soft/0/miss_ppb_max": 4_277_128,
        };
        // Without samples there is no soft bound.
        "sed '/samples/d' soft.drive.toml > t && mv t soft.drive.toml && \
         tidegate check soft.toml --json", 1, {
            "/tasks/0/soft": [],
        };
    ];
    check_requests_that_differ_are_charged_their_own_cost: [
        // Two batches, A = 10 us each, plus requests of 1 us, 1 us and 10 us; from the larger
        // table, b(1) + b(2).
        "tidegate check sizes.toml --batch 3 --json", 0, {
            "/tasks/0/bounds/mixed_ns": 32_000,
            "/tasks/0/bounds/tight_ns": 50_000,
            "/tasks/0/bound_used": "mixed",
        };
        // With a limit that never cuts a batch: 2 A + C, and no bound by count is valid.
        "sed 's/# batch_cost/batch_cost/' cost.toml > limit.toml && \
         tidegate check limit.toml --json", 0, {
            "/verdict": "proven",
            "/batch_cost_ns": 24_000_000,
            "/tasks/0/bounds/mixed_ns": 44_000_000,
            "/tasks/0/bounds/tight_ns": null,
            "/tasks/0/bound_used": "mixed",
        };
        // The write forms a separate batch: one read is in flight, and two reads, the write and the
        // last read make three more batches, so 4 A + C.
        "sed 's/24ms/20ms/' limit.toml > cuts.toml && tidegate check cuts.toml --json", 0, {
            "/tasks/0/response_ns_max": 64_000_000,
        };
        // 2 A + 2 F is below the period of 200 ms, so the remaining time is left for best effort.
        "sed 's/24ms/100ms/; s/# best_effort/[[best_effort]]/; s/# load//' limit.toml > load.toml && \
         tidegate check load.toml --json", 0, {
            "/verdict": "proven",
            "/best_effort_fill_cost_ns": 89_999_999,
        };
    ];
    /// The depths of RTAS 2008 for the built-in drive that the paper measured: drain(8) = 72.3 ms
    /// is within 75 ms, drain(9) = 77.4 ms is not; drain(20) is within 160 ms.
    check_published_drive_gets_the_published_depths: [
        "tidegate check depth.toml --policy rtio-limit --json", 0, {
            "/best_effort_depth": 7,
            "/tasks/0/bound_used": "tight",
        };
        "sed 's/75ms/160ms/' depth.toml > later.toml && \
         tidegate check later.toml --policy rtio-limit --json", 0, {
            "/best_effort_depth": 19,
            "/tasks/0/bound_used": "tight",
        };
    ];
    cpu_check: [
        // The demand of both tasks in 6 ms, the second task's deadline. Ceil: 2 + 2 * 1; refined: 2
        // + 1 + min(1, 2); hyperbolic: 2 + 1/4 * (6 + 4 - 1).
        "tidegate cpu check processor.toml --json", 0, {
            "/verdict": "proven",
            "/tasks/1/response_ns_max": 3_000_000,
            "/tasks/1/loads/ceil_ppm": 666_667,
            "/tasks/1/loads/refined_ppm": 666_667,
            "/tasks/1/loads/hyperbolic_ppm": 708_334,
        };
        "cat processor.toml late.toml > w.toml && tidegate cpu check w.toml --json", 1, {
            "/verdict": "not_proven",
            "/tasks/2/response_ns_max": 10_000_000,
        };
        "sed 's/3ms/6ms/; /deadline/d' w.toml > over.toml && \
         tidegate cpu check over.toml --json", 1, {
            "/tasks/2/response_ns_max": null,
        };
        // The bound equals the deadline, because the time left before it is not known.
        "sed 's/# edf/[cpu]\\nscheduling = \"edf\"/' edf.toml > edf && \
         tidegate cpu check edf --json", 0, {
            "/tasks/0/response_ns_max": 4_000_000,
            "/tasks/0/loads/ceil_ppm": null,
            "/limited_by": null,
        };
    ];
    /// With the profile's line, R = 1 + 0.4 + 0.1 R. With its points, R = 1 + 0.5. A margin is
    /// added to both.
    cpu_check_interference_counts_above_every_task: [
        "cat processor.toml interference.toml > w.toml && tidegate cpu check w.toml --json", 0, {
            "/tasks/0/response_ns_max": 1_555_556,
        };
        "sed 's/# bound/bound/' w.toml > points.toml && tidegate cpu check points.toml --json", 0, {
            "/tasks/0/response_ns_max": 1_500_000,
        };
        "sed 's/# margin/margin/' w.toml > margin.toml && \
         tidegate cpu check margin.toml --json", 0, {
            "/tasks/0/response_ns_max": 1_655_556,
        };
    ];
    check_of_a_machine_is_proven_when_both_its_parts_are: [
        "cat inline.toml processor.toml > both.toml && tidegate check both.toml --json", 0, {
            "/verdict": "proven",
            "/schedulable": true,
            "/disk/drive": "inline",
        };
        "cat inline.toml overload.toml > disk.toml && tidegate check disk.toml --json", 1, {
            "/verdict": "not_proven",
            "/schedulable": false,
            "/disk/verdict": "proven",
            "/cpu/verdict": "not_proven",
        };
        "tidegate check disk.toml --policy noop --json", 1, {
            "/disk/verdict": "not_applicable",
        };
        "cat tight.toml processor.toml > cpu.toml && tidegate check cpu.toml --json", 1, {
            "/verdict": "not_proven",
            "/disk/verdict": "not_proven",
            "/cpu/verdict": "proven",
        };
        // A proof of the processor alone does not need the disk.
        "tidegate cpu check cpu.toml --json", 0, {};
        "cat tight.toml overload.toml > none.toml && tidegate check none.toml --json", 1, {
            "/verdict": "not_proven",
            "/schedulable": false,
        };
        "tidegate check processor.toml --json", 0, {
            "/verdict": "proven",
            "/disk": null,
            "/cpu/verdict": "proven",
        };
        "tidegate check workloads/machine.workload.toml --json", 0, {
            "/cpu/interference/0/name": "example",
        };
    ];
    cpu_check_corrected_servers_are_tasks_and_posix_ones_are_not: [
        // One period until the budget is replenished, 18 ms of execution, and the delay that task 1
        // causes.
        "cat table-6.1.toml events.toml > w.toml && tidegate cpu check w.toml --json", 0, {
            "/verdict": "proven",
            "/tasks/1/response_ns_max": 99_000_000,
            "/servers/0/kind": "sporadic",
            "/servers/0/budget_ns": 20_000_000,
            "/servers/0/response_ns_max": 30_000_000,
            "/work/0/response_ns_max": 78_000_000,
        };
        // The tasks above the server meet their deadlines.
        "sed 's/kind = \"sporadic\"/kind = \"posix-sporadic\"/' w.toml > posix.toml && \
         tidegate cpu check posix.toml --json", 1, {
            "/verdict": "not_applicable",
            "/tasks/0/response_ns_max": 10_000_000,
            "/tasks/1/response_ns_max": null,
        };
    ];
    cpu_check_random_arrivals_have_no_bound_and_no_deadline_needs_none: [
        "cat table-6.1.toml events.toml | sed 's/arrivals = \"sporadic\"/arrivals = \"poisson\"/' \
         > w.toml && tidegate cpu check w.toml --json", 1, {
            "/verdict": "not_applicable",
        };
        "sed 's/deadline = \"80ms\"//' w.toml > late.toml && tidegate cpu check late.toml --json", 0, {
            "/verdict": "proven",
            "/work/0/deadline_ns": null,
        };
    ];
    cpu_sim_posix_makes_a_task_late: [
        "tidegate cpu sim arrivals.toml --duration 200ms --json", 0, {
            "/runs/0/servers/0/kind": "sporadic",
            "/runs/0/tasks/1/name": "3",
            "/runs/0/tasks/1/response_ns_max": 99_000_000,
        };
        "tidegate cpu sim arrivals.toml --duration 200ms --server posix-sporadic,sporadic --json", 1, {
            "/runs/0/tasks/1/response_ns_max": 117_000_000,
            "/runs/0/tasks/1/misses": 1,
            "/runs/1/tasks/1/response_ns_max": 99_000_000,
        };
        "tidegate cpu sim overload.toml --duration 1h --json", 1, {
            "/runs/0/end": "overloaded",
        };
        // A switch delays the first chunk of the budget but not the second, which follows
        // immediately. A window then contains more than the budget, which is correct.
        "tidegate cpu sim switch.toml --duration 100ms --json", 0, {
            "/runs/0/servers/0/executed_in_period_ns_max": 5_000_000,
        };
    ];
    /// Blocking and interference at their worst: 2 + 4 + 9 + 5 = 20 ms for `urgent`, and the
    /// smallest R = 30 + 2 + 9 + R / 4 for `other`, 54.7 ms.
    cpu_sim_blocking_and_interference: [
        "tidegate cpu check disturbed.toml --json", 0, {
            "/tasks/0/response_ns_max": 20_000_000,
            "/tasks/1/response_ns_max": 54_666_667,
        };
        "tidegate cpu sim disturbed.toml --duration 10s --disturb never --json", 0, {
            "/disturb": "never",
            "/runs/0/tasks/0/response_ns_max": 2_000_000,
            "/runs/0/tasks/1/response_ns_max": 32_000_000,
            "/runs/0/sections": 0,
            "/runs/0/stolen_ns": 0,
        };
    ];
    /// Seeks over 100 cylinders follow the line 1 + 9 (d - 1) / 98 ms. The mean d is 33.33 over
    /// seeks that move, and one in a hundred does not: 3.96 ms.
    drive_figures: [
        "tidegate drive import disk -o d.drive.toml > said && \
         tidegate drive show d.drive.toml --json", 0, {
            "/depth": 4,
            "/capacity_bytes": 10_240_000,
            "/kinds": ["mechanical"],
            "/mechanics/seek_ns_one_cylinder": 1_000_000,
            "/mechanics/seek_ns_full_stroke": 10_000_000,
            "/mechanics/seek_ns_mean": 3_960_000,
            "/mechanics/zones/0/sectors": 20_000,
        };
        "tidegate drive replay d.drive.toml --trace d.trace --json", 0, {
            "/drive": "made-up",
            "/requests": 3,
            "/measured_ms_max": 12.0005,
            "/measured_ms_mean": 9.3335,
        };
    ];
}
