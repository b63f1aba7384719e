// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The range of an estimated level that reflects the sampling error.
//!
//! The range contains every level for which the samples are not much less likely than under the
//! fitted law. The threshold for "much" is calibrated with the replicates, which are samples drawn
//! from the fitted law: for 50 excesses, the large-sample limit is too narrow.
//!
//! Source: S. Coles, "An Introduction to Statistical Modeling of Extreme Values", 2001, 2.6.6
//! and 4.3.3 (profile likelihood of a level); A. Davison and D. Hinkley, "Bootstrap Methods and
//! Their Application", 1997, 5.4 (calibration by replicates).

use crate::extremes::goodness::Replicate;
use crate::extremes::law::{Law, ln_likelihood, stretched};
use crate::float;

/// The share of ranges that must contain the correct level if the law is correct.
pub const RANGE_CONFIDENCE: f64 = 0.95;

/// The number of distances at which the search looks for an end of the range: an eighth of a scale
/// from the estimate, then twice as far each time. If the range extends beyond all of them, up to
/// 2^36 scales, it has no end.
const DOUBLINGS_MAX: u32 = 40;

/// The number of halvings of the last step, which give more than three digits.
const HALVINGS: u32 = 20;

/// Returns the range of the value that a law gives for the reduced variable `reduced`, in the unit
/// of the samples. `None` if the replicates do not determine it. The upper end is `None` if the
/// range has no upper end.
///
/// # Equation
/// `{x : l - max_(law(reduced) = x) l <= c}` for the logarithm l of the likelihood, with c the
/// 95 % quantile of the same difference in samples of the fitted law, whose x is known.
///
/// # Complexity
/// For each replicate, one fit with one parameter fewer, and about 60 more such fits.
pub(super) fn of<L: Law>(
    law: &L,
    sorted: &[f64],
    replicates: &[Replicate<L>],
    reduced: f64,
) -> Option<(f64, Option<f64>)> {
    let estimate = law.location() + law.scale() * stretched(reduced, law.shape());
    let mut losses: Vec<f64> = replicates
        .iter()
        .map(|replicate| {
            let fitted = replicate.law.as_ref();
            // A replicate that cannot be fitted does not count in favour of a narrow range.
            fitted.map_or(f64::INFINITY, |it| loss(it, &replicate.sorted, reduced, estimate))
        })
        .collect();
    losses.sort_unstable_by(f64::total_cmp);
    let rank = float::ceil(RANGE_CONFIDENCE * (float::of_length(losses.len()) + 1.0));
    let most = *losses.get(usize::try_from(rank).ok()?.checked_sub(1)?)?;
    let is_within = |x: f64| loss(law, sorted, reduced, x) <= most;
    let end = |direction: f64| {
        let at = |distance: f64| estimate + direction * distance * law.scale();
        end(|distance| is_within(at(distance))).map(at)
    };
    most.is_finite().then(|| Some((end(-1.0)?, end(1.0))))?
}

/// Returns by how much the logarithm of the likelihood falls if the law must give `x` for
/// `reduced`.
fn loss<L: Law>(law: &L, sorted: &[f64], reduced: f64, x: f64) -> f64 {
    let constrained = law.likeliest_through(sorted, reduced, x);
    let falls = |other| ln_likelihood(law, sorted) - ln_likelihood(&other, sorted);
    constrained.map_or(f64::INFINITY, falls)
}

/// Returns the distance, in scales, beyond which the level is outside the range; `None` if there is
/// no end.
fn end(is_within: impl Fn(f64) -> bool) -> Option<f64> {
    let (mut within, mut beyond) = (0.0, 0.125);
    for _ in 0..DOUBLINGS_MAX {
        if !is_within(beyond) {
            for _ in 0..HALVINGS {
                let middle = f64::midpoint(within, beyond);
                if is_within(middle) {
                    within = middle;
                } else {
                    beyond = middle;
                }
            }
            return Some(beyond);
        }
        within = beyond;
        beyond *= 2.0;
    }
    None
}
