// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests tails of samples whose law is known, and compares fits with scipy's
//! (`extremes/reference.py` makes `extremes/reference.json`).

use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use serde::Deserialize;
use tidegate_model::Duration;
use tidegate_stats::extremes::{
    BLOCKS_MIN, Fit, Fitted, Gev, Goodness, Gpd, Refusal, SIGNIFICANCE, Tail, TailParams, Tails,
};

#[derive(Deserialize)]
struct Reference {
    gev: Vec<Case>,
    gpd: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    shape: f64,
    #[serde(default)]
    location_ns: f64,
    scale_ns: f64,
    ln_likelihood: f64,
    samples_ns: Vec<u32>,
}

impl Case {
    fn samples(&self) -> Vec<f64> {
        self.samples_ns.iter().copied().map(f64::from).collect()
    }
}

fn reference() -> Reference {
    serde_json::from_str(include_str!("extremes/reference.json")).expect("a fixture")
}

/// Asserts that the two numbers differ by less than 0.05 % of `expected`, or of `least` if that is
/// larger: a shape can be 0.
fn assert_near(found: f64, expected: f64, least: f64, what: &str) {
    let apart = (found - expected).abs() / expected.abs().max(least);
    assert!(apart < 5e-4, "{what}: {found}, scipy has {expected}");
}

#[test]
fn maxima_are_fitted_as_scipy_does() {
    for case in reference().gev {
        let samples = case.samples();
        let gev = Gev::fit(&samples).expect("a fit");
        assert_near(gev.shape, case.shape, 0.1, &case.name);
        assert_near(gev.location, case.location_ns, 1.0, &case.name);
        assert_near(gev.scale, case.scale_ns, 1.0, &case.name);
        let likelihood = gev.ln_likelihood(&samples);
        assert!(likelihood >= case.ln_likelihood - 1e-6, "{}: {likelihood}", case.name);
        assert!(likelihood <= case.ln_likelihood + 0.01, "{}: {likelihood}", case.name);
    }
}

#[test]
fn excesses_are_fitted_as_scipy_does() {
    for case in reference().gpd {
        let samples = case.samples();
        let gpd = Gpd::fit(&samples).expect("a fit");
        assert_near(gpd.shape, case.shape, 0.1, &case.name);
        assert_near(gpd.scale, case.scale_ns, 1.0, &case.name);
        let likelihood = gpd.ln_likelihood(&samples);
        assert!(likelihood >= case.ln_likelihood - 1e-6, "{}: {likelihood}", case.name);
        assert!(likelihood <= case.ln_likelihood + 0.01, "{}: {likelihood}", case.name);
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "samples are positive and far below 2^53"
)]
fn ns(samples: impl IntoIterator<Item = f64>) -> Vec<Duration> {
    samples.into_iter().map(|sample| Duration::from_ns(sample as u64)).collect()
}

/// Returns a uniform number strictly between 0 and 1.
fn uniform(random: &mut Pcg64) -> f64 {
    random.random_range(1e-12..1.0)
}

/// Returns times of 5 ms plus a generalised Pareto excess. Beyond every threshold u, the tail has
/// the same law, with the scale `sigma + xi u`.
fn pareto_times(shape: f64, count: usize, seed: u64) -> Vec<Duration> {
    let mut random = Pcg64::seed_from_u64(seed);
    ns((0..count).map(|_| {
        let beyond = uniform(&mut random);
        5e6 + 2e6 * (beyond.powf(-shape) - 1.0) / shape
    }))
}

fn fitted(tail: Tail) -> Fit {
    match tail {
        Tail::Fitted(fit) => fit,
        Tail::Refused(..) => panic!("{tail}"),
    }
}

fn refusal(tail: Tail) -> Refusal {
    match tail {
        Tail::Refused(_, refusal) => refusal,
        Tail::Fitted(_) => panic!("{tail}"),
    }
}

/// With a known shape, both methods estimate values near it, and near the time that one in a
/// million exceeds.
#[test]
fn a_known_bounded_tail_is_estimated() {
    let times = pareto_times(-0.25, 20_000, 1);
    let params = TailParams { exceedance: Some(1e-6), ..TailParams::default() };
    let tails = Tails::estimate(&times, &params);
    let (end_ns, level_ns) = (13e6, 5e6 + 8e6 * (1.0 - 1e-6_f64.powf(0.25)));
    for tail in [tails.blocks, tails.excesses] {
        let fit = fitted(tail);
        assert!((fit.shape + 0.25).abs() < 0.15, "{fit:?}");
        let near = |time: Option<Duration>, expected: f64| {
            let ns = time.expect("bounded").ns();
            (f64::from(u32::try_from(ns).expect("below 4 s")) / expected - 1.0).abs() < 0.1
        };
        assert!(near(fit.end_point(), end_ns), "{fit}");
        assert!(near(fit.level(1e-6), level_ns), "{fit}");
        let range = fit.range.expect("a range");
        let ns = |time: Duration| f64::from(u32::try_from(time.ns()).expect("below 4 s"));
        assert!(ns(range.low) < level_ns, "{fit}");
        assert!(range.high.is_some_and(|high| level_ns < ns(high)), "{fit}");
    }
    assert_eq!(tails.disagreement(), None);
    let text = tails.to_string();
    assert_eq!(text.matches("not a bound").count(), 2, "{text}");
    assert!(text.contains("one sample in 1000000 is estimated"), "{text}");
}

#[test]
fn a_heavy_tail_has_no_end() {
    let times = pareto_times(0.3, 20_000, 2);
    let fit = fitted(Tails::estimate(&times, &TailParams::default()).excesses);
    assert!((fit.shape - 0.3).abs() < 0.15, "{fit:?}");
    assert_eq!(fit.end_point(), None);
    assert!(!fit.to_string().contains("none longer"), "{fit}");
    assert!(fit.level(1e-6) > fit.level(1e-5) && fit.level(1e-5) > fit.level(1e-4));
    assert_eq!(fit.level(0.5), None, "half of all samples is no tail");
}

/// The sentences name times near the samples, in one line for each method, and no end of the tail.
#[test]
fn sentences_are_short_and_near_the_samples() {
    let tails = Tails::estimate(&pareto_times(-0.25, 20_000, 1), &TailParams::default());
    for tail in [tails.blocks, tails.excesses] {
        let text = tail.to_string();
        assert!(text.chars().count() <= 160, "{text}");
        assert!(text.contains("one sample in 20000 is estimated to take longer than"), "{text}");
        assert!(text.contains(", in a range of 1") && text.contains("not a bound"), "{text}");
        assert!(!text.contains("none longer"), "{text}");
    }
}

#[test]
fn the_same_seed_says_the_same() {
    let times = pareto_times(-0.2, 2_000, 3);
    let params = TailParams { seed: 9, ..TailParams::default() };
    assert_eq!(Tails::estimate(&times, &params), Tails::estimate(&times, &params));
}

#[test]
fn too_few_samples_are_refused() {
    let times = pareto_times(-0.2, 500, 4);
    let tails = Tails::estimate(&times, &TailParams::default());
    let blocks = Refusal::TooFew { count: 22, needed: BLOCKS_MIN };
    assert_eq!(refusal(tails.blocks), blocks);
    assert_eq!(refusal(tails.excesses), Refusal::TooFew { count: 25, needed: 30 });
    let nothing = Tails::estimate(&[], &TailParams::default());
    assert!(matches!(refusal(nothing.excesses), Refusal::TooFew { count: 0, .. }));
}

/// Tests a clock with a resolution of 1 ms, and a drive with a constant time.
#[test]
fn rounded_and_fixed_times_are_refused() {
    let rounded: Vec<_> = pareto_times(-0.2, 5_000, 5)
        .iter()
        .map(|time| Duration::from_ms(time.ns().div_ceil(1_000_000)))
        .collect();
    let tails = Tails::estimate(&rounded, &TailParams::default());
    assert!(matches!(refusal(tails.blocks), Refusal::TooFewDistinct { .. }), "{tails}");
    let fixed = vec![Duration::from_ms(3); 5_000];
    let tails = Tails::estimate(&fixed, &TailParams::default());
    let one = Refusal::TooFewDistinct { distinct: 1, count: 71 };
    assert_eq!(refusal(tails.blocks), one);
    assert_eq!(refusal(tails.excesses), Refusal::TooFew { count: 0, needed: 30 });
}

/// As in figure 7.7 of the dissertation, most samples are short and a separate group of rare
/// samples is long. Neither law has two modes.
#[test]
fn a_tail_with_a_hump_is_refused() {
    let mut random = Pcg64::seed_from_u64(6);
    let times = ns((0..20_000).map(|_| {
        let is_late = random.random_range(0..200) == 0;
        let body = 10e6 + 3e6 * uniform(&mut random) * uniform(&mut random);
        if is_late { 14e6 + 0.5e6 * uniform(&mut random) } else { body }
    }));
    let tails = Tails::estimate(&times, &TailParams::default());
    for tail in [tails.blocks, tails.excesses] {
        let Refusal::PoorFit(goodness) = refusal(tail) else { panic!("{tail}") };
        assert!(goodness.p < SIGNIFICANCE && goodness.is_poor(), "{tail}");
        assert!(tail.to_string().contains("no estimate"), "{tail}");
    }
}

/// With shape 1.5, the law's mean is infinite, so no plan could be made.
#[test]
fn a_tail_without_a_mean_is_refused() {
    let times = pareto_times(1.5, 20_000, 7);
    let tails = Tails::estimate(&times, &TailParams::default());
    assert!(matches!(refusal(tails.excesses), Refusal::NoMean { .. }), "{tails}");
}

/// The density grows towards its end: for xi = -2, no parameters are likeliest.
#[test]
fn times_that_pile_up_at_their_end_are_refused() {
    let times = pareto_times(-2.0, 20_000, 8);
    let tails = Tails::estimate(&times, &TailParams::default());
    assert!(matches!(refusal(tails.excesses), Refusal::NoLikeliest { .. }), "{tails}");
}

/// The longest time is in the last block, which is incomplete and omitted. The tail that is fitted
/// to the other blocks ends before it.
#[test]
fn a_time_beyond_the_fitted_end_refutes_the_fit() {
    let mut times = pareto_times(-0.4, 10_000, 9);
    times.push(Duration::from_ms(40));
    let tails = Tails::estimate(&times, &TailParams::default());
    let beyond = refusal(tails.blocks);
    assert!(matches!(beyond, Refusal::BeyondEnd { highest, .. } if highest.ns() == 40_000_000));
    assert!(tails.to_string().contains("40ms was measured"), "{tails}");
}

/// Returns a fit with these parameters, whose figures can be checked by hand.
fn given(fitted: Fitted, shape: f64) -> Fit {
    Fit {
        fitted,
        samples: 10_000,
        location: 10e6,
        scale: 1e6,
        shape,
        goodness: Goodness { statistic: 0.3, p: 0.5 },
        exceedance: 1e-6,
        range: None,
    }
}

const BLOCKS: Fitted = Fitted::Blocks { block: 100, count: 100 };

/// For one sample in a million, a maximum of a block of 100 exceeds the level with probability
/// 1e-4, and a sample of the twentieth above the threshold with probability 2e-5: 10 ms + 1 ms
/// ln(1e4) = 19.21034 ms, 10 ms + 1 ms ln(5e4) = 20.81978 ms.
#[test]
fn levels_are_of_one_sample() {
    let threshold = Duration::from_ms(10);
    let excesses = Fitted::Excesses { threshold_ppm: 950_000, threshold, count: 500 };
    for (fitted, expected_ns) in [(BLOCKS, 19_210_340), (excesses, 20_819_779)] {
        let level = given(fitted, 0.0).level(1e-6).expect("in the tail");
        assert!(level.ns().abs_diff(expected_ns) <= 2, "{level}");
    }
}

/// One sample in a million exceeds 19.2 ms by a Gumbel law, and 59 ms by a Frechet law.
#[test]
fn ways_that_disagree_are_told_apart() {
    let tail = |shape| Tail::Fitted(given(BLOCKS, shape));
    let tails = Tails { blocks: tail(0.0), excesses: tail(0.3) };
    let (shorter, longer) = tails.disagreement().expect("far apart");
    assert!(shorter < longer);
    assert!(tails.to_string().ends_with("trust neither"), "{tails}");
    assert_eq!(Tails { blocks: tail(0.0), excesses: tail(0.01) }.disagreement(), None);
}
