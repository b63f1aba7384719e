// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The files that are used: given files, files beside them, and replacements.

use std::path::Path;

use tidegate_disksim::{FileKind, Import};

use crate::common::{LAYOUT, MODEL, MemoryFiles, SEEK, SPECS, SYSTEM, disk};

fn used(import: &Import) -> Vec<&str> {
    import.report.used.iter().map(|used| used.path.to_str().unwrap()).collect()
}

fn how<'a>(import: &'a Import, path: &str) -> &'a str {
    let used = &import.report.used;
    let used = used.iter().find(|used| used.path == Path::new(path)).expect("it was used");
    used.how.as_deref().unwrap_or("given")
}

#[test]
fn files_may_be_given_in_any_order() {
    let disk = disk();
    let mut paths = ["d.diskspecs", "d.model", "d.layout", "d.seek"];
    let first = disk.imported(&paths);
    assert_eq!(used(&first), paths);
    for _ in 0..4 {
        paths.rotate_left(1);
        assert_eq!(disk.imported(&paths), first);
        let backwards: Vec<&str> = paths.iter().rev().copied().collect();
        assert_eq!(disk.imported(&backwards), first);
    }
}

#[test]
fn one_file_leads_to_all_others_beside_it() {
    let import = disk().imported(&["d.diskspecs"]);
    assert_eq!(used(&import), ["d.diskspecs", "d.model", "d.layout", "d.seek"]);
    assert_eq!(how(&import, "d.seek"), "beside d.model");
}

#[test]
fn a_folder_stands_for_its_files_and_only_those_of_a_disk_are_read() {
    let shelf = MemoryFiles::default()
        .with("f/d.diskspecs", SPECS)
        .with("f/d.model", MODEL)
        .with("f/d.layout", LAYOUT)
        .with("f/d.seek", SEEK)
        .with("f/d.trace", "R Hit 12 4 100.0 200.0\n")
        .with("f/notes.txt", "nothing { of a disk");
    let import = shelf.imported(&["f"]);
    assert_eq!(import.report.used.len(), 4);
    assert_eq!(import.report.notes, Vec::<String>::new());
}

#[test]
fn a_given_file_goes_before_the_one_beside() {
    let shelf = disk().with("other/d.seek", "1, 7.0\n");
    let import = shelf.imported(&["d.diskspecs", "other/d.seek"]);
    assert_eq!(how(&import, "other/d.seek"), "given");
    assert!(!used(&import).contains(&"d.seek"));
}

#[test]
fn the_only_file_of_its_kind_stands_in_for_one_that_is_nowhere() {
    let renamed = disk().without("d.seek").with("x.seek", SEEK);
    let import = renamed.imported(&["d.diskspecs"]);
    assert_eq!(how(&import, "x.seek"), "in place of `d.seek`: the only file of its kind beside it");

    let elsewhere = disk().without("d.seek").with("x/y.seek", SEEK).with("z.seek", "1, 9.9\n");
    let import = elsewhere.imported(&["d.diskspecs", "x/y.seek"]);
    assert!(how(&import, "x/y.seek").ends_with("among the given files"), "before those beside");
}

#[test]
fn one_of_several_candidates_is_not_guessed() {
    let shelf = disk().without("d.seek").with("x.seek", SEEK).with("y.seek", "1, 9.9\n");
    let (message, help) = shelf.refusal(&["d.diskspecs"]);
    for part in ["d.model names `d.seek`, a seek curve", "x.seek, y.seek"] {
        assert!(message.contains(part), "{part} in {message}");
    }
    assert!(help.contains("only one of these"), "{help}");
}

#[test]
fn a_missing_file_is_an_error_with_its_reference_and_help() {
    for (path, by, kind) in [
        ("d.model", "d.diskspecs", "a disk's mechanics"),
        ("d.layout", "d.model", "a layout"),
        ("d.seek", "d.model", "a seek curve"),
    ] {
        let (message, help) = disk().without(path).refusal(&["d.diskspecs"]);
        assert!(message.starts_with(&format!("{by} names `{path}`, {kind}")), "{message}");
        assert!(help.contains(&format!("give the path of `{path}`")), "{help}");
    }
}

#[test]
fn a_system_beside_the_disk_that_sources_it_gives_the_bus() {
    let import = disk().with("d.parv", SYSTEM).imported(&["d.diskspecs"]);
    assert_eq!(how(&import, "d.parv"), "beside d.diskspecs, and sources it");
    let bus = import.drive.mechanics.unwrap().bus;
    assert_eq!((bus.read_sector_ps, bus.write_sector_ps), (51_200_000, 20_000_000));

    let of_another = SYSTEM.replace("source d.diskspecs", "source e.diskspecs");
    let import = disk().with("e.parv", &of_another).imported(&["d.diskspecs"]);
    assert_eq!(used(&import), ["d.diskspecs", "d.model", "d.layout", "d.seek"]);
}

#[test]
fn a_system_alone_leads_to_its_disk() {
    let import = disk().with("s.parv", SYSTEM).imported(&["s.parv"]);
    assert_eq!(import.drive.name, "made-up-1");
    assert_eq!(how(&import, "d.diskspecs"), "beside s.parv");
    assert_eq!(import.report.used.last().unwrap().kind, FileKind::System);
}

#[test]
fn of_several_systems_the_one_named_after_the_disk_is_meant() {
    let slow = SYSTEM.replace("0.0512", "0.5");
    let import = disk().with("a.parv", &slow).with("d.parv", SYSTEM).imported(&["d.diskspecs"]);
    assert!(used(&import).contains(&"d.parv") && !used(&import).contains(&"a.parv"));
    assert!(import.report.notes.iter().any(|note| note.contains("2 systems")));
}

#[test]
fn a_disk_may_be_all_in_one_file() {
    let inline = |text: &str| text.trim().to_owned();
    let model = MODEL.replace("source d.layout", &inline(LAYOUT));
    let specs = SPECS.replace("source d.model", &inline(&model));
    let import = MemoryFiles::default().with("all", &specs).with("d.seek", SEEK).imported(&["all"]);
    let apart = disk().imported(&["d.diskspecs"]);
    assert_eq!(import.drive.mechanics, apart.drive.mechanics);
}

#[test]
fn mechanics_alone_are_a_drive_of_one_request_at_a_time() {
    let import = disk().imported(&["d.model"]);
    let mechanics = import.drive.mechanics.unwrap();
    assert_eq!((import.drive.depth, mechanics.cache), (1, None));
    assert!(import.report.missing[0].starts_with("no disksim_disk"));
    assert_eq!(mechanics.chosen, import.report.missing, "what was chosen stands in the file");
}

#[test]
fn several_disks_are_refused_by_name_and_copies_are_one() {
    let shelf = disk().with("e.diskspecs", &SPECS.replace("Made_Up-1", "Other"));
    let (message, _) = shelf.refusal(&["d.diskspecs", "e.diskspecs"]);
    assert!(message.contains("disksim_disk Made_Up-1 in d.diskspecs"), "{message}");
    assert!(message.contains("disksim_disk Other in e.diskspecs"), "{message}");

    let shelf = disk().with("copy/d.diskspecs", SPECS);
    shelf.imported(&["d.diskspecs", "./d.diskspecs", "copy/d.diskspecs"]);
}

#[test]
fn files_without_a_disk_are_refused() {
    let (message, help) = disk().refusal(&["d.seek", "d.layout"]);
    assert_eq!(message, "no given file describes a disk: d.seek, d.layout");
    assert!(help.contains(".diskspecs"));
    assert!(disk().refusal(&["nowhere"]).0.starts_with("cannot read nowhere"));
}

#[test]
fn unused_files_are_reported() {
    let shelf = disk().with("t.trace", "R Hit 12 4 100.0 200.0\n").with("e.seek", "1, 3.0\n");
    let import = shelf.imported(&["d.diskspecs", "d.seek", "t.trace", "e.seek"]);
    let notes = &import.report.notes;
    assert!(notes.iter().any(|note| note.contains("t.trace is not a parameter file")), "{notes:?}");
    assert!(notes.iter().any(|note| note == "e.seek was not used"), "{notes:?}");
}

#[test]
fn files_that_source_each_other_in_a_circle_are_refused() {
    let shelf = disk().with("a.parv", "source b.parv\n").with("b.parv", "# b\nsource a.parv\n");
    let (message, _) = shelf.refusal(&["a.parv"]);
    assert!(message.contains("`a.parv` leads back to this file"), "{message}");
    let selfish = disk().with("d.layout", "source d.layout\n");
    let (message, _) = selfish.refusal(&["d.diskspecs"]);
    assert!(message.contains("leads back"), "{message}");
}

#[test]
fn a_named_file_that_is_something_else_is_refused_where_it_is_named() {
    let (message, _) = disk().changed("d.model", "d.layout", "d.seek").refusal(&["d.diskspecs"]);
    assert!(
        message.contains("d.seek does not contain a layout") || message.contains("is no layout"),
        "{message}"
    );
    let (message, _) = disk().with("d.seek", "1, 2\nthree\n").refusal(&["d.diskspecs"]);
    assert!(message.contains("d.seek: `three` is not a point of a seek curve"), "{message}");
}

#[test]
fn a_broken_file_is_shown_with_its_place() {
    let shelf = disk().changed("d.layout", "Zones = [", "Zones = = [");
    let error = shelf.import(&["d.diskspecs"]).unwrap_err();
    let tidegate_disksim::ImportError::Faulty(fault) = error else { panic!("{error}") };
    assert_eq!(fault.path, Path::new("d.layout"));
    assert_eq!(fault.error.line_and_column(&fault.text), (5, 12));
}
