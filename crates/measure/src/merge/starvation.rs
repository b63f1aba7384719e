// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Merges the starvation time of a drive file with an added measurement: the longest wait ever
//! observed, the kinds of requests it was measured with, and the number of requests on the drive.
//! ```text
//!   finite, finite .... the greater, for the kinds of both, each at its measured depth
//!   endless, any ...... endless: no bound, whatever is measured later
//! ```

use tidegate_model::DriveFile;
use tidegate_model::drive_file::{FamilyTimes, StarvedKind};

use crate::table::{join_families, starved_families};

/// Merges the starvation of `measured` into `file`, and returns a remark if there is one.
pub(super) fn add(file: &mut DriveFile, measured: &DriveFile) -> Option<String> {
    let was_endless = file.is_starvation_endless;
    // A figure that covers all requests still covers all: the greatest time is valid for each kind.
    let is_general = file.starvation_max.is_some() && file.starvation_of.is_empty();
    file.starvation_places = places(file, measured);
    file.is_starvation_endless |= measured.is_starvation_endless;
    file.starvation_max = file.starvation_max.max(measured.starvation_max);
    file.starvation_max = file.starvation_max.filter(|_| !file.is_starvation_endless);
    if !is_general {
        let unsaid = measured.starvation_depth.unwrap_or(measured.depth);
        for kind in &measured.starvation_of {
            add_kind(file, StarvedKind { depth: kind.depth.or(Some(unsaid)), ..*kind });
        }
    }
    (was_endless && measured.starvation_max.is_some()).then(|| {
        "an earlier measurement saw a request wait without end, so the file gives no starvation \
         bound; for one, measure it into a new file"
            .to_owned()
    })
}

/// Returns the starvation times by families of places from both files; empty if neither has any, or
/// if a request waited without end.
fn places(file: &DriveFile, measured: &DriveFile) -> Vec<FamilyTimes> {
    let is_endless = file.is_starvation_endless || measured.is_starvation_endless;
    if is_endless || file.starvation_places.is_empty() && measured.starvation_places.is_empty() {
        return Vec::new();
    }
    join_families(&starved_families(file), starved_families(measured))
}

/// Adds a kind of request, with the greater depth if the file already has that kind.
fn add_kind(file: &mut DriveFile, kind: StarvedKind) {
    let unsaid = file.starvation_depth.unwrap_or(file.depth);
    let is_it = |known: &&mut StarvedKind| (known.op, known.size) == (kind.op, kind.size);
    match file.starvation_of.iter_mut().find(is_it) {
        Some(known) => known.depth = Some(known.depth.unwrap_or(unsaid)).max(kind.depth),
        None => file.starvation_of.push(kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive(depth: u32, lines: &str) -> DriveFile {
        let text = format!(
            "name = \"d\"\nkind = \"recorded\"\ndepth = {depth}\n{lines}\n\
             [[batch]]\nop = \"read\"\nsize = \"4KiB\"\nns_max = [1]\n"
        );
        DriveFile::parse(&text).unwrap()
    }

    fn of(op: &str, depth: u32) -> String {
        format!("starvation_of = [{{ op = \"{op}\", size = \"4KiB\", depth = {depth} }}]")
    }

    fn sum(known: &DriveFile, new: &DriveFile) -> (DriveFile, Option<String>) {
        let (sum, said) = crate::merge::with_tables_of(known, new, &[]);
        assert_eq!(DriveFile::parse(&sum.to_toml()).unwrap(), sum, "it is read back");
        (sum, said)
    }

    fn depth(file: &DriveFile, op: tidegate_model::Op) -> Option<u32> {
        file.starvation_depth_of(op, tidegate_model::Bytes::from_kib(4))
    }

    /// Goal: the file claims no depth that was not measured. Method: adds a measurement of writes
    /// at depth 8 to the file of a drive of depth 2 that does not state the depth of its starvation
    /// time.
    #[test]
    fn a_starvation_stays_at_the_depth_at_which_it_was_measured() {
        let known = drive(2, "starvation_ns_max = 10");
        let new = drive(8, &format!("starvation_ns_max = 7\n{}", of("write", 8)));
        let (sum, _) = sum(&known, &new);
        assert_eq!((sum.depth, sum.starvation_max.unwrap().ns()), (8, 10));
        assert_eq!(
            [tidegate_model::Op::Read, tidegate_model::Op::Write].map(|op| depth(&sum, op)),
            [Some(2); 2]
        );
    }

    #[test]
    fn kinds_keep_their_own_depth_and_the_deeper_of_two() {
        let at = |ns: u64, op: &str, depth: u32| {
            drive(8, &format!("starvation_ns_max = {ns}\n{}", of(op, depth)))
        };
        let (both, _) = sum(&at(100, "read", 8), &at(10, "write", 2));
        assert_eq!(
            [tidegate_model::Op::Read, tidegate_model::Op::Write].map(|op| depth(&both, op)),
            [Some(8), Some(2)]
        );
        for (known, new) in [(8, 2), (2, 8)] {
            let (sum, _) = sum(&at(100, "read", known), &at(10, "read", new));
            assert_eq!(
                (sum.starvation_max.unwrap().ns(), depth(&sum, tidegate_model::Op::Read)),
                (100, Some(8))
            );
        }
    }

    #[test]
    fn a_wait_without_end_is_not_forgotten() {
        let endless = drive(2, "starvation_endless = true");
        let finite = drive(2, &format!("starvation_ns_max = 10\n{}", of("read", 2)));
        for (known, new) in [(&endless, &finite), (&finite, &endless)] {
            let (sum, said) = sum(known, new);
            assert_eq!((sum.starvation_max, sum.is_starvation_endless), (None, true));
            assert_eq!(said.is_some(), known.is_starvation_endless, "{said:?}");
        }
    }
}
