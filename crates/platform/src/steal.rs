// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures the time that the hypervisor took from this machine.
//!
//! Stolen time looks like a slow device: nothing on this machine ran, so completions were noticed
//! late. It is recorded with every measurement and never subtracted.

use tidegate_model::Duration;

/// The unit in which the kernel reports processor times to programs (`USER_HZ`).
const TICK: Duration = Duration::from_ms(10);

/// The processor times of the machine, in ticks since it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessorTime {
    /// The number of ticks during which the hypervisor withheld a processor that this machine
    /// needed.
    pub stolen_ticks: u64,
    /// The number of all ticks of all processors.
    pub total_ticks: u64,
}

impl ProcessorTime {
    /// Reads the times now; `None` if the kernel does not report them.
    pub fn read() -> Option<Self> {
        Self::parse(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    /// Reads the times of one processor.
    pub fn read_of(cpu: u32) -> Option<Self> {
        Self::parse_line(&std::fs::read_to_string("/proc/stat").ok()?, &format!("cpu{cpu} "))
    }

    /// Returns the times that passed since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        // The kernel's counters sometimes step back slightly; such a step counts as no time.
        Self {
            stolen_ticks: self.stolen_ticks.saturating_sub(earlier.stolen_ticks),
            total_ticks: self.total_ticks.saturating_sub(earlier.total_ticks),
        }
    }

    /// Returns the stolen time of all processors together.
    pub fn stolen(self) -> Duration {
        TICK * self.stolen_ticks
    }

    /// Returns the stolen share in parts per million, rounded up.
    pub fn stolen_ppm(self) -> u64 {
        self.stolen_ticks.saturating_mul(1_000_000).div_ceil(self.total_ticks.max(1))
    }

    /// Parses `cpu user nice system idle iowait irq softirq steal guest guest_nice`; `user`
    /// includes `guest`, and `nice` includes `guest_nice`.
    fn parse(text: &str) -> Option<Self> {
        Self::parse_line(text, "cpu ")
    }

    fn parse_line(text: &str, prefix: &str) -> Option<Self> {
        let line = text.lines().find_map(|line| line.strip_prefix(prefix))?;
        let ticks: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
        let counted = ticks.get(..8)?;
        Some(Self { stolen_ticks: counted[7], total_ticks: counted.iter().sum() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_is_the_eighth_column_and_guests_are_not_counted_twice() {
        let text = "cpu  10 20 30 40 50 0 5 7 99 99\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        let expected = ProcessorTime { stolen_ticks: 7, total_ticks: 162 };
        assert_eq!(ProcessorTime::parse(text), Some(expected));
        let of_first = ProcessorTime { stolen_ticks: 1, total_ticks: 8 };
        assert_eq!(ProcessorTime::parse_line(text, "cpu0 "), Some(of_first));
        assert_eq!(ProcessorTime::parse_line(text, "cpu1 "), None);
        assert_eq!(ProcessorTime::parse("cpu  1 2 3\n"), None);
    }

    #[test]
    fn share_is_rounded_up() {
        let passed = ProcessorTime { stolen_ticks: 1, total_ticks: 3 };
        assert_eq!(passed.stolen_ppm(), 333_334);
        assert_eq!(ProcessorTime { stolen_ticks: 0, total_ticks: 0 }.stolen_ppm(), 0);
    }
}
