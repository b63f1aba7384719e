// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Seek curves as DiskSim writes them: measured, given by three times, or by a formula.
//!
//! # Source
//! The DiskSim manual, parameters of `dm_mech_g1`. Three times: E. Lee and R. Katz, An
//! analytic performance model of disk arrays, SIGMETRICS 1993. Six values: C. Ruemmler and
//! J. Wilkes, An introduction to disk drive modeling, IEEE Computer 1994.

mod sampled;

use tidegate_model::Duration;
use tidegate_model::mechanics::Seek;

use super::content::FileKind;
use super::error::ImportError;
use super::library::Library;
use super::report::Report;
use super::section::Section;
use super::seek_file;
use super::tree::Value;
use sampled::{curve_points, root_ns, sampled};
use tidegate_drive::mechanical::SeekCurve;

/// The seek times for three distances: one cylinder, a third of all cylinders, and all cylinders.
struct ThreeTimes {
    one: Duration,
    average: Duration,
    full: Duration,
}

/// The six values of the formula: a root below `long_from`, linear from there on.
struct SixValues {
    long_from: u32,
    short_ns: u64,
    per_root_ns: u64,
    long_ns: u64,
    per_cylinder_ps: u64,
    one_ns: Option<u64>,
}

/// Returns the seek curve that a `dm_mech_g1` block describes for a disk with `cylinders`
/// cylinders.
pub(crate) fn seek(
    mechanism: &Section,
    cylinders: u32,
    library: &Library<'_>,
    report: &mut Report,
) -> Result<Seek, ImportError> {
    let kind = match mechanism.word("Seek type")? {
        // The file implies the type.
        None if mechanism.find("Full seek curve").is_some() => "extracted",
        None => mechanism.get("Seek type").map(|_| "")?,
        Some(kind) => kind,
    };
    let last = cylinders.saturating_sub(1).max(1);
    match kind {
        "extracted" => extracted(mechanism, library, report),
        "constant" => constant(mechanism, last),
        "linear" => Ok(linear(&three_times(mechanism)?, cylinders)),
        "curve" => Ok(curve(&three_times(mechanism)?, cylinders)),
        "hpl" => Ok(by_formula(&six_values(mechanism)?, &[], last)),
        "hplplus10" | "10+hpl" => {
            let first_ns = first_times(mechanism)?;
            Ok(by_formula(&six_values(mechanism)?, &first_ns, last))
        }
        _ => {
            let kinds = "extracted, constant, linear, curve, hpl or hplplus10";
            Err(mechanism.refuse(mechanism.get("Seek type")?, "Seek type", kinds))
        }
    }
}

/// Returns the parameters that define the curve of this mechanism.
pub(crate) fn used_parameters(mechanism: &Section) -> &'static [&'static str] {
    match mechanism.word("Seek type").ok().flatten() {
        Some("constant") => &["Constant seek time"],
        Some("linear" | "curve") => {
            &["Single cylinder seek time", "Average seek time", "Full strobe seek time"]
        }
        Some("hpl") => &["HPL seek equation values"],
        Some("hplplus10" | "10+hpl") => &["HPL seek equation values", "First ten seek times"],
        _ => &["Full seek curve"],
    }
}

fn extracted(
    mechanism: &Section,
    library: &Library<'_>,
    report: &mut Report,
) -> Result<Seek, ImportError> {
    let name = "Full seek curve";
    let value = mechanism.get(name)?;
    let (Value::Word(file) | Value::Source(file)) = value else {
        return Err(mechanism.refuse(value, name, "a file name"));
    };
    let found = library.resolve(mechanism.text(*file), &mechanism.document, FileKind::SeekCurve)?;
    let document = &found.document;
    let curve = seek_file::parse(&document.text)
        .map_err(|error| ImportError::faulty(&document.path, &document.text, error))?;
    for note in &curve.notes {
        report.note(format!("{}: {note}", document.name()));
    }
    report.uses(document.path.clone(), FileKind::SeekCurve, found.how);
    if curve.points.is_empty() {
        return Err(mechanism.refuse(
            value,
            name,
            "a file with at least one seek distance above 0",
        ));
    }
    Ok(Seek::Points(curve.points))
}

fn constant(mechanism: &Section, last: u32) -> Result<Seek, ImportError> {
    let name = "Constant seek time";
    let time_ns = mechanism.whole_of(mechanism.get(name)?, name, 6)?;
    Ok(Seek::Points(curve_points([(1, time_ns), (last, time_ns)])))
}

fn three_times(mechanism: &Section) -> Result<ThreeTimes, ImportError> {
    let time = |name| mechanism.whole_of(mechanism.get(name)?, name, 6).map(Duration::from_ns);
    Ok(ThreeTimes {
        one: time("Single cylinder seek time")?,
        average: time("Average seek time")?,
        full: time("Full strobe seek time")?,
    })
}

fn linear(times: &ThreeTimes, cylinders: u32) -> Seek {
    let points = [(1, times.one), (cylinders / 3, times.average), (cylinders, times.full)];
    Seek::Points(curve_points(points.map(|(distance, time)| (distance, time.ns()))))
}

/// Returns the curve one + b (d - 1) + a sqrt(d - 1) for N cylinders and a distance of d, where a =
/// (-10 one + 15 average - 5 full) / (3 sqrt(N)) and b = (7 one - 15 average + 8 full) / (3 N); a
/// straight line if a or b is negative.
fn curve(times: &ThreeTimes, cylinders: u32) -> Seek {
    let [one, average, full] =
        [times.one, times.average, times.full].map(|time| i128::from(time.ns()));
    let root_weight = u128::try_from(15 * average - 10 * one - 5 * full);
    let line_weight = u128::try_from(7 * one - 15 * average + 8 * full);
    let (Ok(root_weight), Ok(line_weight)) = (root_weight, line_weight) else {
        return linear(times, cylinders);
    };
    let whole = u128::from(cylinders.max(1));
    let time_ns = |distance: u32| {
        let beyond = u128::from(distance) - 1;
        let root = (root_weight.pow(2) * beyond / whole).isqrt() / 3;
        let line = line_weight * beyond / (3 * whole);
        u64::try_from(root + line).unwrap_or(u64::MAX).saturating_add(times.one.ns())
    };
    Seek::Points(sampled(1, cylinders.saturating_sub(1).max(1), time_ns))
}

fn six_values(mechanism: &Section) -> Result<SixValues, ImportError> {
    let name = "HPL seek equation values";
    let value = mechanism.get(name)?;
    let values = mechanism.list(name)?.map_or(&[][..], |list| &list.values);
    let [long_from, short, per_root, long, per_cylinder, one, ..] = values else {
        return Err(mechanism.refuse(value, name, "a list of six values"));
    };
    let one_ns = mechanism.scaled_of(one, name, 6)?;
    Ok(SixValues {
        long_from: mechanism.whole_of(long_from, name, 0)?,
        short_ns: mechanism.whole_of(short, name, 6)?,
        per_root_ns: mechanism.whole_of(per_root, name, 6)?,
        long_ns: mechanism.whole_of(long, name, 6)?,
        per_cylinder_ps: mechanism.whole_of(per_cylinder, name, 9)?,
        // With -1, the formula also gives the time for one cylinder.
        one_ns: u64::try_from(one_ns).ok(),
    })
}

fn first_times(mechanism: &Section) -> Result<Vec<u64>, ImportError> {
    let name = "First ten seek times";
    let value = mechanism.get(name)?;
    let values = mechanism.list(name)?.map_or(&[][..], |list| &list.values);
    if values.len() < 10 {
        return Err(mechanism.refuse(value, name, "a list of ten times in milliseconds"));
    }
    values[..10].iter().map(|value| mechanism.whole_of(value, name, 6)).collect()
}

/// Returns the formula, with the first times as given.
fn by_formula(values: &SixValues, first_ns: &[u64], last: u32) -> Seek {
    let one_ns = values.one_ns.filter(|_| first_ns.is_empty());
    let first_ns = one_ns.as_ref().map_or(first_ns, std::slice::from_ref);
    let formula = Seek::Formula {
        short_ns: values.short_ns,
        per_root_ns: values.per_root_ns,
        long_ns: values.long_ns,
        per_cylinder_ps: values.per_cylinder_ps,
        long_from: values.long_from,
    };
    // A drive refuses a formula whose pieces do not meet; points can have a dent.
    let is_formula = first_ns.is_empty() && SeekCurve::new(&formula, last + 1).is_ok();
    if is_formula { formula } else { Seek::Points(formula_points(values, first_ns, last)) }
}

fn formula_points(values: &SixValues, first_ns: &[u64], last: u32) -> Vec<(u32, u64)> {
    let given = (1..).zip(first_ns.iter().copied());
    let mut points: Vec<(u32, u64)> = given.take_while(|point| point.0 <= last).collect();
    let next = u32::try_from(points.len()).expect("ten at most") + 1;
    let short_last = values.long_from.saturating_sub(1).min(last);
    if next <= short_last {
        let short_ns =
            |distance| values.short_ns.saturating_add(root_ns(values.per_root_ns, distance));
        points.extend(sampled(next, short_last, short_ns));
    }
    let long_first = values.long_from.max(next);
    points.extend([long_first, last].into_iter().filter(|&distance| distance >= long_first).map(
        |distance| {
            let more_ns = u128::from(values.per_cylinder_ps) * u128::from(distance) / 1_000;
            (distance, values.long_ns.saturating_add(u64::try_from(more_ns).unwrap_or(u64::MAX)))
        },
    ));
    curve_points(points)
}

#[cfg(test)]
mod tests;
