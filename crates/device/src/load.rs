// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Counts the requests that the device completed. All of them except this program's are other load.

use crate::facts::DeviceFacts;
use crate::sysfs::SysfsDevice;

/// The numbers of requests that the whole disk completed since the machine started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completed {
    /// Reads, after the kernel split and merged them.
    pub reads: u64,
    /// Writes, after the kernel split and merged them.
    pub writes: u64,
}

impl Completed {
    /// Returns the current counts of the disk that serves a target; `None` if sysfs does not report
    /// them.
    pub fn read(facts: &DeviceFacts) -> Option<Self> {
        let device = SysfsDevice::find(facts.number?)?;
        Self::parse(&device.attribute("stat")?)
    }

    /// Returns the number of requests completed since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        // A device that was unplugged meanwhile restarts at zero.
        Self {
            reads: self.reads.saturating_sub(earlier.reads),
            writes: self.writes.saturating_sub(earlier.writes),
        }
    }

    /// Parses `reads merged sectors ms writes ..`; see the kernel's `block/stat.rst`.
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let reads = words.next()?.parse().ok()?;
        let writes = words.nth(3)?.parse().ok()?;
        Some(Self { reads, writes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_first_and_writes_fifth() {
        let text = " 100 1 800 30 200 2 1600 60 0 80 90 0 0 0 0 0 0";
        assert_eq!(Completed::parse(text), Some(Completed { reads: 100, writes: 200 }));
        assert_eq!(Completed::parse("1 2"), None);
    }
}
