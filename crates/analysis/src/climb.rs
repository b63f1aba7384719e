// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds the joint fixed point of all responses, for the bounds of batching policies.
//!
//! If `F_k(R) <= R_k` for every task k, then R bounds all responses. F is nondecreasing, so
//! iterating from R = 0 reaches the least such R. Any R with F(R) <= R is a bound, so the iteration
//! may jump upwards when it converges slowly.

/// Rounds of exact iteration before the responses that still grow are set to their cap.
const EXACT_ROUNDS: u32 = 48;
/// Rounds that may lower a bound after a jump.
const LOWERING_ROUNDS: u32 = 16;

/// One response per kind in ns; `None` = no bound yet.
pub(crate) type Responses = Vec<Option<u64>>;

/// Climbs from R = 0 to a fixed point of `step` for `count` kinds. `cap` alone is a bound on every
/// response and is never exceeded. Returns `None` as soon as the fixed point must lie beyond
/// `limits_ns`.
pub(crate) fn climb(
    count: usize,
    cap: Option<u64>,
    limits_ns: Option<&[u64]>,
    step: impl Fn(&Responses) -> Responses,
) -> Option<Responses> {
    let mut current: Responses = vec![Some(0); count];
    let mut round = 0;
    loop {
        let next = capped(step(&current), cap);
        // Until the first jump, `next` never exceeds the least fixed point.
        if round <= EXACT_ROUNDS && limits_ns.is_some_and(|limits| exceeds(&next, limits)) {
            return None;
        }
        let grown: Vec<bool> =
            next.iter().zip(&current).map(|(next, current)| is_above(*next, *current)).collect();
        if !grown.contains(&true) {
            return Some(lower(cap, next, step));
        }
        round += 1;
        for ((current, next), grown) in current.iter_mut().zip(next).zip(grown) {
            if grown {
                *current = if round > EXACT_ROUNDS { cap } else { next };
            }
        }
    }
}

/// Returns whether some response exceeds its limit; a response without a bound exceeds every limit.
pub(crate) fn exceeds(responses: &Responses, limits_ns: &[u64]) -> bool {
    responses.iter().zip(limits_ns).any(|(response, &limit)| is_above(*response, Some(limit)))
}

/// Applies F to a valid bound while that lowers it, at most [`LOWERING_ROUNDS`] times. With
/// F(R) <= R and a step that may return more than F, min(R, step(R)) is again a bound.
fn lower(
    cap: Option<u64>,
    mut bound: Responses,
    step: impl Fn(&Responses) -> Responses,
) -> Responses {
    for _ in 0..LOWERING_ROUNDS {
        let next: Responses = capped(step(&bound), cap)
            .into_iter()
            .zip(&bound)
            .map(|(next, &bound)| smaller(next, bound))
            .collect();
        if next == bound {
            break;
        }
        bound = next;
    }
    bound
}

fn capped(responses: Responses, cap: Option<u64>) -> Responses {
    responses.into_iter().map(|response| smaller(response, cap)).collect()
}

/// Returns the smaller of two bounds; `None`, which means no bound, is the largest.
pub(crate) const fn smaller(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if a < b { a } else { b }),
        (bound, None) | (None, bound) => bound,
    }
}

/// Returns whether the response `a` is larger than `b`; `None`, which means no bound, is the
/// largest.
fn is_above(a: Option<u64>, b: Option<u64>) -> bool {
    b.is_some_and(|b| a.is_none_or(|a| a > b))
}
