// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests the parameters of policies in workload files.

use crate::common::Fault;
use tidegate_model::parameters::DasParameters;
use tidegate_model::workload_file::WorkloadFile;
use tidegate_model::{BestEffortOrder, DriveFile, Duration, FileError, Parameters, PolicyName};

const DRIVE: &str = "name = \"test drive\"\nkind = \"pseudo\"\ndepth = 1\n\
                     [[batch]]\nop = \"read\"\nsize = \"4KiB\"\nns_max = [5_000_000]\n";

/// Returns a workload file with this `[policy]`.
fn file(policy: &str) -> String {
    let source = "[[task]]\nname = \"camera\"\nperiod = \"300ms\"\nsize = \"4KiB\"\n";
    format!("drive = \"test drive\"\n{policy}{source}")
}

/// Returns the parameters of a file; `asked` are the policies that the command line adds.
fn bound(text: &str, asked: &[PolicyName]) -> Result<Parameters, FileError> {
    let mut file = WorkloadFile::parse(text)?;
    file.also_try(asked);
    Ok(file.bind(&DriveFile::parse(DRIVE)?)?.parameters)
}

fn parameters(policy: &str) -> Result<Parameters, FileError> {
    bound(&file(policy), &[])
}

#[test]
fn what_is_not_said_has_its_default() {
    assert_eq!(parameters("").unwrap(), Parameters::default());
    assert_eq!(parameters("[policy]\nname = \"das\"\n").unwrap(), Parameters::default());
    let empty = parameters("[policy]\nname = \"das\"\n[policy.das]\n").unwrap();
    assert_eq!(empty.das, DasParameters { margin: None });
}

#[test]
fn margin_of_das_is_read() {
    let read = parameters("[policy]\nname = \"das\"\ndas.margin = \"1ms\"\n").unwrap();
    assert_eq!(read.das, DasParameters { margin: Some(Duration::from_ms(1)) });
}

#[test]
fn what_das_does_not_know_is_refused() {
    assert!(parameters("[policy]\nname = \"das\"\ndas.margins = \"1ms\"\n").is_err());
    assert!(parameters("[policy]\nname = \"das\"\ndas.margin = 1\n").is_err());
}

/// Returns the fault of this `[policy]`.
fn unused(policy: &str, asked: &[PolicyName]) -> Fault {
    Fault::of(&file(policy), |text| bound(text, asked))
}

/// Returns the fault of a file that shapes best effort with these lines.
fn refused(section: &str, lines: &str) -> Fault {
    let policy = format!("[policy]\nname = \"noop\"\nregulators = [\"{section}\"]\n");
    unused(&format!("{policy}[policy.{section}]\n{lines}\n"), &[])
}

const SHAPERS: [&str; 3] = ["token-bucket", "mdn", "mdn-extended"];

#[test]
fn a_quantity_of_a_shaper_is_refused_where_it_stands_with_an_example() {
    for section in SHAPERS {
        for (line, said, place, advice) in [
            ("burst = 100", "no unit", "100", "ms"),
            ("burst = \"100\"", "no unit", "\"100\"", "ms"),
            ("burst = \"1MB\"", "is not one of its units", "\"1MB\"", "ms"),
            ("write_rate = \"100\"", "no unit", "\"100\"", "\"8MB/s\""),
            ("write_rate = \"0/s\"", "no request would ever be sent", "\"0/s\"", "\"100/s\""),
            ("interactive_rate = \"0%\"", "no request would ever be sent", "\"0%\"", "\"100/s\""),
            ("interactive_rate = \"1.5/s\"", "not a whole number", "\"1.5/s\"", "\"100/s\""),
            ("interactive_rate = \"140%\"", "more than 100%", "\"140%\"", "\"100/s\""),
            ("detect = \"yes\"", "", "\"yes\"", "boolean"),
            ("brust = \"1ms\"", "brust", "brust", ""),
        ] {
            refused(section, line).says(said, place, advice);
        }
    }
}

#[test]
fn rates_of_best_effort_that_contradict_each_other_are_refused() {
    refused("token-bucket", "rate = \"fast\"").says("", "\"fast\"", "reserve");
    let Fault { message, place, help } =
        refused("token-bucket", "rate = \"100/s\"\ncapacity = \"25MB/s\"");
    assert!(message.contains("beside a fixed rate"), "{message}");
    assert!(place.contains("capacity") || place.contains("token-bucket"), "{place}");
    assert!(help.contains("delete one of them"), "{help}");
}

#[test]
fn steering_that_would_never_steer_is_refused() {
    for section in ["mdn", "mdn-extended"] {
        for (lines, said, advice) in [
            ("decrease = \"0%\"", "notices would change nothing", "decrease = \"25%\""),
            ("interval = \"0ms\"", "must be above zero", "interval = \"500ms\""),
            ("window = \"0s\"", "must be above zero", "500ms"),
            (
                "increase = \"1/s\"\nrate_min = \"1kB/s\"",
                "have different units",
                "both in requests",
            ),
        ] {
            let Fault { message, place, help } = refused(section, lines);
            assert!(message.contains(said), "{section}, {lines}: {message}");
            assert!(!place.is_empty(), "{section}, {lines}: it points at nothing");
            assert!(help.contains(advice), "{section}, {lines}: {help}");
        }
        refused(section, "rate = \"100/s\"").says("unknown field", "rate", "");
    }
}

#[test]
fn parameters_of_what_is_not_in_use_are_refused() {
    for (name, line, advice) in [
        ("token-bucket", "rate = \"1/s\"", "regulators = [\"token-bucket\"]"),
        ("depth-limit", "in_flight = 2", "regulators = [\"depth-limit\"]"),
        ("mdn", "mute = \"1s\"", "name = \"mdn\""),
        ("das", "margin = \"1ms\"", "name = \"das\""),
    ] {
        let policy = format!("[policy]\nname = \"dqf\"\n[policy.{name}]\n{line}\n");
        let Fault { message, place, help } = unused(&policy, &[]);
        assert!(message.contains(&format!("`{name}` is not in use")), "{message}");
        assert!(place.contains(name), "{name}: {place}");
        assert!(help.contains(advice), "{help}");
    }
}

/// The command line may name further policies, and regulators count as used.
#[test]
fn parameters_of_what_is_in_use_are_kept() {
    let das = "[policy]\nname = \"dqf\"\n[policy.das]\nmargin = \"1ms\"\n";
    assert!(bound(&file(das), &[PolicyName::Das]).is_ok());
    let regulated =
        "[policy]\nname = \"dqf\"\nregulators = [\"mdn\"]\n[policy.mdn]\nmute = \"1s\"\n";
    assert!(parameters(regulated).is_ok());
}

#[test]
fn a_regulator_that_wraps_itself_is_refused() {
    let twice = "[policy]\nname = \"dqf\"\nregulators = [\"mdn\", \"mdn\"]\n";
    let fault = unused(twice, &[]);
    fault.says("a second regulator `mdn`", "\"mdn\"", "");
    assert_eq!(fault.help, "name each regulator once");
    let same = "[policy]\nname = \"mdn\"\nregulators = [\"mdn\"]\n";
    unused(same, &[]).says("which is the same", "\"mdn\"", "name = \"dqf\"");
    let asked = "[policy]\nname = \"dqf\"\nregulators = [\"mdn\"]\n";
    assert!(bound(&file(asked), &[PolicyName::Mdn]).is_err());
}

/// Returns the order of best effort under `dqf` on a drive that rotates or does not.
fn order(policy: &str, rotates: bool) -> BestEffortOrder {
    let workload = WorkloadFile::parse(&file(policy)).unwrap();
    let host = if rotates { "[identity]\nhost = [\"rotational\"]\n" } else { "" };
    let drive = DriveFile::parse(&format!("{DRIVE}{host}")).unwrap();
    workload.bind(&drive).unwrap().best_effort_order_under(PolicyName::Dqf)
}

/// Goal: the file's order holds everywhere; without one, position counts only on a disk that
/// rotates, and never where best effort joins real time on the drive.
#[test]
fn order_of_best_effort_is_the_files_or_suits_the_drive() {
    assert_eq!(order("", true), BestEffortOrder::Elevator);
    assert_eq!(order("", false), BestEffortOrder::Fifo);
    for named in BestEffortOrder::ALL {
        let policy = format!("[policy]\nname = \"dqf\"\nbest_effort_order = \"{named}\"\n");
        assert_eq!([order(&policy, true), order(&policy, false)], [named; 2]);
    }
    let drive = DriveFile::parse(&format!("{DRIVE}[identity]\nhost = [\"rotational\"]\n")).unwrap();
    let workload = WorkloadFile::parse(&file("")).unwrap().bind(&drive).unwrap();
    for policy in [PolicyName::Rtio, PolicyName::RtioSlots] {
        assert_eq!(workload.best_effort_order_under(policy), BestEffortOrder::Fifo, "{policy}");
    }
}

#[test]
fn unknown_order_is_refused_with_the_known_ones() {
    let policy = "[policy]\nname = \"dqf\"\nbest_effort_order = \"lift\"\n";
    let fault = unused(policy, &[]);
    let fault = format!("{fault:?}");
    for named in BestEffortOrder::ALL {
        assert!(fault.contains(named.name()), "{fault}");
    }
}
