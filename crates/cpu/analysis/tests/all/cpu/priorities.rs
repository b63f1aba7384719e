// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the assignment of priorities with all orders of small sets.

use tidegate_cpu_analysis::{CpuAnswer, Prioritised, assess, fitting_priorities};
use tidegate_cpu_model::{
    Arrivals, Background, CpuServer, CpuTask, CpuWork, CpuWorkload, Execution, Priority,
    Scheduling, ServerKind, ServerParams,
};
use tidegate_model::{Duration, Random};

use super::generate::{Ticks, tasks, workload};

fn ns(ticks: u64) -> Duration {
    Duration::from_ns(ticks)
}

/// Returns the workload with priorities in this order, the most urgent first.
fn ordered(workload: &CpuWorkload, order: &[usize]) -> CpuWorkload {
    let mut workload = workload.clone();
    for (place, &thread) in order.iter().enumerate() {
        let priority = Priority(u32::try_from(10 + order.len() - place).unwrap());
        match thread.checked_sub(workload.tasks.len()) {
            None => workload.tasks[thread].priority = priority,
            Some(server) => workload.servers[server].priority = priority,
        }
    }
    workload
}

/// Returns all orders of `count` threads.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for thread in 0..count {
        all = all
            .into_iter()
            .flat_map(|order: Vec<usize>| {
                (0..=order.len()).map(move |at| {
                    let mut longer = order.clone();
                    longer.insert(at, thread);
                    longer
                })
            })
            .collect();
    }
    all
}

/// Goal: an order is found if and only if one is proven, and the found order is proven. Method:
/// compares with all orders of random sets of two to four tasks with blocking and jitter. Half of
/// the sets have a server for work with a deadline, which may execute in the background.
#[test]
fn an_order_is_found_wherever_one_is_proven() {
    let mut random = Random::new(11, 1);
    let (mut found_count, mut none_count, mut not_as_given) = (0, 0, 0);
    for number in 0..400 {
        let ticks: Vec<Ticks> = tasks(&mut random);
        let mut workload = workload(&ticks, Scheduling::FixedPriority);
        for task in &mut workload.tasks {
            task.blocking = ns(random.below(2));
            task.jitter = ns(random.below(2));
        }
        if number % 2 == 0 {
            add_server(&mut workload, &mut random);
        }
        let threads = workload.tasks.len() + workload.servers.len();
        let proven = |order: &Vec<usize>| {
            assess(&ordered(&workload, order), &[]).answer == CpuAnswer::Proven
        };
        let is_any = orders(threads).iter().any(proven);
        let found = fitting_priorities(&workload, &[]);
        assert_eq!(found.is_some(), is_any, "{workload:?}");
        let Some(found) = found else {
            none_count += 1;
            continue;
        };
        let index = |thread: &Prioritised| match *thread {
            Prioritised::Task(index) => index,
            Prioritised::Server(index) => workload.tasks.len() + index,
        };
        let found: Vec<usize> = found.iter().map(index).collect();
        assert!(proven(&found), "{workload:?}: {found:?}");
        found_count += 1;
        not_as_given += u32::from(!proven(&(0..threads).collect()));
    }
    let counts = [found_count, none_count, not_as_given];
    assert!(counts.iter().all(|&count| count > 20), "{counts:?}");
}

fn add_server(workload: &mut CpuWorkload, random: &mut Random) {
    let period = 10 + random.below(10);
    let params = ServerParams::new(ServerKind::Polling, ns(1 + random.below(3)), ns(period));
    let background = match random.below(2) {
        0 => Background::Never,
        _ => Background::At(Priority(5)),
    };
    let server = CpuServer { background, ..CpuServer::new("server", Priority(11), params) };
    workload.servers.push(server);
    let execution = Execution::Fixed(ns(1));
    let arrivals = Arrivals::Sporadic { gap_min: ns(2 * period) };
    workload.work.push(CpuWork {
        deadline: Some(ns(2 * period + random.below(2 * period))),
        ..CpuWork::new("work", 0, arrivals, execution)
    });
}

/// Goal: nothing is searched under EDF, or for more threads than the limit. Method: EDF,
/// and 65 tasks.
#[test]
fn edf_and_many_threads_have_no_order() {
    let one = [Ticks { execution: 1, period: 10, deadline: 10 }];
    assert!(fitting_priorities(&workload(&one, Scheduling::FixedPriority), &[]).is_some());
    assert_eq!(fitting_priorities(&workload(&one, Scheduling::Edf), &[]), None);
    let mut many = CpuWorkload::new(Scheduling::FixedPriority);
    for _ in 0..65 {
        many.tasks.push(CpuTask::new("t", ns(1), ns(1_000), Priority(1)));
    }
    assert_eq!(fitting_priorities(&many, &[]), None);
    many.tasks.pop();
    assert_eq!(fitting_priorities(&many, &[]).map(|order| order.len()), Some(64));
}
