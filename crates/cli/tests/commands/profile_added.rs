// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: adding to a drive file loses no observation, and extends no contract beyond the
//! measurements. Method: the program runs on simulated drives; no disk is needed.

use crate::common::Folder;
use tidegate_model::DriveFile;

fn read(folder: &Folder) -> DriveFile {
    let text = std::fs::read_to_string(folder.path().join("d.drive.toml")).unwrap();
    DriveFile::parse(&text).unwrap()
}

/// Measures `drive` into `d.drive.toml`; returns the standard error output.
fn profile(folder: &Folder, drive: &str, more: &str) -> String {
    let more: Vec<&str> = more.split(' ').collect();
    let arguments = [&["profile", drive, "-o", "d.drive.toml"], &more[..]].concat();
    let (code, _, stderr) = folder.run(&arguments);
    assert_eq!(code, 0, "{stderr}");
    stderr
}

/// Goal: a starvation bound that was measured with two requests on the drive does not admit a
/// third. Method: a drive of depth 20, with batches and drains also measured at depth 20.
#[test]
fn starvation_measured_at_a_smaller_depth_limits_best_effort_to_it() {
    let folder = Folder::new();
    let drive = "fujitsu-max3036rc";
    profile(&folder, drive, "--depth 2 --only batch,starvation --samples 20");
    profile(&folder, drive, "--depth 20 --only batch --samples 20 --add");
    assert_eq!(read(&folder).depth, 20);
    folder.file(
        "w.toml",
        "drive = \"d.drive.toml\"\n[policy]\nname = \"rtio\"\n[[task]]\nname = \"t\"\n\
         period = \"300ms\"\nsize = \"128KiB\"\n[[best_effort]]\nname = \"b\"\noutstanding = 450\n\
         size = \"128KiB\"\n",
    );
    let (code, stdout, stderr) = folder.run(&["check", "w.toml"]);
    assert_eq!(code, 0, "{stdout}{stderr}");
    assert!(stdout.contains("at most 1 request of it on the drive at once"), "{stdout}");
    let (code, value) =
        folder.json(&["sim", "w.toml", "--model", "mechanical", "--duration", "30s"]);
    assert_eq!(code, 0, "{value:#}");
}

/// Goal: adding few samples to many never shortens a device's times. Method: the same disk with
/// other seeds.
#[test]
fn a_table_measured_again_with_fewer_samples_keeps_its_longest_times() {
    let folder = Folder::new();
    profile(&folder, "ibm-40k1044", "--depth 6 --only batch,drain --samples 60");
    let before = read(&folder);
    let more = "--depth 3 --only batch,drain --samples 3 --seed 9 --add";
    let said = profile(&folder, "ibm-40k1044", more);
    assert!(
        said.contains("drains of reads of 128KiB: ") && said.contains("keep the earlier"),
        "{said}"
    );
    let after = read(&folder);
    for (before, after) in [(&before.batch, &after.batch), (&before.drain, &after.drain)] {
        assert_eq!((after[0].samples, after[0].ns_max.len()), (Some(60), 6));
        assert!(
            after[0].ns_max.iter().zip(&before[0].ns_max).all(|(after, before)| after >= before)
        );
        assert_eq!(after[0].quantiles_ns, before[0].quantiles_ns);
    }
    let how = after.identity.how.unwrap();
    assert!(how.contains("reads of 128KiB measured again (3 samples of each)"), "{how}");
}

/// Goal: drains that refute the table are included, whenever they were measured.
#[test]
fn adversaries_raise_the_drains_of_an_earlier_measurement() {
    let folder = Folder::new();
    let drive = "maxtor-atlas-10k-v";
    profile(&folder, drive, "--depth 3 --only batch,drain --samples 4");
    let before = read(&folder).drain[0].ns_max.clone();
    profile(&folder, drive, "--depth 3 --only drain-adversary --samples 80 --add");
    let after = read(&folder);
    assert!(after.drain[0].ns_max.iter().zip(&before).any(|(after, before)| after > before));
    assert!(after.drain[0].ns_max.iter().zip(&before).all(|(after, before)| after >= before));
    assert!(after.identity.how.unwrap().contains("drains of reads of 128KiB raised"));
    let more = ["--only=batch,drain-adversary", "--samples=4", "--size=1MiB", "-o", "e.toml"];
    let (code, _, stderr) = folder.run(&[&["profile", drive, "--depth=3"], &more[..]].concat());
    assert!(code == 0 && stderr.contains("no [[drain]] of reads of 1MiB"), "{stderr}");
}

/// Goal: costs that were added later cover the same sizes as costs measured earlier. Method: costs
/// of 8 KiB from two samples; then costs of 4 KiB, which are charged as 8 KiB, from many samples.
#[test]
fn costs_cover_smaller_requests_that_are_added() {
    let folder = Folder::new();
    let common = "--only batch,mixed --depth 4 --allow-writes --op read,write";
    profile(&folder, "sata-ssd", &format!("{common} --size 8KiB --samples 2"));
    profile(&folder, "sata-ssd", &format!("{common} --size 4KiB --samples 40 --add"));
    let file = read(&folder);
    let costs = file.cost.as_ref().expect("costs");
    assert_eq!((file.mixed.len(), costs.requests.len()), (2, 2));
    let batches = file.mixed.iter().flat_map(tidegate_model::drive_file::MixedBatches::batches);
    for (batch, took) in batches {
        assert!(costs.batch_of(batch).expect("4KiB are charged as 8KiB") >= took);
    }
}

/// Goal: a shorter starvation bound does not replace a longer one.
#[test]
fn starvation_that_is_added_does_not_fall() {
    let folder = Folder::new();
    let drive = "fujitsu-max3036rc";
    profile(&folder, drive, "--depth 4 --only batch,starvation --samples 5");
    let before = read(&folder).starvation_max;
    profile(&folder, drive, "--depth 2 --only starvation --samples 1 --add");
    assert!(before.is_some() && read(&folder).starvation_max >= before);
}

/// Goal: the last column of the drain table shows drain(q) of the file. Method: drains after
/// requests far apart, which raise it above those from random positions.
#[test]
fn drains_are_shown_as_the_file_has_them() {
    let folder = Folder::new();
    let only = "--only=batch,drain,drain-adversary";
    let line = ["profile", "fujitsu-max3036rc", "--depth=4", only, "--samples=12", "-o"];
    let (code, stdout, stderr) = folder.run(&[&line[..], &["d.drive.toml"]].concat());
    assert_eq!(code, 0, "{stderr}");
    let drain = &read(&folder).drain[0].ns_max;
    let rows = stdout.split("Drains, ").nth(1).expect("the drains").lines().skip(2);
    let mut is_raised = false;
    for (row, q) in rows.zip([1, 2, 4]) {
        let us: Vec<u64> = row
            .split_whitespace()
            .skip(1)
            .map(|cell| cell.trim_end_matches("ms").replace('.', "").parse().unwrap())
            .collect();
        let (shown, starts) = us.split_last().unwrap();
        let longest = drain[..q].iter().max().unwrap().div_ceil(1_000);
        assert_eq!(*shown, longest, "drain({q}): {stdout}");
        is_raised |= starts[3..].iter().any(|us| us > starts[..3].iter().max().unwrap());
    }
    assert!(is_raised, "no drain after requests far apart is longer: {stdout}");
}
