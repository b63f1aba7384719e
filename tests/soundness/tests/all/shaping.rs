// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bounds behind a shaper: compares the bounds that `assess` gives for a policy behind
//! `token-bucket`, `mdn` or `mdn-extended` with runs of the policy's own code behind the same
//! shaper.
//!
//! Best effort reads and writes, tasks are of every class, some wait for their own buffers, and a
//! wrapper reports missed deadlines and ends of streams that did not happen.

use rand::RngExt;
use rand_pcg::Pcg64;
use tidegate_analysis::{Answer, assess};
use tidegate_model::parameters::{BestEffortRate, MdnParameters, Shaping, TokenRate, TokenUnit};
use tidegate_model::{
    Class, DispatchMode, Duration, Op, Plan, PolicyName, Premise, PremiseCode, RegulatorName,
    Request, TaskIndex, Workload,
};
use tidegate_policy::{Event, NoticeKind, Policy};
use tidegate_sim::SimRun;
use tidegate_soundness::between::Between;
use tidegate_soundness::trial::{Closeness, Trial, assert_caught};
use tidegate_soundness::workloads::{self, Load};
use tidegate_soundness::{drains, generate};

const SEED: u64 = 20_261_125;
const TRIALS: u64 = 100;
const JOBS: u64 = 40;
const SHAPERS: [RegulatorName; 3] =
    [RegulatorName::TokenBucket, RegulatorName::Mdn, RegulatorName::MdnExtended];
const BEHIND: [PolicyName; 4] =
    [PolicyName::Dqf, PolicyName::RtioDrain, PolicyName::RtioLimit, PolicyName::GatedDrain];

fn any_rate(random: &mut Pcg64) -> TokenRate {
    let per_s = random.random_range(1..500);
    match random.random_range(0..3) {
        0 => TokenRate { unit: TokenUnit::Request, per_s },
        1 => TokenRate { unit: TokenUnit::Byte, per_s: per_s * workloads::SIZE.get() },
        _ => TokenRate { unit: TokenUnit::DeviceTime, per_s: per_s * 2_000_000 },
    }
}

fn any_shaping(random: &mut Pcg64) -> Shaping {
    Shaping {
        burst: Duration::from_ms(random.random_range(0..200)),
        write_rate: random.random_bool(0.3).then(|| any_rate(random)),
        ..Shaping::default()
    }
}

fn shape(random: &mut Pcg64, workload: &mut Workload, shaper: RegulatorName) {
    workload.regulators = vec![shaper];
    let bucket = &mut workload.parameters.token_bucket;
    bucket.rate = match random.random_range(0..4) {
        0 => BestEffortRate::Reserve { capacity: None },
        _ => BestEffortRate::Fixed(any_rate(random)),
    };
    bucket.shaping = any_shaping(random);
    let increase = any_rate(random);
    let mdn = MdnParameters {
        increase,
        rate_min: TokenRate { per_s: 1, ..increase },
        hold: Duration::from_ms(random.random_range(0..300)),
        shaping: any_shaping(random),
        ..MdnParameters::default()
    };
    (workload.parameters.mdn, workload.parameters.mdn_extended) = (mdn, mdn);
    for task in &mut workload.tasks {
        let classes = [Class::Hard, Class::Hard, Class::Soft, Class::Interactive];
        task.class = classes[random.random_range(0..classes.len())];
        task.outstanding_max = random.random_bool(0.3).then(|| random.random_range(1..4));
    }
    for load in &mut workload.best_effort {
        load.op = if random.random_bool(0.5) { Op::Read } else { Op::Write };
    }
}

fn trial(number: u64, name: PolicyName, shaper: RegulatorName) -> Trial {
    let random = &mut generate::generator(SEED + shaper as u64, number);
    let load = Load::numbered(1 + number % 3);
    let mut workload = workloads::workload(random, name, load);
    if name.facts().dispatch == DispatchMode::BestEffortDepth {
        workload = drains::leaning_on_drains(random, workload);
    }
    shape(random, &mut workload, shaper);
    let releases = workloads::releases(random, &workload);
    Trial::new(number, name, workload, releases, JOBS)
}

/// Runs the policy behind a wrapper that passes on all events and adds false notices: about any
/// task, about loads, and about unknown sources.
fn run(trial: &Trial) -> SimRun {
    let mut random = generate::generator(SEED + 9, trial.number);
    // Of a hundred events, this many are followed by a false notice.
    let percent = [0, 5, 100][random.random_range(0..3)];
    let Workload { tasks, best_effort, .. } = &trial.workload;
    let sources = u32::try_from(tasks.len() + best_effort.len()).expect("few");
    let observe = |inner: &mut Box<dyn Policy>, now, event| {
        inner.observe(now, event)?;
        if random.random_range(0..100) < percent {
            let task = TaskIndex(random.random_range(0..=sources));
            let kinds = [NoticeKind::DeadlineMissed, NoticeKind::StreamEnded];
            let kind = kinds[random.random_range(0..kinds.len())];
            inner.observe(now, Event::Notice { task, kind })?;
        }
        Ok(())
    };
    let liar = Between { inner: trial.policy(), observe };
    trial.checked_run_of(liar, trial.drive(), ()).0
}

/// Returns the trials with a bound for every task.
fn bounded(name: PolicyName, shaper: RegulatorName) -> impl Iterator<Item = Trial> {
    let trials = (0..TRIALS).map(move |number| trial(number, name, shaper));
    trials.filter(Trial::is_bounded_throughout)
}

#[test]
fn no_response_behind_a_shaper_exceeds_a_bound() {
    for name in BEHIND {
        for shaper in SHAPERS {
            let mut closeness = Closeness::default();
            for trial in bounded(name, shaper) {
                let is_said = |it: &Premise| it.code == PremiseCode::ShapedBestEffort;
                assert!(trial.assessment.premises.iter().any(is_said));
                closeness.note(&trial, &run(&trial));
            }
            closeness.conclude(&format!("{} round {name}", shaper.name()), 20);
        }
    }
}

#[test]
fn optimistic_bound_behind_a_shaper_is_caught() {
    for name in BEHIND {
        let trials = bounded(name, RegulatorName::MdnExtended);
        assert_caught("a bound a tenth too low", trials, |trial| {
            trial.lower_bounds();
            run(trial)
        });
    }
}

/// Canary: a shaper that puts hard requests in the lane of interactive requests, which has a rate,
/// is caught.
#[test]
fn shaper_that_holds_hard_requests_back_is_caught() {
    for name in BEHIND {
        let trials = bounded(name, RegulatorName::TokenBucket);
        assert_caught("a shaper of hard requests", trials, |trial| {
            let mut plan: Plan = trial.plan.clone();
            let rate = TokenRate { unit: TokenUnit::Request, per_s: 100 };
            plan.parameters.token_bucket.shaping.interactive_rate = Some(rate);
            let observe = |inner: &mut Box<dyn Policy>, now, event| match event {
                Event::Release(request) if request.class != Class::BestEffort => {
                    let request = Request { class: Class::Interactive, ..request };
                    inner.observe(now, Event::Release(request))
                }
                event => inner.observe(now, event),
            };
            let inner = tidegate_policy::build(name, &plan, None).unwrap();
            let policy = Between { inner, observe };
            trial.run(policy, trial.drive(), &mut ())
        });
    }
}

/// If shaping changes the requests that the proof counts, there is no bound, and the answer says
/// why.
#[test]
fn what_shaping_breaks_is_not_promised() {
    let base = (0..TRIALS)
        .map(|number| trial(number, PolicyName::Dqf, RegulatorName::TokenBucket).workload)
        .find(|workload| {
            matches!(workload.best_effort[0].intensity, tidegate_model::Intensity::Rate(_))
        })
        .expect("an open loop among a hundred");
    let reason = |workload: &Workload, policy| match assess(workload, policy).answer {
        Answer::NotApplicable { reason } => reason,
        answer => panic!("{answer:?}"),
    };
    assert!(reason(&base, PolicyName::Fifo).contains("gathers while it is shaped"));
    let mut detecting = base.clone();
    detecting.parameters.token_bucket.shaping.is_detecting = true;
    let mut interactive = base;
    interactive.tasks[0].class = Class::Interactive;
    let rate = TokenRate { unit: TokenUnit::Request, per_s: 1 };
    interactive.parameters.token_bucket.shaping.interactive_rate = Some(rate);
    for name in BEHIND {
        assert!(reason(&detecting, name).contains("detect"));
        assert!(reason(&interactive, name).contains("interactive"));
    }
}
