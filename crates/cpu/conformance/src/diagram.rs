// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Draws a recorded case as text: when each thread executed, and when jobs arrived.

use std::fmt::Write as _;

use tidegate_cpu_model::Arrivals;
use tidegate_cpu_sim::Thread;
use tidegate_model::{Duration, Time};

use crate::case::{Case, Outcome};

/// The number of columns of a diagram.
const COLUMNS: u64 = 100;

/// Returns one row for each thread. In a column, `#` means that the thread executes throughout, `+`
/// that it executes for part of it.
///
/// ```text
///               0         10us
///   jobs        |         |
///   server      ##........###
///               each column 1us: # executes, + part of it, . does not; | a job arrives
/// ```
pub fn diagram(case: &Case, outcome: &Outcome) -> String {
    let scale = Scale::of(case);
    let mut text = String::new();
    scale.ruler(&mut text);
    scale.jobs(case, &mut text);
    let mut order: Vec<(u32, Thread, &str)> = Vec::new();
    for (index, task) in case.workload.tasks.iter().enumerate() {
        order.push((task.priority.0, Thread::Task(index), &task.name));
    }
    let server = &case.workload.servers[0];
    order.push((server.priority.0, Thread::Server(0), &server.name));
    order.sort_by_key(|row| std::cmp::Reverse(row.0));
    for (_, thread, name) in order {
        let mine = outcome.executed.iter().filter(|it| it.0 == thread);
        scale.row(name, mine.map(|it| (it.1, it.2)), &mut text);
    }
    scale.legend(&mut text);
    text
}

/// The scale of a diagram: the time that one column represents.
struct Scale {
    column_ns: u64,
    columns: u64,
}

impl Scale {
    fn of(case: &Case) -> Self {
        let us = case.duration.ns().div_ceil(1_000);
        let column_us = us.div_ceil(COLUMNS).max(1);
        Self { column_ns: column_us * 1_000, columns: us.div_ceil(column_us) }
    }

    fn start(&self, column: u64) -> Time {
        Time::from_ns(column * self.column_ns)
    }

    fn legend(&self, text: &mut String) {
        let column = Duration::from_ns(self.column_ns);
        let _ = writeln!(
            text,
            "  {:<12}each column {column}: # executes, + part of it, . does not; | a job arrives",
            "",
        );
    }

    fn ruler(&self, text: &mut String) {
        let mut line = String::new();
        for column in (0..self.columns).step_by(10) {
            let at = self.start(column) - Time::ZERO;
            let label = if at.is_zero() { "0".to_owned() } else { at.to_string() };
            let _ = write!(line, "{label:<10}");
        }
        let _ = writeln!(text, "  {:<12}{}", "", line.trim_end());
    }

    fn jobs(&self, case: &Case, text: &mut String) {
        let mut marks = vec![' '; usize::try_from(self.columns).expect("few columns")];
        for work in &case.workload.work {
            let Arrivals::At(instants) = &work.arrivals else { continue };
            for at in instants {
                let column = usize::try_from(at.ns() / self.column_ns).expect("few columns");
                if let Some(mark) = marks.get_mut(column) {
                    *mark = '|';
                }
            }
        }
        let line: String = marks.into_iter().collect();
        let _ = writeln!(text, "  {:<12}{}", "jobs", line.trim_end());
    }

    fn row(&self, name: &str, stretches: impl Iterator<Item = (Time, Time)>, text: &mut String) {
        let columns = usize::try_from(self.columns).expect("few columns");
        let mut busy = vec![Duration::ZERO; columns];
        for (from, to) in stretches {
            let first = from.ns() / self.column_ns;
            for column in first..self.columns {
                let (start, end) = (self.start(column), self.start(column + 1));
                if start >= to {
                    break;
                }
                let index = usize::try_from(column).expect("few columns");
                busy[index] += to.min(end).since(from.max(start));
            }
        }
        let mark = |busy: &Duration| match busy.ns() {
            0 => '.',
            all if all == self.column_ns => '#',
            _ => '+',
        };
        let line: String = busy.iter().map(mark).collect();
        let _ = writeln!(text, "  {name:<12}{line}");
    }
}
