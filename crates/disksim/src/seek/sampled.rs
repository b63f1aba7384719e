// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Samples a smooth curve at few points, between which straight lines are close enough.

/// The largest error of a straight line: less than the accuracy of any seek time.
const ERROR_NS: u128 = 500;

/// The largest error as a part of the time, so that even absurd figures need few points.
const ERROR_PART: u128 = 20_000;

/// Returns points of a curve over the distances `first` to `last`: at the middle between two
/// adjacent points a straight line is close to the curve.
///
/// # Complexity
/// `O(p log d)` for p points and d distances; p is at most a few hundred for a curve that rises
/// like a root.
pub(super) fn sampled(first: u32, last: u32, time_ns: impl Fn(u32) -> u64) -> Vec<(u32, u64)> {
    let mut points = vec![(first, time_ns(first))];
    let mut at = first;
    while at < last {
        at = farthest(at, last, &time_ns);
        points.push((at, time_ns(at)));
    }
    points
}

/// Returns the farthest distance to which a line from `from` is close enough, by bisection: for a
/// curve that bends one way, the error grows with the line's length.
fn farthest(from: u32, last: u32, time_ns: &impl Fn(u32) -> u64) -> u32 {
    let (mut good, mut bad) = (from + 1, last + 1);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if is_good(from, middle, time_ns) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    good
}

fn is_good(from: u32, to: u32, time_ns: &impl Fn(u32) -> u64) -> bool {
    let middle = from + (to - from) / 2;
    let [from_ns, middle_ns, to_ns] = [from, middle, to].map(time_ns).map(i128::from);
    let share = |ns: i128, of: u32| ns * i128::from(of) / i128::from(to - from);
    let line_ns = from_ns + share(to_ns - from_ns, middle - from);
    let error_ns = line_ns.abs_diff(middle_ns);
    error_ns <= ERROR_NS || error_ns <= middle_ns.unsigned_abs() / ERROR_PART
}

/// Returns `per_root` times the root of a distance.
pub(super) fn root_ns(per_root_ns: u64, distance: u32) -> u64 {
    // The square can exceed 128 bits.
    let square = u128::from(per_root_ns).checked_pow(2).map(|square| (square, distance));
    let root = square.and_then(|(square, distance)| square.checked_mul(u128::from(distance)));
    root.map_or(u64::MAX, |square| u64::try_from(square.isqrt()).unwrap_or(u64::MAX))
}

/// Sorts points and keeps each distance above 0 once, with its first time.
pub(super) fn curve_points(points: impl IntoIterator<Item = (u32, u64)>) -> Vec<(u32, u64)> {
    let mut points: Vec<(u32, u64)> = points.into_iter().filter(|point| point.0 > 0).collect();
    points.sort_by_key(|point| point.0);
    points.dedup_by_key(|point| point.0);
    points
}
