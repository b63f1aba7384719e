// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bounds beside a shaper: what `assess` promises with regulators round a policy, held against
//! the policy's own code behind them; and tasks that wait for their own buffers.

use analysis::{Answer, Assessment, assess};
use drive::PseudoDisk;
use model::parameters::{BestEffortRate, MdnParameters, Shaping, TokenRate, TokenUnit};
use model::{Class, Duration, PolicyName, RegulatorName, Workload};
use rand::RngExt;
use rand_pcg::Pcg64;
use sim::checkers::Checkers;
use sim::{Length, SimParams, SimRun, simulate};
use soundness::generate;
use soundness::workloads::{self, Load};

const SEED: u64 = 20_261_123;

/// A random workload behind a random shaper, its tasks soft, half of them with buffers.
fn shaped(random: &mut Pcg64, policy: PolicyName, load: Load) -> Workload {
    let mut workload = workloads::workload(random, policy, load);
    let regulators = [RegulatorName::TokenBucket, RegulatorName::Mdn, RegulatorName::MdnExtended];
    workload.regulators = vec![regulators[random.random_range(0..3)]];
    let rate = TokenRate { unit: TokenUnit::Request, per_s: random.random_range(1..500) };
    let burst = Duration::from_ms(random.random_range(0..200));
    let shaping = Shaping { burst, ..Shaping::default() };
    workload.parameters.token_bucket.rate = BestEffortRate::Fixed(rate);
    workload.parameters.token_bucket.shaping = shaping;
    let mdn = MdnParameters { increase: rate, rate_min: rate, shaping, ..MdnParameters::default() };
    (workload.parameters.mdn, workload.parameters.mdn_extended) = (mdn, mdn);
    for task in &mut workload.tasks {
        task.class = Class::Soft;
        task.outstanding_max = random.random_bool(0.5).then(|| random.random_range(1..4));
    }
    workload
}

fn run(workload: &Workload, assessment: &Assessment, number: u64) -> SimRun {
    let plan = assessment.plan(workload);
    let drive = PseudoDisk::new(workload.depth, workload.table.clone(), number);
    let params = SimParams { seed: number, ..SimParams::new(workload, Length::Jobs(60)) };
    let policy = policy::build(assessment.policy, &plan, None).unwrap();
    let mut checkers = Checkers::of_policy(assessment.policy, &plan);
    let run = simulate(&params, policy, drive, &mut checkers);
    assert_eq!(checkers.violations(), vec![], "workload {number}");
    run
}

/// The tasks whose longest response exceeds what was promised.
fn broken(assessment: &Assessment, run: &SimRun) -> usize {
    let observed = run.metrics.tasks().iter().map(|task| task.responses.max());
    let promised = assessment.tasks.iter().map(|task| task.response_max);
    let is_broken = |(observed, promised): (Option<Duration>, Option<(Duration, _)>)| {
        observed.zip(promised).is_some_and(|(observed, (bound, _))| observed > bound)
    };
    observed.zip(promised).filter(|&pair| is_broken(pair)).count()
}

#[test]
fn no_response_behind_a_shaper_exceeds_a_bound() {
    let (mut bounded, mut proven) = (0, 0);
    for (policy, load) in [
        (PolicyName::Dqf, Load::Outstanding),
        (PolicyName::Dqf, Load::Rate),
        (PolicyName::Dqf, Load::Both),
        (PolicyName::Fifo, Load::Outstanding),
    ] {
        for number in 0..150 {
            let random = &mut generate::generator(SEED + load as u64, number);
            let workload = shaped(random, policy, load);
            let assessment = assess(&workload, policy);
            if assessment.tasks.iter().all(|task| task.response_max.is_none()) {
                continue;
            }
            assert!(assessment.assumptions.iter().any(|text| text.contains("shaped")));
            let run = run(&workload, &assessment, number);
            assert_eq!(broken(&assessment, &run), 0, "{policy} {load:?} {number}: {workload:#?}");
            bounded += 1;
            proven += u64::from(assessment.answer == Answer::Proven);
        }
    }
    println!("{bounded} runs with a bound, {proven} proven");
    assert!(bounded > 100 && proven > 50, "{bounded} {proven}");
}

/// Canary: a bound that is a tenth too low does not survive.
#[test]
fn an_optimistic_bound_behind_a_shaper_is_caught() {
    let caught = (0..150).any(|number| {
        let random = &mut generate::generator(SEED, number);
        let workload = shaped(random, PolicyName::Dqf, Load::Outstanding);
        let mut assessment = assess(&workload, PolicyName::Dqf);
        let run = run_if_bounded(&workload, &assessment, number);
        for task in &mut assessment.tasks {
            let optimistic =
                |(bound, name): (Duration, _)| (Duration::from_ns(bound.ns() / 10 * 9), name);
            task.response_max = task.response_max.map(optimistic);
        }
        run.is_some_and(|run| broken(&assessment, &run) > 0)
    });
    assert!(caught, "the harness is broken");
}

fn run_if_bounded(workload: &Workload, assessment: &Assessment, number: u64) -> Option<SimRun> {
    let is_bounded = assessment.tasks.iter().all(|task| task.response_max.is_some());
    is_bounded.then(|| run(workload, assessment, number))
}

/// Where shaping changes what the proof counted, there is no bound, and it says why.
#[test]
fn what_shaping_breaks_is_not_promised() {
    let random = &mut generate::generator(SEED, 0);
    let base = shaped(random, PolicyName::Dqf, Load::Rate);
    let reason = |workload: &Workload, policy| match assess(workload, policy).answer {
        Answer::NotApplicable { reason } => reason,
        answer => panic!("{answer:?}"),
    };
    assert!(reason(&base, PolicyName::Fifo).contains("gathers while it is shaped"));
    assert!(reason(&base, PolicyName::Mdn).contains("noop"));
    let mut detecting = base.clone();
    detecting.regulators = vec![RegulatorName::TokenBucket];
    detecting.parameters.token_bucket.shaping.is_detecting = true;
    assert!(reason(&detecting, PolicyName::Dqf).contains("detect"));
    let mut interactive = base;
    interactive.regulators = vec![RegulatorName::TokenBucket];
    interactive.tasks[0].class = Class::Interactive;
    let rate = TokenRate { unit: TokenUnit::Request, per_s: 1 };
    interactive.parameters.token_bucket.shaping.interactive_rate = Some(rate);
    assert!(reason(&interactive, PolicyName::Dqf).contains("interactive"));
}
