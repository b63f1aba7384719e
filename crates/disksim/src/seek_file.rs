// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads files with a measured seek curve: a distance in cylinders and milliseconds on each line.
//!
//! Commas or blanks separate the columns. Optional columns are a third, the deviation of the
//! measurement, and a fourth, the time of seeks before writes. A header can announce the number
//! of lines.

use tidegate_model::FileError;

use super::decimal;
use super::parse::shortened;

/// The beginning of the optional header.
pub(crate) const HEADER: &str = "Seek distances measured";

/// A measured seek curve.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SeekFile {
    /// The distances in cylinders and the times in ns, sorted by distance; each distance above 0
    /// occurs once.
    pub(crate) points: Vec<(u32, u64)>,
    /// Notes for people about corrections and omissions.
    pub(crate) notes: Vec<String>,
}

/// A line's distance and nanoseconds, and whether it has a separate time for writes.
type Row = (u32, u64, bool);

/// Reads a seek curve.
///
/// # Errors
/// The first line that is not a point, or a text without any point.
pub(crate) fn parse(text: &str) -> Result<SeekFile, FileError> {
    let mut rows = Vec::new();
    let mut announced = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let place = at..at + line.trim_end().len();
        at += line.len();
        let content = content(line);
        match content.strip_prefix(HEADER) {
            Some(count) => announced = count.trim_start_matches(':').trim().parse().ok(),
            None if content.is_empty() => (),
            None => rows.push(row(content).ok_or_else(|| no_row(place, content))?),
        }
    }
    if rows.is_empty() {
        let help = "give lines of a distance in cylinders and milliseconds, as `1, 0.831`";
        return Err(FileError::new(0..0, "the file contains no point of a seek curve", help));
    }
    Ok(curve(rows, announced))
}

/// Returns whether a line belongs to a seek curve: two to four numbers.
pub(crate) fn is_row(line: &str) -> bool {
    row(content(line)).is_some()
}

fn content(line: &str) -> &str {
    line.split('#').next().unwrap_or("").trim_start_matches('\u{feff}').trim()
}

fn row(content: &str) -> Option<Row> {
    let columns: Vec<&str> =
        content.split([',', ';', ' ', '\t']).filter(|column| !column.is_empty()).collect();
    let (&[distance, time], more) = columns.split_first_chunk()?;
    let numbers = more.iter().all(|column| decimal::scaled(column, 0).is_some());
    if more.len() > 2 || !numbers || distance.contains('.') {
        return None;
    }
    let distance = u32::try_from(decimal::scaled(distance, 0)?).ok()?;
    let time_ns = u64::try_from(decimal::scaled(time, 6)?).ok()?;
    Some((distance, time_ns, more.len() == 2))
}

fn no_row(place: std::ops::Range<usize>, content: &str) -> FileError {
    FileError::new(
        place,
        format!("`{}` is not a point of a seek curve", shortened(content)),
        "write a distance in cylinders and milliseconds, as `1, 0.831`",
    )
}

fn curve(mut rows: Vec<Row>, announced: Option<usize>) -> SeekFile {
    let mut notes = Vec::new();
    if let Some(announced) = announced.filter(|&count| count != rows.len()) {
        notes.push(format!("its header announces {announced} points, but it has {}", rows.len()));
    }
    if rows.iter().any(|row| row.2) {
        notes.push("its fourth column, the time of seeks before writes, is not used".to_owned());
    }
    let count = rows.len();
    rows.retain(|row| row.0 > 0);
    if rows.len() < count {
        notes.push("its time for distance 0 is ignored: such a seek takes no time".to_owned());
    }
    // The sort is stable: of points with the same distance the first stays.
    rows.sort_by_key(|row| row.0);
    let sorted = rows.len();
    rows.dedup_by_key(|row| row.0);
    if rows.len() < sorted {
        notes.push("some distances occur more than once: the first of each is used".to_owned());
    }
    SeekFile { points: rows.into_iter().map(|row| (row.0, row.1)).collect(), notes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_tabs_and_further_columns_are_read() {
        let text = "Seek distances measured: 4\n1,\t1.66300\n2, 0.6564, 0.033419\n\n\
                    3 1.264421800 # a comment\r\n10,0.816222,0.0,0.966222\n";
        let file = parse(text).unwrap();
        let expected = [(1, 1_663_000), (2, 656_400), (3, 1_264_422), (10, 816_222)];
        assert_eq!(file.points, expected);
        assert_eq!(file.notes.len(), 1, "the fourth column: {:?}", file.notes);
    }

    #[test]
    fn points_are_sorted_and_each_distance_is_there_once() {
        let file = parse("Seek distances measured: 9\n5,3\n1,1\n5,9\n0,7\n").unwrap();
        assert_eq!(file.points, [(1, 1_000_000), (5, 3_000_000)]);
        assert_eq!(file.notes.len(), 3, "{:?}", file.notes);
    }

    #[test]
    fn a_line_that_is_no_point_is_shown() {
        for (text, line) in [
            ("1,1\n2;x\n", 2),
            ("1\n", 1),
            ("1,2,3,4,5", 1),
            ("-1,2", 1),
            ("1,-2", 1),
            ("1.5,2", 1),
            ("99999999999,1", 1),
            ("1,2,x", 1),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.line_and_column(text).0, line, "{text}: {error}");
        }
        assert!(parse("# nothing\n").unwrap_err().message.contains("no point"));
    }
}
