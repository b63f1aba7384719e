// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: nothing is promised to a task without a period, nor to the tasks beside it. Method: every
//! policy, with and without regulators and the host's time, on a drive for which everything is
//! known; without that task, the same workload is proved.

use tidegate_analysis::{Answer, Comparison, assess, compare, headroom, proves};
use tidegate_model::workload_file::{DriveReference, WorkloadFile};
use tidegate_model::{Duration, PolicyName, ServicePrediction, Task, Workload};

const SURROUNDINGS: [&str; 4] = [
    "",
    "[policy]\nname = \"dqf\"\nregulators = [\"tokens-per-task\"]\n",
    "[policy]\nname = \"dqf\"\nregulators = [\"depth-limit\"]\n[policy.depth-limit]\nin_flight = 4\n",
    "[host]\nrelease = \"1ms\"\nsubmit = \"0ns\"\ncomplete = \"0ns\"\nreply = \"1ms\"\n",
];

fn workload(surroundings: &str) -> Workload {
    let text = format!(
        "[drive]\nkind = \"pseudo\"\nbatch_ns_max = [9_000_000, 15_000_000, 20_000_000, 24_000_000]\n\
         {surroundings}\
         [[task]]\nname = \"camera\"\nperiod = \"1s\"\nsize = \"4KiB\"\n\
         [[task]]\nname = \"client\"\ndeadline = \"900ms\"\noutstanding = 1\nsize = \"4KiB\"\n\
         [[best_effort]]\nname = \"l\"\noutstanding = 1\nsize = \"4KiB\"\n"
    );
    let file = WorkloadFile::parse(&text).unwrap();
    let DriveReference::Inline(drive) = &file.drive else { panic!("an inline drive") };
    let mut workload = file.bind(drive).unwrap();
    let contracts = &mut workload.contracts;
    contracts.drain = Some(workload.table.clone());
    contracts.priority = Some(workload.table.clone());
    contracts.starvation_max = Some(Duration::from_ms(500));
    let ceiling = workload.table.time_max(1);
    contracts.prediction = Some(ServicePrediction { ceiling, late_max: Some(Duration::ZERO) });
    workload
}

#[test]
fn nothing_is_promised_beside_a_task_without_a_period() {
    for surroundings in SURROUNDINGS {
        let closed = workload(surroundings);
        let mut proved = 0;
        for policy in PolicyName::ALL {
            let assessment = assess(&closed, policy);
            assert!(matches!(assessment.answer, Answer::NotApplicable { .. }), "{policy}");
            let mut tasks = assessment.tasks.iter();
            assert!(tasks.all(|it| it.response_max.is_none() && !it.is_deadline_met), "{policy}");
            assert!(!proves(&closed, policy), "{policy}");
            let none = vec![Comparison::default(); 2];
            assert_eq!(compare(&closed, policy), none, "{policy}");
            let room = headroom(&closed, policy).unwrap();
            assert!(room.iter().all(|room| room.count_max == 0), "{policy}: {room:?}");
            let mut alone = closed.clone();
            alone.tasks.retain(|task| !Task::is_closed_loop(task));
            proved += u32::from(assess(&alone, policy).answer == Answer::Proven);
        }
        assert!(proved > 5, "{surroundings}: {proved}");
    }
}
