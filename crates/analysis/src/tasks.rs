// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The tasks of a system, which every z and beta of a question share.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::SporadicTask;
use crate::dqf::Demand;

/// A list of tasks. A copy shares the list and everything derived from it, so an analysis that
/// tries many parameters sorts the tasks once.
#[derive(Clone)]
pub struct Tasks(Arc<Shared>);

struct Shared {
    list: Vec<SporadicTask>,
    demand: OnceLock<Demand>,
    different: OnceLock<Different>,
}

/// The different tasks of a system, ascending, with the number of each.
pub(crate) struct Different {
    tasks: Vec<(SporadicTask, u64)>,
    /// The index of each task of the system in `tasks`.
    index_of_task: Vec<usize>,
}

impl Different {
    fn of(list: &[SporadicTask]) -> Self {
        let mut order: Vec<usize> = (0..list.len()).collect();
        order.sort_unstable_by_key(|&index| list[index]);
        let (mut tasks, mut index_of_task) = (Vec::new(), vec![0; list.len()]);
        for alike in order.chunk_by(|&a, &b| list[a] == list[b]) {
            for &task in alike {
                index_of_task[task] = tasks.len();
            }
            tasks.push((list[alike[0]], alike.len() as u64));
        }
        Self { tasks, index_of_task }
    }

    /// Returns one value per task of the system, in its order, from one value per different task.
    pub(crate) fn per_task<'a, T: Copy>(&'a self, values: &'a [T]) -> impl Iterator<Item = T> + 'a {
        self.index_of_task.iter().map(|&index| values[index])
    }
}

impl Deref for Different {
    type Target = [(SporadicTask, u64)];

    fn deref(&self) -> &Self::Target {
        &self.tasks
    }
}

impl Tasks {
    /// Returns the requests of the tasks by kind, which are computed at the first call.
    pub(crate) fn demand(&self) -> &Demand {
        self.0.demand.get_or_init(|| Demand::new(&self.0.list))
    }

    /// Returns the different tasks, which are found at the first call.
    pub(crate) fn different(&self) -> &Different {
        self.0.different.get_or_init(|| Different::of(&self.0.list))
    }
}

impl Deref for Tasks {
    type Target = [SporadicTask];

    fn deref(&self) -> &[SporadicTask] {
        &self.0.list
    }
}

impl From<Vec<SporadicTask>> for Tasks {
    fn from(list: Vec<SporadicTask>) -> Self {
        Self(Arc::new(Shared { list, demand: OnceLock::new(), different: OnceLock::new() }))
    }
}

impl FromIterator<SporadicTask> for Tasks {
    fn from_iter<I: IntoIterator<Item = SporadicTask>>(tasks: I) -> Self {
        Vec::from_iter(tasks).into()
    }
}

impl<'a> IntoIterator for &'a Tasks {
    type Item = &'a SporadicTask;
    type IntoIter = std::slice::Iter<'a, SporadicTask>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl PartialEq for Tasks {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Tasks {}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.list.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::{BatchTable, Bytes, Duration, PolicyName, Task, Workload};

    use crate::dqf::BUILT;
    use crate::{Answer, assess, compare, explain, fit, tolerance};

    /// Returns different tasks on a drive with b(i) = 1 ms + i 0.1 ms.
    fn workload(count: u32, depth: u32, period: Duration) -> Workload {
        let times = (1..=u64::from(depth)).map(|n| Duration::from_us(1_000 + 100 * n));
        let table = BatchTable::new(&times.collect::<Vec<_>>()).expect("rising times");
        let task = |entry: u32| {
            let period = period + Duration::from_us(entry.into());
            Task { entry, ..Task::periodic(format!("task-{entry}"), period, Bytes::from_kib(4)) }
        };
        let tasks = (0..count).map(task).collect();
        Workload { tasks, ..Workload::new("drive", depth, table) }
    }

    /// Goal: the tasks are sorted a fixed number of times, however many tasks and batch sizes there
    /// are. Method: count the sorts in all that `tidegate check` computes, for workloads that are
    /// proved and for others.
    #[test]
    fn more_tasks_and_batch_sizes_need_no_more_sorts() {
        let mut answers = [0, 0];
        for policy in PolicyName::ALL {
            for period in [1_000, 20].map(Duration::from_ms) {
                let built = [(20, 8), (200, 64)].map(|(count, depth)| {
                    let workload = workload(count, depth, period);
                    BUILT.set(0);
                    let assessment = assess(&workload, policy);
                    compare(&workload, policy);
                    fit::fits(&workload, &assessment);
                    tolerance(&workload, &assessment);
                    explain(&workload, &assessment);
                    answers[usize::from(assessment.answer == Answer::Proven)] += 1;
                    BUILT.get()
                });
                assert!(built.iter().all(|&built| built <= 6), "{policy}: {built:?}");
            }
        }
        assert!(answers.iter().all(|&count| count > 4), "one-sided: {answers:?}");
    }
}
