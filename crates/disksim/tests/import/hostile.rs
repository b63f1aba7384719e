// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Invalid texts: for any file content, an import ends with a drive or an error, and such a drive
//! can be built and written.

use proptest::prelude::*;
use tidegate_disksim::{Import, ImportError};
use tidegate_drive::mechanical::MechanicalDrive;
use tidegate_model::DriveFile;

use crate::common::{LAYOUT, MODEL, MemoryFiles, SEEK, SPECS, SYSTEM, disk};
use crate::real;

const FILES: [(&str, &str); 5] = [
    ("d.diskspecs", SPECS),
    ("d.model", MODEL),
    ("d.layout", LAYOUT),
    ("d.seek", SEEK),
    ("d.parv", SYSTEM),
];

/// Text to insert: punctuation marks of the language, out-of-range numbers, and arbitrary text.
fn scraps() -> impl Strategy<Value = String> {
    let signs =
        ["{", "}", "[", "]", ",", "=", "#", "..", "source ", "d.model", " ", "\n", "-", "."];
    let words = [
        "0",
        "-1",
        "4294967295",
        "4294967296",
        "18446744073709551616",
        "1e30",
        "0x7f",
        "-0.0000001",
        "TRACK",
        "disksim_disk X {",
        "dm_disk Y {",
        "source d.parv\n",
        "instantiate [ a .. b ] as",
    ];
    let known: Vec<&str> = signs.iter().chain(&words).copied().collect();
    prop_oneof![4 => prop::sample::select(known).prop_map(str::to_owned), 1 => ".{0,8}"]
}

/// One change of a text: its place, how much is removed, and what is inserted.
#[derive(Debug, Clone)]
struct Change {
    at: prop::sample::Index,
    gone: usize,
    scrap: String,
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = (any::<prop::sample::Index>(), 0..40_usize, scraps());
    prop::collection::vec(change.prop_map(|(at, gone, scrap)| Change { at, gone, scrap }), 1..6)
}

fn changed(text: &str, changes: &[Change]) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for change in changes {
        let at = change.at.index(letters.len() + 1);
        let end = (at + change.gone).min(letters.len());
        letters.splice(at..end, change.scrap.chars());
    }
    letters.into_iter().collect()
}

/// Checks that the result of an import is consistent.
fn check(outcome: Result<Import, ImportError>) {
    match outcome {
        Ok(import) => {
            let drive = &import.drive;
            assert_eq!(&DriveFile::parse(&drive.to_toml()).unwrap(), drive);
            let mechanics = drive.mechanics.as_ref().expect("imports are mechanical");
            MechanicalDrive::new(mechanics, drive.depth.min(4096), 1).expect("it makes a drive");
        }
        Err(error) => assert!(!error.to_string().is_empty() && error.help().len() < 10_000),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn changed_files_are_imported_or_refused(which in 0..FILES.len(), changes in changes()) {
        let (path, text) = FILES[which];
        let shelf = disk().with("d.parv", SYSTEM).with(path, &changed(text, &changes));
        check(shelf.import(&["d.diskspecs", "d.parv"]));
        check(shelf.import(&["."]));
    }

    #[test]
    fn files_cut_off_anywhere_are_imported_or_refused(which in 0..FILES.len(), cut in any::<prop::sample::Index>()) {
        let (path, text) = FILES[which];
        let shelf = disk().with(path, &text[..cut.index(text.len())]);
        check(shelf.import(&["d.diskspecs"]));
    }

    #[test]
    fn anything_at_all_is_imported_or_refused(text in ".{0,200}") {
        check(MemoryFiles::default().with("x", &text).import(&["x"]));
        let disk = disk().with("d.model", &text);
        check(disk.import(&["d.diskspecs"]));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Tests files of real disks, which have features that the invented disk lacks.
    #[test]
    fn changed_files_of_real_disks_are_imported_or_refused(
        which in 0..4_usize,
        changes in changes(),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let Some(folder) = real::drives() else { return Ok(()) };
        let files = [
            ("hp_c2490a.diskspecs", "hp_c2490a.diskspecs"),
            ("hp_c2490a_validate.model", "hp_c2490a_validate.model"),
            ("hp_c2490a_validate.seek", "hp_c2490a_validate.seek"),
            ("l.model", "cheetah15k5/Seagate-Cheetah15k5-skews.layout"),
        ];
        let mut shelf = MemoryFiles::default();
        for (index, (name, path)) in files.into_iter().enumerate() {
            let mut text = std::fs::read_to_string(folder.join(path)).unwrap();
            if index == which {
                text = changed(&text, &changes);
                let end = cut.map_or(text.len(), |cut| cut.index(text.len()));
                text.truncate(text.floor_char_boundary(end));
            }
            shelf = shelf.with(name, &text);
        }
        // The index of another disk: most remaps do not fit, some do.
        let model = std::fs::read_to_string(folder.join("cheetah15k5/Seagate-Cheetah15k5.model")).unwrap();
        shelf = shelf.with("c.model", &model);
        check(shelf.import(&["hp_c2490a.diskspecs"]));
        check(shelf.import(&["c.model", "l.model", "hp_c2490a_validate.seek"]));
    }
}
