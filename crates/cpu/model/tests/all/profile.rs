// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests how processor profiles are read and written, and that errors give their position.

use tidegate_cpu_model::{CpuProfile, DemandFit, LoadFit};
use tidegate_model::{Duration, FileError};

/// The profile of the task in figure 5.8, which steals 2 ms in every 10 ms.
const THIEF: &str = r#"
name = "thief"
[conditions]
cpu = 1
priority = 90
trials = 1000
when = "2026-11-22T10:00:00Z"
where = "a host"
how = "by hand"
host = ["nothing else ran"]
[stolen]
interval_ns = [1_000_000, 2_000_000, 10_000_000, 12_000_000]
ns_max = [1_000_000, 2_000_000, 1_900_000, 4_000_000]
[fit.demand]
utilization_ppb = 200_000_000
offset_ns = 1_600_000
[fit.load]
utilization_ppb = 200_000_000
period_ns = 10_000_000
"#;

/// Goal: the example in the documentation is valid.
#[test]
fn the_profile_of_the_documentation_is_one() {
    let page = include_str!("../../../../../docs/reference/processor-file.md");
    let shown = page.split("```toml\n").find(|text| text.starts_with("name = "));
    let text = shown.and_then(|text| text.split("```").next()).expect("the page shows a profile");
    let profile = CpuProfile::parse(text).unwrap();
    assert!(profile.demand_fit.is_some() && profile.load_fit.is_some());
}

fn refusal(from: &str, to: &str) -> (String, String) {
    assert!(THIEF.contains(from), "{from}");
    let text = THIEF.replacen(from, to, 1);
    let FileError { message, span, help } = CpuProfile::parse(&text).expect_err("it is refused");
    assert!(help.is_some(), "{message}");
    (message, text[span].to_owned())
}

#[test]
fn a_profile_is_read_and_written_back() {
    let profile = CpuProfile::parse(THIEF).unwrap();
    assert_eq!((profile.conditions.cpu, profile.conditions.priority), (1, Some(90)));
    assert_eq!(profile.points[1].load_ppb(), 1_000_000_000);
    assert_eq!(profile.points[3].load_ppb(), 333_333_334);
    assert_eq!(CpuProfile::parse(&profile.to_toml()).unwrap(), profile);
}

/// Theorem 5.4.1: time stolen in 2 ms can also be stolen in 10.
#[test]
fn the_running_maximum_replaces_lower_points() {
    let raised = CpuProfile::parse(THIEF).unwrap().running_max();
    let stolen: Vec<u64> = raised.iter().map(|point| point.stolen_max.ns() / 1_000).collect();
    assert_eq!(stolen, [1_000, 2_000, 2_000, 4_000]);
}

/// 5.3.0.9 times D is 5.3.0.6: e = 2, p = 10 has the offset e (1 - u) = 1.6.
#[test]
fn both_fits_are_lines_of_demand() {
    let fit = LoadFit { utilization_ppb: 200_000_000, period_ns: 10_000_000 };
    let demand = DemandFit { utilization_ppb: 200_000_000, offset_ns: 1_600_000 };
    assert_eq!(fit.to_demand(), demand);
    assert_eq!(demand.demand_ns(10_000_000), Some(3_600_000));
    // The result is rounded up: a third of a nanosecond becomes one.
    let third = DemandFit { utilization_ppb: 333_333_334, offset_ns: 0 };
    assert_eq!(third.demand_ns(1), Some(1));
    assert_eq!(DemandFit { offset_ns: u64::MAX, ..third }.demand_ns(10), None);
    let all = LoadFit { utilization_ppb: 500_000_000, period_ns: u64::MAX };
    assert_eq!(all.to_demand().offset_ns, u64::MAX / 4 + 1);
}

#[test]
fn a_fit_below_a_point_is_refused() {
    let (message, place) = refusal("offset_ns = 1_600_000", "offset_ns = 1_599_999");
    assert_eq!(message, "the fit is below the measurement: 2ms were stolen in 2ms");
    assert_eq!(place, "[fit.demand]");
    let (_, place) = refusal("period_ns = 10_000_000", "period_ns = 9_999_990");
    assert_eq!(place, "[fit.load]");
    let (message, _) = refusal("utilization_ppb = 200_000_000", "utilization_ppb = 1_000_000_001");
    assert_eq!(message, "the utilisation of 1000000001 ppb exceeds 1");
    // The line through the points of a task that was measured at too few lengths.
    let (message, _) = refusal("10_000_000, 12", "5_000_000, 12");
    let between =
        "the fit is below what is possible between the measured intervals: 4ms stolen in 7ms";
    assert_eq!(message, between);
}

#[test]
fn invalid_values_are_refused_with_their_places() {
    let refusals = [
        (
            "1_000_000, 2_000_000, 10",
            "2_000_000, 2_000_000, 10",
            "the intervals are not in ascending",
        ),
        ("[1_000_000, 2_000_000, 1_900_000, 4_000_000]", "[1]", "1 stolen times for 4 intervals"),
        (
            "[1_000_000, 2_000_000, 1_9",
            "[1_000_001, 2_000_000, 1_9",
            "1.000001ms were stolen in 1ms",
        ),
        ("name = \"thief\"", "name = \"\"", "the profile's name is empty"),
        ("cpu = 1", "cpu = 1\ncolour = 2", "unknown field `colour`"),
    ];
    for (from, to, message) in refusals {
        let (found, _) = refusal(from, to);
        assert!(found.starts_with(message), "{found}");
    }
    assert_eq!(Duration::from_ns(1_000_001).to_string(), "1.000001ms");
}
