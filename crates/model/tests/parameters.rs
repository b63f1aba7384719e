// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests the parameters of policies in workload files.

use tidegate_model::parameters::DasParameters;
use tidegate_model::workload_file::WorkloadFile;
use tidegate_model::{DriveFile, Duration, FileError, Parameters, PolicyName};

const DRIVE: &str = "name = \"test drive\"\nkind = \"pseudo\"\ndepth = 1\n\
                     [[batch]]\nop = \"read\"\nsize = \"4KiB\"\nns_max = [5_000_000]\n";

/// Returns the parameters of a file with this `[policy]`.
fn parameters(policy: &str) -> Result<Parameters, FileError> {
    let source = "[[task]]\nname = \"camera\"\nperiod = \"300ms\"\nsize = \"4KiB\"\n";
    let text = format!("drive = \"test drive\"\n{policy}{source}");
    let drive = DriveFile::parse(DRIVE)?;
    Ok(WorkloadFile::parse(&text)?.bind(&drive)?.parameters)
}

#[test]
fn what_is_not_said_has_its_default() {
    assert_eq!(parameters("").unwrap(), Parameters::default());
    assert_eq!(parameters("[policy]\nname = \"das\"\n").unwrap(), Parameters::default());
    let empty = parameters("[policy]\nname = \"das\"\n[policy.das]\n").unwrap();
    assert_eq!(empty.das, DasParameters { margin: Duration::ZERO });
}

#[test]
fn margin_of_das_is_read() {
    let read = parameters("[policy]\nname = \"das\"\ndas.margin = \"1ms\"\n").unwrap();
    assert_eq!(read.das, DasParameters { margin: Duration::from_ms(1) });
}

#[test]
fn what_das_does_not_know_is_refused() {
    assert!(parameters("[policy]\nname = \"das\"\ndas.margins = \"1ms\"\n").is_err());
    assert!(parameters("[policy]\nname = \"das\"\ndas.margin = 1\n").is_err());
}

/// Returns the fault of a file with this shaping: the message, the text that it points at, the
/// advice.
fn refused(section: &str, lines: &str) -> (String, String, String) {
    let drive = DriveFile::parse(DRIVE).unwrap();
    let text = format!(
        "drive = \"test drive\"\n[policy]\nname = \"noop\"\nregulators = [\"{section}\"]\n\
         [policy.{section}]\n{lines}\n\
         [[task]]\nname = \"camera\"\nperiod = \"300ms\"\nsize = \"4KiB\"\n"
    );
    let read = WorkloadFile::parse(&text).and_then(|file| file.bind(&drive));
    let error = read.expect_err("the file must be refused");
    let help = error.help.clone().unwrap_or_default();
    (error.message.clone(), text[error.span].to_owned(), help)
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
        ] {
            let (message, pointed_at, help) = refused(section, line);
            assert!(message.contains(said), "{section}, {line}: {message}");
            assert_eq!(pointed_at, place, "{section}, {line}: {message}");
            assert!(help.contains(advice), "{section}, {line}: {help}");
        }
        let (message, pointed_at, help) = refused(section, "detect = \"yes\"");
        assert!(help.contains("boolean"), "{message}: {help}");
        assert_eq!(pointed_at, "\"yes\"");
        let (message, pointed_at, _) = refused(section, "brust = \"1ms\"");
        assert!(message.contains("brust"), "{message}");
        assert_eq!(pointed_at, "brust");
    }
}

#[test]
fn rates_of_best_effort_that_contradict_each_other_are_refused() {
    let (message, place, help) = refused("token-bucket", "rate = \"fast\"");
    assert!(help.contains("reserve"), "{message}: {help}");
    assert_eq!(place, "\"fast\"");
    let (message, place, help) = refused("token-bucket", "rate = \"100/s\"\ncapacity = \"25MB/s\"");
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
            let (message, place, help) = refused(section, lines);
            assert!(message.contains(said), "{section}, {lines}: {message}");
            assert!(!place.is_empty(), "{section}, {lines}: it points at nothing");
            assert!(help.contains(advice), "{section}, {lines}: {help}");
        }
        let (message, place, _) = refused(section, "rate = \"100/s\"");
        assert!(message.contains("unknown field"), "{message}");
        assert_eq!(place, "rate");
    }
}

/// Returns the fault of this `[policy]`: the message, the text that it points at, the advice.
fn unused(policy: &str, asked: &[PolicyName]) -> Option<(String, String, String)> {
    let text = format!(
        "drive = \"test drive\"\n{policy}\
         [[task]]\nname = \"camera\"\nperiod = \"300ms\"\nsize = \"4KiB\"\n"
    );
    let mut file = WorkloadFile::parse(&text).unwrap();
    file.also_try(asked);
    let error = file.bind(&DriveFile::parse(DRIVE).unwrap()).err()?;
    Some((
        error.message.clone(),
        text[error.span.clone()].to_owned(),
        error.help.unwrap_or_default(),
    ))
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
        let (message, place, help) = unused(&policy, &[]).expect("it changes nothing");
        assert!(message.contains(&format!("`{name}` is not in use")), "{message}");
        assert!(place.contains(name), "{name}: {place}");
        assert!(help.contains(advice), "{help}");
    }
}

/// The command line may name further policies, and regulators count as used.
#[test]
fn parameters_of_what_is_in_use_are_kept() {
    let das = "[policy]\nname = \"dqf\"\n[policy.das]\nmargin = \"1ms\"\n";
    assert_eq!(unused(das, &[PolicyName::Das]), None);
    let regulated =
        "[policy]\nname = \"dqf\"\nregulators = [\"mdn\"]\n[policy.mdn]\nmute = \"1s\"\n";
    assert_eq!(unused(regulated, &[]), None);
}

#[test]
fn a_regulator_that_wraps_itself_is_refused() {
    let twice = "[policy]\nname = \"dqf\"\nregulators = [\"mdn\", \"mdn\"]\n";
    let (message, place, help) = unused(twice, &[]).expect("it is there twice");
    assert!(message.contains("a second regulator `mdn`"), "{message}");
    assert_eq!((place.as_str(), help.as_str()), ("\"mdn\"", "name each regulator once"));
    let same = "[policy]\nname = \"mdn\"\nregulators = [\"mdn\"]\n";
    let (message, place, help) = unused(same, &[]).expect("it wraps itself");
    assert!(message.contains("which is the same") && place == "\"mdn\"", "{message}");
    assert!(help.contains("name = \"dqf\""), "{help}");
    let asked = "[policy]\nname = \"dqf\"\nregulators = [\"mdn\"]\n";
    assert!(unused(asked, &[PolicyName::Mdn]).is_some());
}
