// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Counts the interrupts and softirqs of one processor by name, to show which of them may have
//! taken processor time.

use std::collections::BTreeMap;
use std::fs;

/// Interrupt counts of one processor since the machine started.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Interrupts(BTreeMap<String, u64>);

impl Interrupts {
    /// Reads the counts now; empty if the kernel does not report them.
    pub fn read_of(cpu: u32) -> Self {
        let mut counts = BTreeMap::new();
        for (path, prefix) in [("/proc/interrupts", ""), ("/proc/softirqs", "softirq ")] {
            let text = fs::read_to_string(path).unwrap_or_default();
            counts.extend(parse(&text, cpu, prefix));
        }
        Self(counts)
    }

    /// Returns the most frequent sources since `earlier`, at most `at_most` of them, with their
    /// counts.
    pub fn most_since(&self, earlier: &Self, at_most: usize) -> Vec<(&str, u64)> {
        let before = |name: &String| earlier.0.get(name).copied().unwrap_or(0);
        let since = |(name, count): (_, &u64)| (name, count.saturating_sub(before(name)));
        let mut all: Vec<(&String, u64)> = self.0.iter().map(since).collect();
        all.retain(|(_, count)| *count > 0);
        all.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        all.truncate(at_most);
        all.into_iter().map(|(name, count)| (name.as_str(), count)).collect()
    }
}

/// Parses a table with a line for each source, a column for each processor, and a description.
fn parse(text: &str, cpu: u32, prefix: &str) -> BTreeMap<String, u64> {
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split_whitespace().collect();
    let wanted = format!("CPU{cpu}");
    let Some(column) = header.iter().position(|&name| name == wanted) else {
        return BTreeMap::new();
    };
    let source = |line: &str| {
        let (label, rest) = line.split_once(':')?;
        let words: Vec<&str> = rest.split_whitespace().collect();
        let count = words.get(column)?.parse().ok()?;
        let called = words.get(header.len()..).unwrap_or_default();
        let label = label.trim();
        // A numbered source is named by its device, the last word; other sources are named by their
        // label, because their descriptions are long.
        let is_number = label.chars().all(|letter| letter.is_ascii_digit());
        let name = called.last().filter(|_| is_number).copied().unwrap_or(label);
        Some((format!("{prefix}{name}"), count))
    };
    lines.filter_map(source).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "           CPU0       CPU1\n 36:    1   143  PCI-MSIX-0000:00:02.0  1-edge \
                        virtio1-req.0\nLOC:  5  475   Local timer interrupts\nERR:   0\n";

    #[test]
    fn sources_have_the_names_that_people_know() {
        let counts = parse(TEXT, 1, "");
        let expected = [("LOC".to_owned(), 475), ("virtio1-req.0".to_owned(), 143)];
        assert_eq!(counts, BTreeMap::from(expected));
        assert_eq!(parse(TEXT, 2, ""), BTreeMap::new());
        assert_eq!(parse("  CPU0\nBLOCK: 7\n", 0, "softirq ")["softirq BLOCK"], 7);
    }

    #[test]
    fn the_most_frequent_come_first() {
        let of = |list: &[(&str, u64)]| {
            Interrupts(list.iter().map(|&(name, count)| (name.to_owned(), count)).collect())
        };
        let (before, now) = (of(&[("a", 5), ("b", 9)]), of(&[("a", 6), ("b", 9), ("c", 3)]));
        assert_eq!(now.most_since(&before, 5), [("c", 3), ("a", 1)]);
        assert_eq!(now.most_since(&before, 1), [("c", 3)]);
    }
}
