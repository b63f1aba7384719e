// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests families of places: which times a drive file keeps, and which of them a workload is
//! charged.

use crate::common::Fault;
use tidegate_model::drive_file::PlaceFamily::{self, BothEnds, Climbed, Random};
use tidegate_model::drive_file::{FamilyTimes, MeasuredTable};
use tidegate_model::serve_file::Layout;
use tidegate_model::{Bytes, DriveFile, Duration, Premise, PremiseCode, ServeFile, WorkloadFile};

const DRIVE: &str = r#"
name = "disk"
kind = "recorded"
depth = 2
starvation_ns_max = 50

[[starvation_places]]
places = "random"
ns_max = [40]

[[starvation_places]]
places = "both_ends"
ns_max = [50]

[[batch]]
op = "read"
size = "128KiB"
ns_max = [10, 20]

[[batch.families]]
places = "random"
samples = 1000
ns_max = [8, 19]
ns_p99 = [7, 18]

[[batch.families]]
places = "both_ends"
samples = 50
screened = true
ns_max = [10, 15]

[[batch.families]]
places = "climbed"
ns_max = [9]

[[mixed]]
request = [{ op = "read", size = "4KiB" }, { op = "write", size = "4KiB" }]
counts = [[1, 1]]
ns_max = [12]

[[mixed.places]]
places = "climbed"
ns_max = [13]
"#;

fn drive() -> DriveFile {
    DriveFile::parse(DRIVE).unwrap()
}

fn b(lines: &str, drive: &DriveFile) -> Vec<u64> {
    let text = format!(
        "drive = \"disk\"\n{lines}\n[[task]]\nname = \"t\"\nperiod = \"1s\"\nsize = \"128KiB\"\n"
    );
    let workload = WorkloadFile::parse(&text).unwrap().bind(drive).unwrap();
    (1..=workload.table.batch_max()).map(|i| workload.table.time_max(i).ns()).collect()
}

#[test]
fn families_are_read_and_written_back() {
    let drive = drive();
    assert_eq!(DriveFile::parse(&drive.to_toml()).unwrap(), drive);
    let [random, ends, climbed] = &drive.batch[0].families[..] else { panic!("{drive:?}") };
    assert_eq!(
        (random.places, random.samples, &random.ns_p99[..]),
        (Random, Some(1000), &[7, 18][..])
    );
    assert_eq!((ends.places, ends.screened, climbed.places), (BothEnds, true, Climbed));
    assert_eq!(drive.mixed[0].ns_max, [13], "the longest of all families");
    assert_eq!(drive.batch[0].random_ns_max(), [8, 19]);
}

/// Goal: b(i) is the longest of all families, even where the table's own figure is lower. Method: a
/// family raised above the table by hand.
#[test]
fn a_bound_rests_on_the_longest_of_all_families() {
    assert_eq!(b("", &drive()), [10, 20]);
    let higher = DriveFile::parse(&DRIVE.replace("[8, 19]", "[11, 19]")).unwrap();
    assert_eq!(b("", &higher), [11, 20]);
    assert_eq!(higher.batch[0].ns_max, [11, 20]);
}

/// Goal: only a family that is stated not to occur is left out. Method: b(2) = 20 belongs to no
/// family, so it stays; b(1) belongs to both ends.
#[test]
fn absent_places_leave_their_times_out() {
    assert_eq!(b("absent_places = [\"both_ends\"]", &drive()), [9, 20]);
    assert_eq!(b("absent_places = [\"both_ends\", \"climbed\"]", &drive()), [8, 20]);
    assert_eq!(b("absent_places = [\"track\"]", &drive()), [10, 20]);
    let without = drive().without_places(&[BothEnds]);
    assert_eq!(without.starvation_max, Some(Duration::from_ns(40)));
    assert_eq!(without.batch[0].families.len(), 2);
}

#[test]
fn places_that_were_not_measured_are_named() {
    let missing = drive().batch[0].missing_families();
    let [clusters, track, sequential, climbed] = missing[..] else { panic!("{missing:?}") };
    let names = [clusters, track, sequential, climbed].map(PlaceFamily::name);
    assert_eq!(names, ["clusters", "track", "sequential", "climbed"], "climbed lacks b(2)");
}

#[test]
fn faulty_families_are_refused() {
    let refused = |from: &str, to: &str| Fault::of(&DRIVE.replace(from, to), DriveFile::parse);
    let fault = refused("ns_max = [10, 15]", "ns_max = [10, 15, 16]");
    let said = "`both_ends` places of [[batch.families]] have 3 entries";
    fault.says(said, "[10, 20]", "measure the places again");
    let fault = refused("\"both_ends\"\nsamples", "\"random\"\nsamples");
    assert!(fault.message.contains("are there twice"), "{fault:?}");
    let fault = refused("ns_p99 = [7, 18]", "ns_p99 = [7]");
    assert!(fault.message.contains("differ in length"), "{fault:?}");
    let fault = refused("ns_max = [9]", "ns_max = [0]");
    assert!(fault.message.contains("a time of 0"), "{fault:?}");
}

#[test]
fn absent_places_may_not_contradict_the_sources() {
    let text = "drive = \"d\"\nabsent_places = [\"sequential\"]\n[[task]]\nname = \"t\"\n\
                period = \"1s\"\nsize = \"4KiB\"\nplace = \"sequential\"\n";
    let fault = Fault::of(text, WorkloadFile::parse);
    fault.says("`t` may have sequential places", "\"t\"", "delete \"sequential\"");
    let all = PlaceFamily::ALL.map(|it| format!("\"{it}\"")).join(", ");
    let none = text
        .replace("\"sequential\"]", &format!("{all}]"))
        .replace("\"sequential\"\n", "{ from = \"0%\", to = \"1%\" }\n");
    let fault = Fault::of(&none, WorkloadFile::parse);
    assert!(fault.message.contains("names every family"), "{fault:?}");
}

/// Goal: a serve file leaves places out as a workload file does.
#[test]
fn a_serve_file_states_absent_places() {
    let text = |absent: &str| {
        format!(
            "simulate = \"disk\"\nlisten = \"127.0.0.1:1\"\nread_only = true\n{absent}\n[[export]]\n\
             name = \"a\"\nsize = \"1MiB\"\ncontract = {{ period = \"1s\", size_max = \"128KiB\" }}\n"
        )
    };
    let b1 = |absent: &str| {
        let bound = ServeFile::parse(&text(absent)).unwrap().bind(&drive()).unwrap();
        bound.workload.table.time_max(1).ns()
    };
    assert_eq!((b1(""), b1("absent_places = [\"both_ends\"]")), (10, 9));
}

/// Goal: tasks at the ends of a drive cannot state that the places they have do not occur.
#[test]
fn a_range_contradicts_absent_families() {
    let at = |places: &[(&str, &str)], absent: &str| {
        let task = |(index, (from, to)): (usize, &(&str, &str))| {
            format!(
                "[[task]]\nname = \"t{index}\"\nperiod = \"1s\"\nsize = \"4KiB\"\n\
                 place = {{ from = \"{from}\", to = \"{to}\" }}\n"
            )
        };
        let tasks: String = places.iter().enumerate().map(task).collect();
        format!("drive = \"d\"\nabsent_places = [{absent}]\n{tasks}")
    };
    let ends = [("0%", "0.5%"), ("99.5%", "100%")];
    for family in ["both_ends", "climbed", "clusters"] {
        let text = at(&ends, &format!("\"{family}\""));
        let fault = Fault::of(&text, WorkloadFile::parse);
        let help = format!("delete \"{family}\" from absent_places");
        fault.says(&format!("may have {family} places"), "\"t0\"", &help);
    }
    let refuses = |places: &[(&str, &str)], absent: &str| {
        WorkloadFile::parse(&at(places, &format!("\"{absent}\""))).is_err()
    };
    assert!(!refuses(&ends, "random"), "narrow places are no random ones");
    assert!(!refuses(&ends, "sequential"));
    assert!(!refuses(&[("0%", "0.5%"), ("30%", "31%")], "both_ends"), "none is far away");
    assert!(refuses(&[("0%", "0.5%"), ("30%", "31%")], "clusters"));
    assert!(refuses(&[("0%", "80%")], "both_ends") && refuses(&[("0%", "80%")], "random"));
    assert!(!refuses(&[("0%", "80%")], "track") && refuses(&[("0%", "0.1%")], "track"));
}

/// Goal: a task of runs cannot state that clusters or distant places do not occur: a job that ends
/// one run and starts another uses both.
#[test]
fn runs_contradict_all_absent_families_but_track() {
    for (family, is_refused) in [
        ("random", true),
        ("sequential", true),
        ("both_ends", true),
        ("clusters", true),
        ("climbed", true),
        ("track", false),
    ] {
        let text = format!(
            "drive = \"d\"\nabsent_places = [\"{family}\"]\n[[task]]\nname = \"t\"\nperiod = \"1s\"\n\
             requests = 8\nsize = \"4KiB\"\nplace = {{ run = 4 }}\n"
        );
        assert_eq!(WorkloadFile::parse(&text).is_err(), is_refused, "{family}");
    }
}

/// Goal: exports that share a drive lie at different places, so a serve file cannot rule out the
/// families that such places form.
#[test]
fn several_exports_contradict_absent_families() {
    let text = |absent: &str| {
        let export = |name: &str| {
            format!(
                "[[export]]\nname = \"{name}\"\nsize = \"1MiB\"\n\
                 contract = {{ period = \"1s\", size_max = \"128KiB\" }}\n"
            )
        };
        format!(
            "simulate = \"disk\"\nlisten = \"127.0.0.1:1\"\nread_only = true\n\
             absent_places = [\"{absent}\"]\n{}{}",
            export("a"),
            export("b")
        )
    };
    for family in ["both_ends", "climbed", "clusters"] {
        let fault = Fault::of(&text(family), ServeFile::parse);
        let place = format!("[\"{family}\"]");
        fault.says(&format!("exports may have {family} places"), &place, "delete");
    }
    ServeFile::parse(&text("track")).unwrap();
    // An export that joins a running service invalidates what was stated for a single export.
    let single = "simulate = \"disk\"\nlisten = \"127.0.0.1:1\"\nread_only = true\n\
                  absent_places = [\"both_ends\"]\n[[export]]\nname = \"a\"\nsize = \"1MiB\"\n\
                  contract = { period = \"1s\", size_max = \"128KiB\" }\n";
    let single = ServeFile::parse(single).unwrap();
    let layout = Layout { size: Bytes::from_kib(65_536), alignment: Bytes::from_kib(4) };
    let two = ServeFile::parse(&text("track")).unwrap().exports(layout).unwrap();
    let b1 = |file: &ServeFile| file.bind(&drive()).unwrap().workload.table.time_max(1).ns();
    assert_eq!((b1(&single), b1(&single.with_exports(&two))), (9, 10));
}

/// Goal: a table without families was measured at random places, so it covers a workload that uses
/// only random places.
#[test]
fn an_old_table_was_measured_at_random_places() {
    let old = DriveFile::parse(
        "name = \"old\"\nkind = \"recorded\"\ndepth = 2\n[[batch]]\nop = \"read\"\n\
         size = \"128KiB\"\nns_max = [10, 20]\n",
    )
    .unwrap();
    let doubts = |lines: &str| doubts(&task(lines, ""), &old);
    let others = "\"both_ends\", \"clusters\", \"track\", \"sequential\", \"climbed\"";
    assert_eq!(doubts(&format!("absent_places = [{others}]")), []);
    let [(code, text)] = &doubts("")[..] else { panic!("places were not measured") };
    assert_eq!(*code, PremiseCode::PlacesUnmeasured);
    assert!(text.contains("at both_ends, clusters, track"), "{text}");
    // A table that was measured only elsewhere does not cover the workload, even if the workload
    // rules those places out.
    let ends = DriveFile { batch: vec![ends_only(&drive())], ..old.clone() };
    let all = self::doubts(&task(&format!("absent_places = [{others}]"), ""), &ends);
    assert!(all.iter().any(|(_, text)| text.contains("at random places")), "{all:?}");
}

fn ends_only(drive: &DriveFile) -> MeasuredTable {
    let table = &drive.batch[0];
    let is_ends = |it: &&FamilyTimes| it.places == BothEnds;
    MeasuredTable {
        families: table.families.iter().filter(is_ends).cloned().collect(),
        ..table.clone()
    }
}

fn task(lines: &str, place: &str) -> String {
    format!(
        "drive = \"disk\"\n{lines}\n[[task]]\nname = \"t\"\nperiod = \"1s\"\nsize = \"128KiB\"\n{place}\n"
    )
}

/// Returns the premises about places that were not measured.
fn doubts(text: &str, drive: &DriveFile) -> Vec<(PremiseCode, String)> {
    let workload = WorkloadFile::parse(text).unwrap().bind(drive).unwrap();
    let codes = [PremiseCode::PlacesUnmeasured, PremiseCode::PlacesSetUnmeasured];
    let of_places = workload.premises.iter().filter(|it| codes.contains(&it.code));
    let told = |it: &Premise| [&it.text[..], it.to_do.as_deref().unwrap_or_default()].join(": ");
    of_places.map(|it| (it.code, told(it))).collect()
}

/// Goal: costs without measured mixed batches do not count as measured at the places that a
/// workload sets.
#[test]
fn costs_without_mixed_batches_escape_no_places() {
    let families = PlaceFamily::ALL
        .map(|family| format!("[[batch.families]]\nplaces = \"{family}\"\nns_max = [10, 20]\n"));
    let table = |op: &str| {
        format!(
            "[[batch]]\nop = \"{op}\"\nsize = \"128KiB\"\nns_max = [10, 20]\n{}",
            families.concat()
        )
    };
    let cost =
        |op: &str| format!("[[cost.request]]\nop = \"{op}\"\nsize = \"128KiB\"\nns_max = 10\n");
    let text = format!(
        "name = \"disk\"\nkind = \"recorded\"\ndepth = 2\n{}{}[cost]\npositioning_ns_max = 5\n{}{}",
        table("read"),
        table("write"),
        cost("read"),
        cost("write")
    );
    let drive = DriveFile::parse(&text).unwrap();
    let at = "place = { from = \"0%\", to = \"0.5%\" }";
    assert_eq!(doubts(&task("", at), &drive), [], "every table has all families");
    let both = task("", at)
        + "[[task]]\nname = \"w\"\nperiod = \"1s\"\nsize = \"128KiB\"\nop = \"write\"\n";
    let [(code, text)] = &doubts(&both, &drive)[..] else { panic!("of the costs") };
    assert_eq!(*code, PremiseCode::PlacesSetUnmeasured);
    assert!(text.contains("has no mixed batches at both_ends"), "{text}");
    let command = "--only mixed --op read,write --size 128KiB --allow-writes --add";
    assert!(text.contains(command), "{text}");
}
