// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds all faults of a file, although reading it stops at the first.
//!
//! ```text
//!   read --fault--> note it --> a misspelt field: write the meant one --> read again
//!                               any other fault: replace its lines by spaces
//! ```
//! A fault that only follows from replaced lines is not reported: for example, a field that is
//! missing because its line was replaced. A table without a field that it needs is replaced as a
//! whole, so faults between its fields are found only after the field is added.

use std::ops::Range;

use toml::de::DeTable;

use crate::file_error::FileError;

/// The largest number of faults that one reading reports.
const FAULTS_MAX: usize = 20;

/// Returns `first` and the further faults of `text`, in the order of the file. `read` is the
/// reading that found the first one.
pub fn all_faults<T>(
    text: &str,
    first: FileError,
    read: impl Fn(&str) -> Result<T, FileError>,
) -> Vec<FileError> {
    if DeTable::parse(text).is_err() {
        // Nothing after a syntax error can be read.
        return vec![first];
    }
    let mut left = Corrected { text: text.as_bytes().to_vec(), ..Corrected::default() };
    let mut found = vec![first.clone()];
    let mut fault = first;
    while (left.correct(&fault) || left.mask(&fault)) && found.len() < FAULTS_MAX {
        let Ok(text) = std::str::from_utf8(&left.text) else { break };
        let Err(next) = read(text) else { break };
        let is_own = !left.explains(&next);
        fault = next.clone();
        let next = FileError { span: left.in_file(next.span), ..next };
        if is_own && !found.contains(&next) {
            found.push(next);
        }
    }
    found.sort_by_key(|fault| fault.span.start);
    found
}

/// The text of the file with its known faults corrected or replaced by spaces.
#[derive(Default)]
struct Corrected {
    text: Vec<u8>,
    /// The corrections of misspelt names, in the order in which they were made.
    names: Vec<Renamed>,
    /// The names of the fields that were replaced, and their positions in the file.
    fields: Vec<(String, usize)>,
    has_tables: bool,
}

/// A name of `after` bytes that was written at `start` in place of a name of `before` bytes.
struct Renamed {
    start: usize,
    before: usize,
    after: usize,
}

impl Corrected {
    /// Replaces a misspelt field name by the one that was meant, so that its value and its table
    /// are read. Returns whether it did: it changes nothing if the text would no longer be valid
    /// TOML.
    fn correct(&mut self, fault: &FileError) -> bool {
        let Some(meant) = fault.meant_field() else { return false };
        let mut text = self.text.clone();
        text.splice(fault.span.clone(), meant.bytes());
        // The file may also have the field that was meant, and a duplicate is a syntax error.
        if !str::from_utf8(&text).is_ok_and(|text| DeTable::parse(text).is_ok()) {
            return false;
        }
        self.text = text;
        let (start, before) = (fault.span.start, fault.span.len());
        self.names.push(Renamed { start, before, after: meant.len() });
        true
    }

    /// Translates a span of this text into a span of the file.
    fn in_file(&self, span: Range<usize>) -> Range<usize> {
        let place = |place: usize| {
            self.names.iter().rev().fold(place, |place, &Renamed { start, before, after }| {
                if place < start + after {
                    place.min(start + before)
                } else {
                    place - after + before
                }
            })
        };
        place(span.start)..place(span.end)
    }

    /// Replaces the lines of a fault by spaces; returns whether that changes the text, so that
    /// reading it again can find another fault.
    fn mask(&mut self, fault: &FileError) -> bool {
        if fault.span.is_empty() || fault.span.end > self.text.len() {
            return false;
        }
        let is_missing = fault.missing_field().is_some();
        let lines = if is_missing { self.table(&fault.span) } else { self.lines(&fault.span) };
        let is_header = self.text[lines.clone()].trim_ascii_start().starts_with(b"[");
        let lines = if is_header { self.table(&fault.span) } else { lines };
        self.has_tables |= is_missing || is_header;
        let position = self.in_file(lines.clone()).start;
        let masked = &mut self.text[lines];
        if let Some(equals) = masked.iter().position(|&byte| byte == b'=') {
            let name = String::from_utf8_lossy(&masked[..equals]).trim().to_owned();
            self.fields.push((name, position));
        }
        let before = masked.to_vec();
        for byte in masked.iter_mut().filter(|byte| **byte != b'\n') {
            *byte = b' ';
        }
        *masked != before[..]
    }

    /// Returns whether the fault follows from replaced lines.
    fn explains(&self, fault: &FileError) -> bool {
        if fault.span.is_empty() {
            return self.has_tables || !self.fields.is_empty();
        }
        let table = self.table(&fault.span);
        let lines = str::from_utf8(&self.text[table.clone()]).unwrap_or_default().lines();
        let is_emptied = lines.skip(1).all(|line| line.trim().is_empty());
        let table = self.in_file(table);
        let mut replaced = self.fields.iter().filter(|(_, at)| table.contains(at));
        // Each of these fields can replace a period.
        if fault.message.contains("`period`") {
            let paces = ["period", "rate", "outstanding", "deadline"];
            return replaced.any(|(known, _)| is_emptied || paces.contains(&&**known));
        }
        let Some(field) = fault.wanted_field() else { return false };
        replaced.any(|(known, _)| is_emptied || known == field)
    }

    /// Returns the span extended to whole lines.
    fn lines(&self, span: &Range<usize>) -> Range<usize> {
        let start = self.text[..span.start].iter().rposition(|&byte| byte == b'\n');
        let end = self.text[span.end..].iter().position(|&byte| byte == b'\n');
        start.map_or(0, |newline| newline + 1)..end.map_or(self.text.len(), |it| span.end + it)
    }

    /// Returns the table around the start of a span: from its header to the next.
    fn table(&self, span: &Range<usize>) -> Range<usize> {
        let is_header = |at: usize| {
            // Only this line is trimmed: trimming the whole rest would skip replaced lines, which
            // are blank, and find the next header.
            self.text[self.lines(&(at..at))].trim_ascii_start().starts_with(b"[")
        };
        let mut start = self.lines(&(span.start..span.start)).start;
        while start > 0 && !is_header(start) {
            start = self.lines(&(start - 1..start - 1)).start;
        }
        let mut end = self.lines(&(start..start)).end;
        while end < self.text.len() && !is_header(end + 1) {
            end = self.lines(&(end + 1..end + 1)).end;
        }
        start..end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload_file::WorkloadFile;

    fn faults(text: &str) -> Vec<(usize, String)> {
        let first = WorkloadFile::parse(text).unwrap_err();
        let all = all_faults(text, first, WorkloadFile::parse);
        all.into_iter().map(|it| (it.line_and_column(text).0, it.message)).collect()
    }

    /// Goal: every fault is reported once, in the order of the file, except faults that follow from
    /// another.
    #[test]
    fn all_faults_are_found_in_the_order_of_the_file() {
        let text = "drive = \"sata-ssd\"\n[policy]\nname = \"dfq\"\n[[task]]\nname = \"a\"\n\
                    perod = \"1s\"\nperiod = 7\nsize = \"4KiB\"\nop = \"raed\"\n[[task]]\n\
                    name = \"b\"\nsize = \"4KiB\"\n[[task]]\nname = \"c\"\nperiod = \"0s\"\n\
                    size = \"4KiB\"\n";
        let lines: Vec<usize> = faults(text).iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [3, 6, 7, 9, 11, 15], "{:#?}", faults(text));
    }

    /// Goal: a field that is missing because its line was replaced is not reported as a fault.
    #[test]
    fn a_replaced_line_makes_no_second_fault() {
        let load = "drive = \"d\"\n[[best_effort]]\nname = \"l\"\nsize = \"4KiB\"\n";
        let task = "drive = \"d\"\n[[task]]\nname = \"t\"\nsize = \"4KiB\"\ndeadline = \"1s\"\n";
        for text in [
            format!("{load}period = {{ from = \"1s\", step = \"1s\" }}\n"),
            format!("{load}outstanding = 0\n"),
            format!("{task}outstanding = 0\n"),
        ] {
            let found = faults(&text);
            assert!(found.len() == 1 && found[0].0 >= 5, "{found:#?}");
        }
        // The missing `period` (line 3) does not follow from the wrong `op` (line 6): both are
        // reported.
        let lines = |text: &str| faults(text).iter().map(|(line, _)| *line).collect::<Vec<_>>();
        assert_eq!(lines(&format!("{task}op = \"raed\"\n")), [3, 6]);
    }

    /// Goal: a misspelt field hides no fault of its value and its table, and shifts no fault's
    /// position. Method: names that are shorter and longer than the meant ones, before other
    /// faults; a field that is there twice, once misspelt.
    #[test]
    fn misspelt_fields_hide_and_move_nothing() {
        let text = "drive = \"d\"\n[[tasks]]\nname = \"a\"\nperod = 7\nsise = 8\n[[tsk]]\n\
                    name = \"b\"\nperiodd = \"1s\"\nsize = 9\nop = \"raed\"\n";
        let first = WorkloadFile::parse(text).unwrap_err();
        let all = all_faults(text, first, WorkloadFile::parse);
        let at: Vec<&str> = all.iter().map(|it| &text[it.span.clone()]).collect();
        assert_eq!(at, ["tasks", "perod", "7", "sise", "8", "tsk", "periodd", "9", "\"raed\""]);
        let twice = "drive = \"d\"\n[[task]]\nname = \"a\"\nperod = \"1s\"\nperiod = 7\nsize = 8\n";
        let lines: Vec<usize> = faults(twice).iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [4, 5, 6]);
    }

    #[test]
    fn one_fault_stays_one() {
        for text in [
            // A misspelt field also counts as missing.
            "drive = \"d\"\n[[task]]\nname = \"a\"\nperod = \"1s\"\nsize = \"4KiB\"\n",
            "drive = \"d\"\n[[task]]\nname = \"a\"\nperiod = 1\nsize = \"4KiB\"\n",
            "drive = \"d\"\n[[task]]\nname = \"a\"\nsize = \"4KiB\"\n",
            "drive = \"d\"\n[[tasks]]\nname = \"a\"\nperiod = \"1s\"\nsize = \"4KiB\"\n",
            "[drive]\nname = 7\n[[task]]\nname = \"a\"\nperiod = \"1s\"\nsize = \"4KiB\"\n",
            // Without its faulty `outstanding` the entry also lacks a rate, but only because of the
            // first fault.
            "drive = \"d\"\n[[best_effort]]\nname = \"a\"\noutstanding = \"x\"\nsize = \"4KiB\"\n",
            "drive = \n[[task]]\n",
            "{\"a\":",
            "",
        ] {
            assert_eq!(faults(text).len(), 1, "{text}: {:#?}", faults(text));
        }
    }
}
