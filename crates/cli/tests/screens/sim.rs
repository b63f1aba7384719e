// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the screens of `tidegate sim`, and the refusals of `tidegate run`, whose results depend on
//! the device, stay as they are. Method: snapshots.

use crate::screens;

screens! {
    sim_side_by_side: [
        "tidegate sim recorder.toml --policy noop,fifo,dqf --jobs 200",
        "tidegate sim recorder.toml --policy noop,das,dqf --jobs 50",
        "tidegate sim recorder.toml --policy noop,fifo --jobs 50 --quiet",
        "tidegate sim recorder.toml --duration 3s --seed 7",
        "tidegate sim recorder.toml --policy rtio,rtio-limit,edf --jobs 50",
        "tidegate sim recorder.toml --model mechanical --jobs 50",
        "sed 's/# batch_cost/batch_cost/' cost.toml > limit.toml",
        "tidegate sim limit.toml --jobs 50",
        "tidegate sim recorded.toml --jobs 500",
        "tidegate sim recorded.toml --jobs 500 --model pseudo",
    ];
    /// If the drive breaks a contract that a bound relies on, the screen says so and reports no
    /// defect; contracts that the drive keeps are not mentioned.
    sim_broken_contract: [
        "sed -n '/^\\[mechanics\\]/,$p' drives/fujitsu-max3036rc.drive.toml > mechanics",
        "cat optimist.head mechanics > d.drive.toml",
        "tidegate sim optimist.toml --jobs 300",
        "sed 's/1_500_000, 2_800_000, 4_100_000/30_000_000, 55_000_000, 80_000_000/' d.drive.toml > t",
        "mv t d.drive.toml",
        "tidegate sim optimist.toml --jobs 300",
    ];
    /// This workload has periods that step, loads with `count`, streams and lifetimes, and a task
    /// without a period, to which no policy promises anything.
    sim_sources: [
        "tidegate check sources.toml",
        "tidegate sim sources.toml --policy dqf,fifo --duration 5s",
        "tidegate check closed.toml",
        "tidegate check closed.toml --policy fifo",
        "tidegate sim closed.toml --policy rtio-limit,dqf,noop --jobs 50",
        "sed 's/^deadline.*//' closed.toml > open.toml",
        "tidegate check open.toml",
    ];
    sim_soft: [
        "tidegate sim cheats.toml --policy mdn --jobs 50",
        "tidegate sim cheats.toml --policy mdn --jobs 50 --false-reports camera",
        "tidegate sim cheats.toml --policy mdn --jobs 50 --cheat backup",
    ];
    /// A result file leaves the screen as it is; an existing file is never replaced.
    results: [
        "tidegate sim recorder.toml --policy noop,dqf --jobs 50 -q --result r.json",
        "cut -c 1-70 r.json",
        "tidegate sim recorder.toml --policy noop,dqf --jobs 50 -q --result r.json",
        "tidegate check recorder.toml -q --result c.json",
        "tail -c 12 c.json",
        "tidegate report c.json --markdown | grep -A 4 curves",
        "tidegate check recorder.toml --policy edf -q --result e.json",
        "tidegate report e.json --markdown | grep -A 2 curves",
        "tidegate check recorder.toml -q --result missing/c.json",
        "tidegate report r.json c.json -o page.html",
        "grep -c '<svg' page.html",
        "tidegate report r.json | head -n 1",
        "tidegate report c.json --markdown | head -n 12",
        "tidegate report r.json -o page.html",
        "tidegate report recorder.toml",
        "sed 's/\"version\":4,/\"version\":5,/' r.json > newer.json",
        "tidegate report newer.json",
    ];
    /// `report` reads the result of every command.
    result_of_profile: [
        "tidegate profile fujitsu-max3036rc --quick --only batch --seed 1 -q -o d --result p.json",
        "tidegate report p.json --markdown | head -n 9",
        "tidegate profile fujitsu-max3036rc --plan --result q.json",
    ];
    plots: ["tidegate sim recorder.toml --policy noop,dqf --jobs 50 --plot | tail -n 48"];
    /// A log of requests leaves the screen as it is too; the rows beyond its limit are counted.
    request_logs: [
        "tidegate sim recorder.toml --policy noop,dqf --jobs 50 -q --log r.csv",
        "head -n 3 r.csv",
        "grep -c '^dqf,.*,hard,.*,done$' r.csv",
        "tidegate sim recorder.toml --policy dqf --jobs 50 -q --log r.csv",
        "tidegate sim recorder.toml --policy dqf --jobs 50 -q --log few.csv --log-rows 9",
        "wc -l < few.csv",
        "tidegate sim recorder.toml --policy dqf --jobs 50 -q --log-rows 9",
        "tidegate sim recorder.toml --policy dqf --jobs 50 -q --log same --result ./same",
    ];
    sim_faults: [
        "tidegate sim recorder.toml --duration 3",
        "tidegate sim recorder.toml --duration 0s",
        "tidegate sim recorder.toml --duration 3s --jobs 3",
        "tidegate sim recorder.toml --model recorded",
        "tidegate sim recorder.toml --policy list",
        "tidegate sim recorder.toml --jobs 0",
        "tidegate sim processor.toml",
        "sed 's/cpu_task/cpu_tasks/' workloads/machine.workload.toml > misspelt.toml",
        "tidegate sim misspelt.toml",
        "sed 's/execution/exekution/' workloads/machine.workload.toml > unknown.toml",
        "tidegate sim unknown.toml",
    ];
    run_faults: [
        "tidegate run recorder.toml",
        "tidegate run recorder.toml --device missing.img",
        "tidegate run recorder.toml --device .",
        "tidegate run recorder.toml --device /dev/null",
        "tidegate run nowhere.toml --device missing.img",
    ];
}
