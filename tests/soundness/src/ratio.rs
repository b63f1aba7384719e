// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures how tight a bound is: bound over truth, recorded and printed, but not asserted.

use std::fmt;

/// Ratios of bound to truth over many tasks, in thousandths, rounded up.
#[derive(Debug, Clone, Default)]
pub struct Ratios {
    permille: Vec<u64>,
    without_bound: usize,
    exact: usize,
}

impl Ratios {
    /// Records one task: its bound, if any, and the true worst case.
    pub fn record(&mut self, promise: Option<u64>, truth: u64) {
        let Some(promise) = promise else {
            self.without_bound += 1;
            return;
        };
        self.permille.push((promise * 1000).div_ceil(truth));
        self.exact += usize::from(promise == truth);
    }

    /// Returns the number of tasks with a bound equal to the true worst case.
    #[must_use]
    pub fn exact(&self) -> usize {
        self.exact
    }

    /// Returns the number of tasks with a bound.
    #[must_use]
    pub fn bounded(&self) -> usize {
        self.permille.len()
    }

    /// Returns the heading of a table of ratios.
    #[must_use]
    pub fn heading() -> String {
        let columns = "bounded | no bound | mean | median | p95 | max | exact | mean if not exact";
        format!("| set | bound | {columns} |\n|---|---|---|---|---|---|---|---|---|---|")
    }
}

/// Prints a row of the table, from the third column on.
impl fmt::Display for Ratios {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sorted = self.permille.clone();
        sorted.sort_unstable();
        let Some(last) = sorted.len().checked_sub(1) else {
            return write!(f, "0 | {} | - | - | - | - | - | - |", self.without_bound);
        };
        let shown = |permille: u64| format!("{}.{:03}", permille / 1000, permille % 1000);
        let mean = sorted.iter().sum::<u64>() / sorted.len() as u64;
        let loose = (sorted.len() - self.exact).max(1) as u64;
        let excess: u64 = sorted.iter().map(|permille| permille - 1000).sum();
        let exact_permille = self.exact * 1000 / sorted.len();
        write!(
            f,
            "{} | {} | {} | {} | {} | {} | {}.{} % | {} |",
            sorted.len(),
            self.without_bound,
            shown(mean),
            shown(sorted[last / 2]),
            shown(sorted[last * 95 / 100]),
            shown(sorted[last]),
            exact_permille / 10,
            exact_permille % 10,
            shown(1000 + excess / loose),
        )
    }
}
