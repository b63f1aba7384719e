// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The drive files that come with Tidegate: they parse, and they say what their source says.

use drive::amortised::{Amortised, transfer_time_scaled_ceil};
use drive::builtin::{self, BuiltinError};
use drive::measured_table;
use model::{Bytes, DriveKind, Duration, Op};

#[test]
fn every_builtin_file_parses_under_its_own_name() {
    for name in builtin::names() {
        assert_eq!(builtin::load(name).unwrap().name, name);
    }
}

/// Goal: nobody has to trust the figures in the file. Method: each entry is computed again
/// from table 7.2.
#[test]
fn maxtor_tables_follow_from_the_published_figures() {
    let file = builtin::load("maxtor-atlas-10k-v").unwrap();
    assert_eq!((file.kind, file.depth), (DriveKind::Pseudo, 64));
    assert_eq!(file.batch.len(), 2);
    let published = Bytes::from_kib(255);
    for size in [Bytes::from_kib(128), published] {
        let disk = Amortised {
            seek_max: Duration::from_us(8_440),
            seek_min: Duration::from_us(2_850),
            rotation_max: Duration::from_us(6_000),
            transfer_max: transfer_time_scaled_ceil(Duration::from_us(5_340), published, size),
        };
        let measured = measured_table(&file, Op::Read, size).unwrap();
        assert_eq!(measured.size, Some(size));
        let expected: Vec<u64> = (1..=64).map(|n| disk.batch_time_max(n).ns()).collect();
        assert_eq!(measured.ns_max, expected);
    }
}

#[test]
fn name_without_a_file_is_refused_with_what_there_is() {
    let error = builtin::load("sata-ssd").unwrap_err();
    assert_eq!(error, BuiltinError::NotInThisVersion { name: "sata-ssd" });
    assert_eq!(
        error.to_string(),
        "drive `sata-ssd` is not in this version; available: maxtor-atlas-10k-v"
    );
    assert!(builtin::is_name("sata-ssd"));
}

#[test]
fn unknown_name_is_refused_as_unknown() {
    let error = builtin::load("floppy").unwrap_err();
    assert!(error.to_string().starts_with("there is no built-in drive `floppy`"));
    assert!(!builtin::is_name("floppy") && !builtin::is_name("./sata-ssd"));
}
