// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: failed requests appear in the report. Method: a run on a drive that fails every request.

use tidegate_drive::{Completion, Drive, PseudoDisk};
use tidegate_host::Length;
use tidegate_model::workload_file::{DriveReference, WorkloadFile};
use tidegate_model::{Outcome, Request, Time};
use tidegate_sim::{SimParams, simulate};

use super::text::{FAILED_COLUMN, Shown, entry_row};
use super::*;

/// A drive that stays within its table and fails every request.
struct Failing(PseudoDisk);

impl Drive for Failing {
    fn submit(&mut self, now: Time, batch: &[Request]) {
        self.0.submit(now, batch);
    }
    fn flush(&mut self, now: Time, id: tidegate_model::RequestId) {
        self.0.flush(now, id);
    }
    fn next_event(&self) -> Option<Time> {
        self.0.next_event()
    }
    fn advance(&mut self, now: Time, out: &mut Vec<Completion>) {
        self.0.advance(now, out);
        for completion in out {
            completion.outcome = Outcome::Failed;
        }
    }
}

/// Goal: failed jobs miss no deadline, but make the answer negative, and are shown.
#[test]
fn failed_jobs_make_the_answer_no_and_are_shown() {
    let text = "[drive]\nkind = \"pseudo\"\nbatch_ns_max = [1_000_000]\n\
                [[task]]\nname = \"camera\"\nperiod = \"20ms\"\nsize = \"4KiB\"\n";
    let file = WorkloadFile::parse(text).unwrap();
    let DriveReference::Inline(drive) = &file.drive else { unreachable!("it is inline") };
    let workload = file.bind(drive).unwrap();
    let assessment = tidegate_analysis::assess(&workload, PolicyName::Dqf);
    let policy =
        tidegate_policy::build(PolicyName::Dqf, &assessment.plan(&workload), None).unwrap();
    let disk = Failing(PseudoDisk::new(workload.depth, workload.table.clone(), 1));
    let params = SimParams::new(&workload, Length::Jobs(3));
    let run = simulate(&params, policy, disk, &mut ());
    assert_eq!(run.metrics.tasks()[0].misses, 0);
    let result = PolicyReport::of(&workload, assessment, &run, 0);
    assert!(!verdict::is_kept(&[&result], &[]));
    assert_eq!(serde_json::to_value(&result).unwrap()["tasks"][0]["jobs_failed"], 3);
    let shown = Shown { failed: true, dropped: false };
    let entry = result.entries().next().unwrap();
    assert_eq!(entry_row(entry, shown)[FAILED_COLUMN], "3");
    assert!(
        result.sentence().starts_with("FAILED: had 3 failed requests"),
        "{}",
        result.sentence()
    );
}
