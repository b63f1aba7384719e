// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests families of places: what a drive file keeps of them, and which of them a workload is
//! charged for.

mod common;

use common::Fault;
use tidegate_model::drive_file::PlaceFamily::{self, BothEnds, Climbed, Random};
use tidegate_model::{DriveFile, Duration, ServeFile, WorkloadFile};

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

/// Goal: b(i) is the longest of all families, also where the row's own figure is lower. Method: a
/// family raised above the row by hand.
#[test]
fn a_bound_rests_on_the_longest_of_all_families() {
    assert_eq!(b("", &drive()), [10, 20]);
    let higher = DriveFile::parse(&DRIVE.replace("[8, 19]", "[11, 19]")).unwrap();
    assert_eq!(b("", &higher), [11, 20]);
    assert_eq!(higher.batch[0].ns_max, [11, 20]);
}

/// Goal: only a family that is stated not to occur is left out. Method: b(2) of 20 is of no
/// family, so it stays; b(1) is of both ends.
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
    fault.says("`t` has sequential places", "\"t\"", "delete \"sequential\"");
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
