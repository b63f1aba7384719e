// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs the whole suite on an implementation.

use tidegate_cpu_model::ServerParams;
use tidegate_cpu_servers::Server;
use tidegate_model::Time;

use crate::case::{Case, Outcome};
use crate::check::check;
use crate::diagram::diagram;
use crate::invariants::{Invariant, Violation};
use crate::random::random_case;
use crate::stream::{DefectKind, Stream, streams};
use crate::supports::Supports;
use crate::trace::TraceLine;

/// An implementation under test: creates a server with these parameters that has its full budget at
/// instant 0.
pub type Implementation<'a> = dyn FnMut(&ServerParams) -> Box<dyn Server + 'a> + 'a;

/// The verdict of a stream on an implementation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The invariants hold, and every call and its status are as expected.
    AsExpected,
    /// The invariants hold, but the calls differ: the implementation has different rules, which can
    /// be correct.
    Differs {
        /// The index of the first call that differs, from 0.
        call: usize,
        /// The expected call; `None` if the stream expects no more calls.
        expected: Option<Box<TraceLine>>,
        /// The actual call; `None` if there were no more calls.
        found: Option<Box<TraceLine>>,
    },
    /// An invariant is violated.
    Failed(Failure),
    /// The implementation does not support the parameters of the stream's server.
    NotSupported,
}

/// A violation of an invariant, and the calls that led to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The violation.
    pub violation: Violation,
    /// The last calls of the server up to the violation, at most eight.
    pub calls: Vec<TraceLine>,
}

/// The maximum number of calls that are kept with a violation: the last ones.
const CALLS_MAX: usize = 8;

impl Failure {
    fn new(violation: &Violation, trace: &[TraceLine]) -> Self {
        let at_ns = violation.at().map_or(u64::MAX, Time::ns);
        let end = trace.partition_point(|call| call.now_ns <= at_ns);
        let calls = trace[end.saturating_sub(CALLS_MAX)..end].to_vec();
        Self { violation: violation.clone(), calls }
    }
}

/// A stream and its verdict.
#[derive(Debug, Clone)]
pub struct StreamResult {
    /// The stream's name.
    pub name: String,
    /// The stream's description.
    pub story: String,
    /// The stream's verdict.
    pub verdict: Verdict,
    /// A diagram of the execution.
    pub diagram: String,
}

/// The results of the streams of one family.
#[derive(Debug, Clone)]
pub struct FamilyReport {
    /// The family.
    pub family: DefectKind,
    /// The results of the family's streams.
    pub streams: Vec<StreamResult>,
}

impl FamilyReport {
    /// Returns the first stream in which an invariant is violated.
    pub fn failed(&self) -> Option<&StreamResult> {
        self.streams.iter().find(|it| matches!(it.verdict, Verdict::Failed(_)))
    }
}

/// The results for one invariant over all random runs.
#[derive(Debug, Clone, Default)]
pub struct RandomReport {
    /// The number of checks.
    pub checks: u64,
    /// The number of random runs that violated it.
    pub failed_runs: u64,
    /// The first such run.
    pub first: Option<RandomFailure>,
}

/// A random run that violates an invariant.
#[derive(Debug, Clone)]
pub struct RandomFailure {
    /// The run's seed.
    pub seed: u64,
    /// The violation.
    pub failure: Failure,
}

/// The suite's report on an implementation.
#[derive(Debug, Clone)]
pub struct Report {
    /// The results of the streams.
    pub families: Vec<FamilyReport>,
    /// The results for I1 to I6 in the random runs.
    pub invariants: [RandomReport; Invariant::COUNT],
    /// The number of random runs.
    pub runs: u64,
    /// The number of simulated events in the random runs.
    pub events: u64,
    /// The optional parts that the implementation supports; nothing else was tested.
    pub supports: Supports,
}

impl Report {
    /// Returns whether no invariant was violated.
    pub fn conforms(&self) -> bool {
        self.families.iter().all(|it| it.failed().is_none())
            && self.invariants.iter().all(|it| it.failed_runs == 0)
    }
}

/// Runs all streams, and random cases with seeds from `seed` on.
///
/// # Panics
/// In the same cases as [`check`].
pub fn test(
    implementation: &mut Implementation<'_>,
    supports: &Supports,
    seed: u64,
    runs: u64,
) -> Report {
    let lengthen = |stream: Stream| stream.lengthened(supports.factor());
    let streams: Vec<Stream> = streams().into_iter().map(lengthen).collect();
    let families = DefectKind::ALL.map(|family| FamilyReport {
        family,
        streams: streams
            .iter()
            .filter(|stream| stream.family == family)
            .map(|stream| test_stream(stream, supports, implementation))
            .collect(),
    });
    let mut report = Report {
        families: families.into(),
        invariants: Default::default(),
        runs,
        events: 0,
        supports: *supports,
    };
    for run in 0..runs {
        // Seeds wrap around at the end of their range, so every start is valid.
        let seed = seed.wrapping_add(run);
        let case = supports.fitted(random_case(seed));
        let outcome = check(&case, implementation(case.params()), false);
        if report.is_first_failure(&outcome) {
            // Run the case once more to record its calls.
            let recorded = check(&case, implementation(case.params()), true);
            report.add(seed, &outcome, &recorded.trace);
        } else {
            report.add(seed, &outcome, &[]);
        }
    }
    report
}

fn test_stream(
    stream: &Stream,
    supports: &Supports,
    implementation: &mut Implementation<'_>,
) -> StreamResult {
    let case: &Case = &stream.case;
    if !supports.admits(case.params()) {
        return StreamResult {
            name: stream.name.clone(),
            story: stream.story.clone(),
            verdict: Verdict::NotSupported,
            diagram: String::new(),
        };
    }
    let outcome = check(case, implementation(case.params()), true);
    StreamResult {
        name: stream.name.clone(),
        story: stream.story.clone(),
        verdict: verdict(stream, &outcome),
        diagram: diagram(case, &outcome),
    }
}

fn verdict(stream: &Stream, outcome: &Outcome) -> Verdict {
    // Prefer a violation that affects threads: too much execution in a window, a late response, or
    // too little service. It is more informative than a wrong sum of replenishments.
    let suffered = [Invariant::Window, Invariant::Response, Invariant::Liveness];
    let first = outcome.violations().find(|it| suffered.contains(&it.invariant()));
    if let Some(violation) = first.or(outcome.violations().next()) {
        return Verdict::Failed(Failure::new(violation, &outcome.trace));
    }
    let calls = outcome.trace.len().max(stream.expected.len());
    for call in 0..calls {
        let (expected, found) = (stream.expected.get(call), outcome.trace.get(call));
        let is_equal = expected.zip(found).is_some_and(|(it, found)| found.is_as_expected(it));
        if !is_equal {
            return Verdict::Differs {
                call,
                expected: expected.cloned().map(Box::new),
                found: found.cloned().map(Box::new),
            };
        }
    }
    Verdict::AsExpected
}

impl Report {
    /// Returns whether the outcome violates an invariant that no earlier run violated.
    fn is_first_failure(&self, outcome: &Outcome) -> bool {
        outcome.violations().any(|it| self.invariants[it.invariant().index()].first.is_none())
    }

    fn add(&mut self, seed: u64, outcome: &Outcome, trace: &[TraceLine]) {
        self.events += outcome.events;
        for invariant in Invariant::ALL {
            let report = &mut self.invariants[invariant.index()];
            report.checks += outcome.checks[invariant.index()];
            if let Some(violation) = &outcome.violations[invariant.index()] {
                report.failed_runs += 1;
                report.first.get_or_insert_with(|| RandomFailure {
                    seed,
                    failure: Failure::new(violation, trace),
                });
            }
        }
    }
}
