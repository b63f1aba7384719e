// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Minimises a function of a few variables without derivatives, by the downhill simplex method.
//!
//! We use our own code because calling an optimisation library would take more lines (a cost trait,
//! a solver, an executor and its own vectors). It does not allocate during its steps.
//!
//! Source: J. Nelder and R. Mead, "A simplex method for function minimization", 1965, with
//! their coefficients 1, 2, 1/2, 1/2.

/// The smallest size of the simplex; the search ends when it is smaller than this in every
/// variable.
const SIZE_MIN: f64 = 1e-7;

/// The maximum number of steps of a search; with three variables it usually takes about a hundred.
const STEPS_MAX: u32 = 1_000;

/// A vertex with the value of the function there.
type Vertex<const N: usize> = ([f64; N], f64);

/// Returns a local minimum near `start`, found by a simplex with edges of `edge`.
///
/// # Assumptions
/// The function is finite at `start`. Elsewhere it can be infinite, but not NaN.
///
/// # Complexity
/// At most [`STEPS_MAX`] steps with one or two evaluations each, or N evaluations if the simplex
/// shrinks.
pub(crate) fn minimise<const N: usize>(
    function: impl Fn(&[f64; N]) -> f64,
    start: [f64; N],
    edge: f64,
) -> [f64; N] {
    let evaluated = |place: [f64; N]| (place, function(&place));
    let mut simplex: Vec<Vertex<N>> = vec![evaluated(start)];
    for axis in 0..N {
        let mut place = start;
        place[axis] += edge;
        simplex.push(evaluated(place));
    }
    for _ in 0..STEPS_MAX {
        simplex.sort_by(|a, b| a.1.total_cmp(&b.1));
        if size(&simplex) < SIZE_MIN {
            break;
        }
        step(&mut simplex, evaluated);
    }
    simplex.sort_by(|a, b| a.1.total_cmp(&b.1));
    simplex[0].0
}

/// Moves the worst vertex through the centre of the others, or shrinks the simplex towards the best
/// vertex.
fn step<const N: usize>(simplex: &mut [Vertex<N>], evaluated: impl Fn([f64; N]) -> Vertex<N>) {
    let worst = simplex[N];
    let centre: [f64; N] = std::array::from_fn(|axis| {
        simplex[..N].iter().map(|vertex| vertex.0[axis]).sum::<f64>() / crate::float::of_length(N)
    });
    // Factor 1 reflects the worst vertex, and 2 goes twice as far; 1/2 and -1/2 go half way, on
    // either side.
    let at = |factor: f64| {
        evaluated(std::array::from_fn(|axis| {
            centre[axis] + factor * (centre[axis] - worst.0[axis])
        }))
    };
    let reflected = at(1.0);
    simplex[N] = if reflected.1 < simplex[0].1 {
        let expanded = at(2.0);
        if expanded.1 < reflected.1 { expanded } else { reflected }
    } else if reflected.1 < simplex[N - 1].1 {
        reflected
    } else {
        let contracted = if reflected.1 < worst.1 { at(0.5) } else { at(-0.5) };
        if contracted.1 < reflected.1.min(worst.1) {
            contracted
        } else {
            return shrink(simplex, evaluated);
        }
    };
}

/// Halves every vertex's distance to the best vertex.
fn shrink<const N: usize>(simplex: &mut [Vertex<N>], evaluated: impl Fn([f64; N]) -> Vertex<N>) {
    let best = simplex[0].0;
    for vertex in &mut simplex[1..] {
        *vertex = evaluated(std::array::from_fn(|axis| f64::midpoint(best[axis], vertex.0[axis])));
    }
}

/// Returns the largest distance of a vertex to the best vertex along any axis.
fn size<const N: usize>(simplex: &[Vertex<N>]) -> f64 {
    let best = simplex[0].0;
    let distances = simplex[1..]
        .iter()
        .flat_map(|vertex| vertex.0.iter().zip(best).map(|(place, best)| (place - best).abs()));
    distances.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A curved valley, the standard hard case: its minimum is 0 at (1, 1).
    #[test]
    fn the_floor_of_a_curved_valley_is_found() {
        let valley = |[x, y]: &[f64; 2]| (1.0 - x).powi(2) + 100.0 * (y - x * x).powi(2);
        let [x, y] = minimise(valley, [-1.2, 1.0], 0.1);
        assert!((x - 1.0).abs() < 1e-5 && (y - 1.0).abs() < 1e-5, "{x} {y}");
    }

    /// The minimum lies at the edge of the function's domain.
    #[test]
    fn an_edge_is_approached_and_not_crossed() {
        let cliff = |[x]: &[f64; 1]| if *x < 2.0 { f64::INFINITY } else { *x };
        let [x] = minimise(cliff, [5.0], 0.5);
        assert!((2.0..2.000_001).contains(&x), "{x}");
    }
}
