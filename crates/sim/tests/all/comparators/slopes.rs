// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures how steeply response times rise with the tasks beyond capacity (dissertation 9.3.4).
//!
//! Goal: under `dqf-elastic` they rise little and in proportion to the excess; under plain `dqf`
//! and under `cfq` they rise steeply. Method: the 24 tasks of `overload.rs`, which are all that
//! batches of 8 serve, and 1 to 10 additional light tasks, each a tenth of such a task (a period of
//! 3,000 ms and more), for 300 s; slopes by least squares.
//!
//! The proportion holds up to a limit. The batch grows until it serves the load, from 8 to 64, the
//! depth of the drive. Batches of 64 serve 25.6 requests every 300 ms, enough for 25 light tasks.
//! With more light tasks the drive itself is overloaded: the excess accumulates, and response times
//! rise with it and with the length of the run under every policy. Of ten *full* tasks beyond
//! capacity only two leave the batch room to grow. The other eight make `dqf-elastic` only a tenth
//! less steep than `dqf`: b(64)/64 against b(8)/8.

use tidegate_model::{Duration, PolicyName};
use tidegate_sim::Length;

use super::overload::{responses_ms, workload};

const POLICIES: [PolicyName; 3] = [PolicyName::Dqf, PolicyName::DqfElastic, PolicyName::Cfq];

/// Mean response times in ms as a function of the tasks beyond capacity.
type Curve = Vec<(i64, i64)>;

/// Returns the curves of `POLICIES` for 24 tasks plus each number in `excess` of tasks of this
/// period.
fn curves(excess: impl Iterator<Item = usize>, period_ms: usize) -> [Curve; 3] {
    let mut curves = [const { Curve::new() }; 3];
    for more in excess {
        let base = (0..24).map(|index| 300 + index);
        let added = (0..more).map(|index| period_ms + period_ms / 300 * index);
        let workload = workload(base.chain(added));
        let length = Length::Duration(Duration::from_ms(300_000));
        for (curve, name) in curves.iter_mut().zip(POLICIES) {
            let [_, mean] = responses_ms(name, &workload, length);
            curve.push((i64::try_from(more).unwrap(), i64::try_from(mean).unwrap()));
        }
    }
    curves
}

/// Fits a line by least squares: the slope in us per task, and the mean response in us at no
/// excess.
fn line(curve: &Curve) -> (i64, i64) {
    let count = i64::try_from(curve.len()).unwrap();
    let sum = |term: fn(&(i64, i64)) -> i64| curve.iter().map(term).sum::<i64>();
    let (x, y) = (sum(|point| point.0), sum(|point| point.1));
    let (xx, xy) = (sum(|point| point.0 * point.0), sum(|point| point.0 * point.1));
    let slope_us = (count * xy - x * y) * 1_000 / (count * xx - x * x);
    (slope_us, (y * 1_000 - slope_us * x) / count)
}

/// Returns the largest distance of a point from the line, in us.
fn deviation_us(curve: &Curve) -> i64 {
    let (slope, start) = line(curve);
    let off = |&(x, y): &(i64, i64)| (y * 1_000 - start - slope * x).abs();
    curve.iter().map(off).max().unwrap()
}

#[test]
fn elastic_batches_degrade_in_proportion_to_the_excess_and_the_others_steeply() {
    let curves = curves(1..=10, 3_000);
    let [dqf, elastic, cfq] = curves.each_ref().map(|curve| line(curve).0);
    println!("us per light task beyond capacity: dqf {dqf}, elastic {elastic}, cfq {cfq}");
    println!("{curves:?}");
    assert!(elastic > 0 && elastic * 30 < dqf && elastic * 30 < cfq);
    // The curve is a straight line: no point is off by more than the effect of two tasks.
    assert!(deviation_us(&curves[1]) < 2 * elastic, "{} us", deviation_us(&curves[1]));
}

/// The proportion holds up to a limit; beyond it the excess raises response times again.
#[test]
fn proportion_ends_where_the_batch_is_as_deep_as_the_drive() {
    let [dqf, elastic, _] = curves((30..=60).step_by(5), 3_000);
    let (slope, start) = line(&elastic);
    println!("us per light task beyond the drive: dqf {}, elastic {slope}", line(&dqf).0);
    // The curve is straight again from 25 light tasks on, and nearly as steep as `dqf` is
    // everywhere.
    assert!(deviation_us(&elastic) < slope / 2, "{} us", deviation_us(&elastic));
    let begins = -start / slope;
    assert!((22..=27).contains(&begins), "{begins}");
    assert!(slope < line(&dqf).0 && slope * 10 > line(&dqf).0 * 7);
}

/// Eight of ten full tasks, which have periods from 300 ms, exceed the drive's own capacity.
#[test]
fn ten_full_tasks_beyond_capacity_are_beyond_the_drive() {
    let curves = curves(1..=10, 300);
    let [dqf, elastic, cfq] = curves.each_ref().map(|curve| line(curve).0);
    println!("us per full task beyond capacity: dqf {dqf}, elastic {elastic}, cfq {cfq}");
    assert!(elastic < dqf && elastic < cfq);
    let within: Vec<i64> = curves[1].iter().take(2).map(|point| point.1).collect();
    assert!(within.iter().all(|&mean_ms| mean_ms < 400), "{within:?} ms");
}
