// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares response times with the crate `response-time-analysis`, whose theorems are
//! machine-checked.

use response_time_analysis::arrival::Sporadic;
use response_time_analysis::demand::RBF;
use response_time_analysis::fixed_priority::floating_nonpreemptive::{
    TaskUnderAnalysis, dedicated_uniproc_rta,
};
use response_time_analysis::time::{Duration as Ticks, Service};
use response_time_analysis::wcet::Scalar;
use tidegate_cpu_analysis::{Level, Source, response};
use tidegate_model::Verdict;
use tidegate_model::{Duration, Random};

/// Above a limit of 100,000, the library's debug builds do not check every search by brute force.
const LIMIT: u64 = 100_000_000;

fn rbf(source: &Source) -> RBF<Sporadic, Scalar> {
    let arrivals = Sporadic::new(Ticks::from(source.period.ns()), Ticks::from(source.jitter.ns()));
    RBF::new(arrivals, Scalar::new(Service::from(source.execution.ns())))
}

/// Compares responses with other tasks' jitter, with blocking, and with deadlines beyond periods.
/// The library counts responses from the release, this crate from the arrival, so the task under
/// analysis has no jitter.
#[test]
fn responses_are_those_of_the_library() {
    let mut random = Random::new(7, 1);
    let (mut bounded, mut beyond_period) = (0, 0);
    for _ in 0..4_000 {
        let count = 1 + random.below(4);
        let others: Vec<Source> = (0..count)
            .map(|_| Source {
                execution: Duration::from_ns(1 + random.below(40)),
                period: Duration::from_ns(60 + random.below(200)),
                jitter: Duration::from_ns(random.below(2) * random.below(150)),
            })
            .collect();
        let own = Source::new(
            Duration::from_ns(1 + random.below(60)),
            Duration::from_ns(60 + random.below(200)),
        );
        let blocking = random.below(2) * random.below(30);
        let mut level = Level::new(&[]);
        level.delay_once(Duration::from_ns(blocking));
        for other in &others {
            level.add(*other, 1);
        }
        let interfering: Vec<_> = others.iter().map(rbf).collect();
        let analysed =
            TaskUnderAnalysis { rbf: &rbf(&own), blocking_bound: Service::from(blocking) };
        let theirs = dedicated_uniproc_rta(&analysed, &interfering, Ticks::from(LIMIT));
        match (response(&level, &own), theirs) {
            (Verdict::Bounded(ours), Ok(theirs)) => {
                assert_eq!(ours.ns(), u64::from(theirs), "{own:?} {others:?} {blocking}");
                bounded += 1;
                beyond_period += usize::from(ours > own.period);
            }
            // The library stops at its limit, this crate at too high a utilisation.
            (Verdict::NoBoundWithin { .. }, Err(_)) => {}
            (ours, theirs) => panic!("{ours:?} {theirs:?} {own:?} {others:?} {blocking}"),
        }
    }
    assert!(bounded > 2_000 && beyond_period > 100, "{bounded} {beyond_period}");
}
