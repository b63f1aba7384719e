// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: for every example workload and every policy, the curves show the printed bound to the
//! nanosecond, or say why there are none. Method: takes the files in `workloads`, and reads the
//! wait again from the recorded steps.

use std::path::{Path, PathBuf};

use tidegate_analysis::curves::{Argument, longest};
use tidegate_analysis::{Assessment, assess};
use tidegate_model::PolicyName;
use tidegate_report::{CurvesRecord, DrawnRecord};

use crate::{Changes, DriveChoice, Input};

/// Returns the examples that have a disk; an example for a reader's own disk gets a built-in drive.
fn examples() -> Vec<Input> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.to_string_lossy().ends_with(".workload.toml")).collect();
    files.sort();
    let read = |path: &PathBuf| {
        let drive = DriveChoice::Named("maxtor-atlas-10k-v".to_owned());
        let named = Changes { drive: Some(drive), ..Changes::default() };
        let input = crate::read(path, &Changes::default(), &[]);
        input.or_else(|_| crate::read(path, &named, &[])).ok()
    };
    files.iter().filter_map(read).collect()
}

/// Returns the bound that the steps show, in ns.
fn shown_ns(drawn: &DrawnRecord) -> u64 {
    let argument = Argument::from_name(&drawn.argument).expect("a known argument");
    let line =
        longest(argument.reading(), &drawn.requested_ns_steps, &drawn.served_ns_steps).unwrap();
    assert_eq!((line.from.ns(), line.to.ns()), (drawn.from_ns, drawn.to_ns));
    line.length().ns() + drawn.after_ns + drawn.outside_ns
}

/// Compares the curves of every task with its bound. Returns the numbers of bounds with and without
/// curves.
fn compare(input: &Input, assessment: &Assessment) -> [usize; 2] {
    let workload = &input.workload;
    let records = CurvesRecord::all(workload, assessment);
    let mut found = [0, 0];
    for (task, assessed) in workload.tasks.iter().zip(&assessment.tasks) {
        let Some((bound, _)) = assessed.response_max else { continue };
        let of_task = records.iter().filter(|it| it.tasks.contains(&task.name));
        let [record] = of_task.collect::<Vec<_>>()[..] else { panic!("one record of a task") };
        assert_eq!(record.bound_ns, Some(bound.ns()), "{}", task.name);
        assert_eq!(record.drawn.is_none(), record.reason.is_some());
        if let Some(drawn) = &record.drawn {
            assert_eq!(shown_ns(drawn), bound.ns(), "{} under {}", task.name, assessment.policy);
        }
        found[usize::from(record.drawn.is_none())] += 1;
    }
    found
}

#[test]
fn curves_of_every_example_show_its_bound() {
    let inputs = examples();
    assert!(inputs.len() >= 8, "{}", inputs.len());
    let mut all = [0, 0];
    for input in &inputs {
        for policy in PolicyName::ALL {
            let found = compare(input, &assess(&input.workload, policy));
            all = [all[0] + found[0], all[1] + found[1]];
        }
    }
    assert!(all.iter().all(|&count| count > 100), "{all:?}");
}
