// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Every policy behind every regulator, with every option of shaping.
//!
//! Goal: no checker reports a correct policy because of a regulator above it, and each checker
//! still catches a broken policy below a regulator. Method: a workload with a task of each
//! real-time class, a load that keeps requests in flight, and a load with its own clock, which is
//! detected as a stream.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use tidegate_drive::builtin;
use tidegate_model::parameters::{BestEffortRate, Shaping, TokenRate, TokenUnit};
use tidegate_model::{
    Bandwidth, Class, Intensity, Plan, PolicyName, RegulatorName, Request, Task, Time, Workload,
};
use tidegate_policy::{Decision, Dqf, Event, Full, Noop, Policy};
use tidegate_sim::checkers::{Breach, Checkers};
use tidegate_sim::{Length, SimParams, simulate};

use super::common::{
    self, OneAtATime, SIZE, TIMES_MS, assert_found, disk, load, ms, plan, table, task, workload,
};

use RegulatorName::{DepthLimit, Mdn, MdnExtended, TokenBucket, TokensPerTask};

const JOBS: u64 = 25;

/// Chains of regulators around a policy, the outermost first.
const CHAINS: [&[RegulatorName]; 11] = [
    &[],
    &[TokenBucket],
    &[Mdn],
    &[MdnExtended],
    &[TokensPerTask],
    &[DepthLimit],
    &[TokensPerTask, TokenBucket],
    &[TokenBucket, TokensPerTask],
    &[DepthLimit, TokenBucket],
    &[TokensPerTask, DepthLimit],
    &[Mdn, TokenBucket],
];

fn mixed_workload() -> Workload {
    let of = |name, period_ms, class| Task { class, ..task(name, period_ms) };
    let hard = Task { requests: 2, ..of("hard", 120, Class::Hard) };
    let tasks = vec![hard, of("soft", 90, Class::Soft), of("person", 80, Class::Interactive)];
    let stream = Intensity::Rate(Bandwidth::new(20 * SIZE.get()).unwrap());
    let loads = vec![load("backup", Intensity::Outstanding(6)), load("stream", stream)];
    let mut workload = workload(&TIMES_MS, tasks, loads);
    workload.contracts.drain = Some(table(&TIMES_MS));
    workload.parameters.depth_limit.in_flight_max = NonZeroU32::new(2);
    workload
}

/// Returns all kinds of shaping: a fixed rate or the tasks' remainder, with and without a rate for
/// interactive requests, with and without detection of streams.
fn shapings() -> Vec<(BestEffortRate, Shaping)> {
    let per_s = |per_s| TokenRate { unit: TokenUnit::Request, per_s };
    let rates = [BestEffortRate::Fixed(per_s(15)), BestEffortRate::Reserve { capacity: None }];
    let mut shapings = Vec::new();
    for rate in rates {
        for interactive_rate in [None, Some(per_s(10))] {
            for is_detecting in [false, true] {
                let usual = Shaping { burst: ms(100), ..Shaping::default() };
                shapings.push((rate, Shaping { interactive_rate, is_detecting, ..usual }));
            }
        }
    }
    shapings
}

fn shaped(chain: &[RegulatorName], rate: BestEffortRate, shaping: Shaping) -> Workload {
    let mut workload = mixed_workload();
    let parameters = &mut workload.parameters;
    (parameters.token_bucket.rate, parameters.token_bucket.shaping) = (rate, shaping);
    (parameters.mdn.shaping, parameters.mdn_extended.shaping) = (shaping, shaping);
    workload.regulators = chain.to_vec();
    workload
}

fn plan_of(workload: &Workload) -> Plan {
    Plan { best_effort_depth: 1, ..plan(workload, 3, 2) }
}

/// Runs a policy that is already built.
fn run(workload: &Workload, policy: impl Policy, checkers: &mut Checkers) -> u64 {
    let params = SimParams::new(workload, Length::Jobs(JOBS));
    simulate(&params, policy, disk(workload), checkers).real_time_left
}

#[test]
fn no_policy_is_accused_behind_any_regulator() {
    let file = builtin::load("fujitsu-max3036rc").unwrap();
    for name in PolicyName::ALL {
        for chain in CHAINS {
            for (rate, shaping) in shapings() {
                let workload = shaped(chain, rate, shaping);
                let plan = plan_of(&workload);
                let access = tidegate_drive::access_time(&file);
                let (policy, mut checkers) = Checkers::watching(name, &plan, access).unwrap();
                let left = run(&workload, policy, &mut checkers);
                let case = format!("{name} behind {chain:?}, {rate:?}, {shaping:?}");
                assert_eq!(checkers.violations(), [], "{case}");
                assert_eq!(left, 0, "{case}");
                if chain.is_empty() && tidegate_policy::parts(name).1.is_none() {
                    break; // without a shaper, the other rates and shapings change nothing
                }
            }
        }
    }
}

/// Returns the breaches when `canary` replaces the policy with this name behind each chain.
fn breaches(name: PolicyName, canary: impl Fn() -> Box<dyn Policy>) -> Vec<(String, Vec<Breach>)> {
    let behind = |chain: &&[RegulatorName]| {
        let per_s = TokenRate { unit: TokenUnit::Request, per_s: 15 };
        let shaping =
            Shaping { interactive_rate: Some(per_s), is_detecting: true, ..Shaping::default() };
        let workload = shaped(chain, BestEffortRate::Fixed(per_s), shaping);
        let plan = plan_of(&workload);
        let mut checkers = Checkers::of_policy(name, &plan);
        let mut canary = Some(canary());
        let put_in = |_, layer| match canary.take() {
            Some(canary) => checkers.watch(name, &plan, canary),
            None => layer,
        };
        let policy = tidegate_policy::build_watched(name, &plan, None, put_in).unwrap();
        run(&workload, policy, &mut checkers);
        (format!("{name} behind {chain:?}"), common::breaches(&checkers))
    };
    CHAINS.iter().map(behind).collect()
}

#[test]
fn policy_that_idles_with_work_it_may_send_is_caught_behind_every_regulator() {
    for name in [PolicyName::Fifo, PolicyName::Scan, PolicyName::Dqf, PolicyName::DqEdf] {
        // The policy holds the last request until another comes.
        let lazy = || -> Box<dyn Policy> {
            let next = |queue: &mut VecDeque<Request>| {
                if queue.len() > 1 { queue.pop_front() } else { None }
            };
            Box::new(OneAtATime::new(next))
        };
        for (case, found) in breaches(name, lazy) {
            let idles = |breach: &Breach| matches!(breach, Breach::RoomUnused { .. });
            assert_found(case, &found, idles);
        }
    }
}

/// The policy serves the youngest request of the oldest request's class first.
#[test]
fn policy_that_is_not_fifo_inside_a_class_is_caught_behind_every_regulator() {
    for name in [PolicyName::Fifo, PolicyName::Dqf, PolicyName::DqfElastic, PolicyName::Rtio] {
        let unfair = || -> Box<dyn Policy> {
            let next = |queue: &mut VecDeque<Request>| {
                let class = queue.front()?.class;
                let youngest = queue.iter().rposition(|request| request.class == class)?;
                queue.remove(youngest)
            };
            Box::new(OneAtATime::new(next))
        };
        for (case, found) in breaches(name, unfair) {
            let overtakes = |breach: &Breach| matches!(breach, Breach::Overtaken { .. });
            assert_found(case, &found, overtakes);
        }
    }
}

/// A policy that keeps its first plan and ignores later ones.
struct Deaf<P>(P);

impl<P: Policy> Policy for Deaf<P> {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Reconfigure(_) => Ok(()),
            event => self.0.observe(now, event),
        }
    }

    fn decide(&mut self, now: Time) -> Decision {
        self.0.decide(now)
    }
}

#[test]
fn policy_that_fills_the_drive_beyond_a_limit_of_depth_is_caught() {
    let too_many =
        |breach: &Breach| matches!(breach, Breach::TooManyInFlight { in_flight_max: 2, .. });
    for (case, found) in breaches(PolicyName::Noop, || Box::new(Deaf(Noop::new(4, 1_000)))) {
        assert_eq!(found.iter().any(too_many), case.contains("DepthLimit"), "{case}: {found:?}");
    }
}

#[test]
fn policy_that_overfills_a_batch_is_caught_behind_every_regulator() {
    let overfilling = || -> Box<dyn Policy> { Box::new(Dqf::new(4, 4, 1_000)) };
    for (case, found) in breaches(PolicyName::Dqf, overfilling) {
        // Below `depth-limit` this policy also makes small batches, because it follows the smaller
        // plan.
        let is_small = case.contains("DepthLimit");
        let is_caught = found.iter().any(|breach| matches!(breach, Breach::BatchTooLarge { .. }));
        assert!(is_caught || is_small, "{case}: {found:?}");
    }
}
