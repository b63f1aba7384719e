// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures for how long a thread was ready to run but did not run.
//!
//! A completion that waits for its thread looks like a slow device. The kernel counts that wait for
//! each thread (`schedstat`): waiting for another thread on the processor, and for real-time
//! throttling. It does not count time that the hypervisor took; see [`crate::steal`].

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use tidegate_model::Duration;

/// A meter for the thread that opened it.
#[derive(Debug)]
pub struct RunDelay {
    file: File,
}

impl RunDelay {
    /// Opens the meter of the calling thread; `None` if the kernel does not count.
    pub fn of_this_thread() -> Option<Self> {
        let meter = Self { file: File::open("/proc/thread-self/schedstat").ok()? };
        meter.read().map(|_| meter)
    }

    /// Returns the total wait since the thread began. Costs one system call.
    pub fn read(&self) -> Option<Duration> {
        let mut text = [0; 64];
        let length = self.file.read_at(&mut text, 0).ok()?;
        parse(std::str::from_utf8(&text[..length]).ok()?)
    }
}

/// Returns the second of three numbers: nanoseconds on a processor, nanoseconds of waiting for a
/// processor, and the number of times that the thread ran.
fn parse(text: &str) -> Option<Duration> {
    text.split_whitespace().nth(1)?.parse().ok().map(Duration::from_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_figure_is_the_wait() {
        assert_eq!(parse("123 456 7\n"), Some(Duration::from_ns(456)));
        assert_eq!(parse("123"), None);
    }
}
