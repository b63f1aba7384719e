// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A task that breaks its contract delays only itself: behind `tokens-per-task` all other tasks
//! keep their bounds, and no task has more eligible requests than its contract allows.
//!
//! Method: the plan is proved for one workload; in the workload that runs, one task releases more
//! requests at the same time, or more often, or both. Without the regulator, and with regulators
//! that are wrong on purpose, the same harness must find violations.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use rand::RngExt;
use tidegate_analysis::{Answer, assess};
use tidegate_drive::PseudoDisk;
use tidegate_model::{
    BatchChoice, BatchTable, Class, DispatchMode, Duration, Plan, PolicyName, PremiseCode,
    RegulatorName, Request, RequestId, Task, TaskIndex, Time, Workload,
};
use tidegate_policy::{Event, Policy, TokensPerTask};
use tidegate_sim::checkers::Checkers;
use tidegate_sim::{Length, SimParams, SimRun, simulate};
use tidegate_soundness::between::Between;
use tidegate_soundness::trial::Trial;
use tidegate_soundness::workloads::{self, Load};
use tidegate_soundness::{drains, generate};

const SEED: u64 = 20_261_121;

/// The instants at which requests of each task became eligible.
type Eligible = Rc<RefCell<BTreeMap<TaskIndex, Vec<Time>>>>;

/// Records in `eligible` when the policy gets requests.
fn recorded(inner: Box<dyn Policy>, eligible: Eligible) -> Box<dyn Policy> {
    let observe = move |inner: &mut Box<dyn Policy>, now, event: Event| {
        let told = match &event {
            Event::Release(request) if request.class != Class::BestEffort => Some(*request),
            _ => None,
        };
        inner.observe(now, event)?;
        if let Some(request) = told {
            eligible.borrow_mut().entry(request.task).or_default().push(request.eligible);
        }
        Ok(())
    };
    Box::new(Between { inner, observe })
}

/// Returns a proved workload in which one task misbehaves.
fn trial(number: u64) -> Trial {
    trial_of(number, PolicyName::Dqf)
}

fn trial_of(number: u64, policy: PolicyName) -> Trial {
    let random = &mut generate::generator(SEED, number);
    let load = [Load::None, Load::Outstanding][usize::from(number.is_multiple_of(4))];
    let mut contract = workloads::workload(random, policy, load);
    if policy.facts().dispatch == DispatchMode::BestEffortDepth {
        contract = drains::leaning_on_drains(random, contract);
    }
    contract.regulators = vec![RegulatorName::TokensPerTask];
    let culprit = random.random_range(0..contract.tasks.len());
    let mut deeds = contract.clone();
    let task = &mut deeds.tasks[culprit];
    let kind = random.random_range(0..3);
    if kind != 0 {
        task.requests += random.random_range(1..=20);
    }
    if kind != 1 {
        let faster = random.random_range(2..=8);
        task.period = Duration::from_ns((task.period.ns() / faster).max(1));
    }
    let releases = workloads::releases(&mut generate::generator(SEED + 1, number), &contract);
    Trial::new(number, policy, contract, releases, 0).with_culprit(culprit, deeds, 12)
}

/// Runs the trial; `regulator` builds the policy from the inner policy.
fn run<P: Policy>(
    trial: &Trial,
    regulator: impl FnOnce(Box<dyn Policy>) -> P,
) -> (SimRun, Eligible, Checkers) {
    let eligible = Eligible::default();
    let policy = trial.assessment.policy;
    let bare = Plan { regulators: Vec::new(), ..trial.plan.clone() };
    let mut checkers = Checkers::of_policy(policy, &trial.plan);
    let inner = tidegate_policy::build(policy, &bare, None).unwrap();
    let inner = checkers.watch(policy, &bare, inner);
    let policy = regulator(recorded(inner, eligible.clone()));
    let run = trial.run(policy, trial.pseudo_disk(), &mut checkers);
    (run, eligible, checkers)
}

/// Returns a window with more eligible requests than a contract allows: in any closed window of
/// length D at most e (floor(D / p) + 1).
fn overfull_window(trial: &Trial, eligible: &Eligible) -> Option<String> {
    eligible.borrow().iter().find_map(|(task, instants)| {
        assert!(instants.is_sorted(), "eligibility of one task never goes back");
        let contract = &trial.workload.tasks[task.index()];
        overfull(contract, instants).map(|text| format!("{task:?}: {text}"))
    })
}

fn overfull(contract: &Task, instants: &[Time]) -> Option<String> {
    for (first, &from) in instants.iter().enumerate() {
        // Windows that begin and end with a request are the fullest.
        for (count, &to) in (1_u64..).zip(&instants[first..]) {
            let length = to.since(from);
            let periods = length.ns() / contract.period.ns();
            let allowed = u64::from(contract.requests) * (periods + 1);
            if count > allowed {
                return Some(format!("{count} eligible in {length}, {allowed} are allowed"));
            }
        }
    }
    None
}

#[test]
fn others_keep_their_bounds_whatever_one_task_does() {
    let (mut promised, mut delayed) = (0, 0);
    for trial in (0..300).map(trial) {
        let (run, eligible, checkers) = run(&trial, |inner| TokensPerTask::new(inner, &trial.plan));
        assert_eq!(trial.broken_promise(&run), None);
        assert_eq!(overfull_window(&trial, &eligible), None, "number {}", trial.number);
        assert_eq!(checkers.violations(), [], "number {}", trial.number);
        assert_eq!(run.real_time_left, 0);
        promised += u64::from(trial.is_bounded_throughout());
        let culprit = trial.culprit.expect("one task misbehaves");
        delayed += u64::from(run.metrics.tasks()[culprit].misses > 0);
    }
    println!("isolation: {promised} of 300 with bounds for all; the culprit was late in {delayed}");
    assert!(promised > 100 && delayed > 100, "the trials are too tame");
}

/// The other tasks keep their bounds under every other policy whose bound needs only the
/// pseudo-disk's tables.
#[test]
fn others_keep_their_bounds_under_every_policy() {
    let policies = [
        PolicyName::Fifo,
        PolicyName::Edf,
        PolicyName::ScanEdf,
        PolicyName::DqEdf,
        PolicyName::RtioDrain,
        PolicyName::RtioLimit,
        PolicyName::GatedDrain,
        PolicyName::DqfElastic,
    ];
    for policy in policies {
        let mut promised = 0;
        for trial in (0..100).map(|number| trial_of(number, policy)) {
            let (run, ..) = run(&trial, |inner| TokensPerTask::new(inner, &trial.plan));
            assert_eq!(trial.broken_promise(&run), None);
            promised += u64::from(trial.is_bounded_throughout());
        }
        println!("isolation under {policy}: {promised} of 100 with bounds for all");
        assert!(promised > 20, "{policy}: the trials are too tame");
    }
}

/// Returns in how many of 60 trials another task is late, or requests of a task become eligible too
/// early, behind this regulator.
fn caught<P: Policy>(regulator: impl Fn(Box<dyn Policy>, &Plan) -> P) -> usize {
    let is_caught = |trial: &Trial| {
        let (run, eligible, _) = run(trial, |inner| regulator(inner, &trial.plan));
        overfull_window(trial, &eligible).is_some() || trial.broken_promise(&run).is_some()
    };
    (0..60).map(trial).filter(is_caught).count()
}

#[test]
fn victims_without_the_regulator_are_caught() {
    let has_victim = |trial: &Trial| {
        let (run, ..) = run(trial, |inner| inner);
        trial.broken_promise(&run).is_some()
    };
    let caught = (0..60).map(trial).filter(has_victim).count();
    println!("isolation: without the regulator {caught} of 60 have a victim");
    assert!(caught > 10);
}

#[test]
fn one_token_too_many_is_caught() {
    let generous = |inner, plan: &Plan| {
        let mut generous = plan.clone();
        generous.tasks.iter_mut().for_each(|task| task.requests += 1);
        TokensPerTask::new(inner, &generous)
    };
    assert!(caught(generous) > 50);
}

/// Allows at most e requests of a task in the wrapped policy at the same time: tokens return at
/// completion.
fn returned_at_completion<P: Policy>(inner: P, plan: &Plan) -> impl Policy + use<P> {
    let mut tokens: Vec<u32> = plan.tasks.iter().map(|task| task.requests).collect();
    let mut waiting = vec![VecDeque::new(); tokens.len()];
    let mut owners: BTreeMap<RequestId, usize> = BTreeMap::new();
    let observe = move |inner: &mut P, now, event| {
        match event {
            Event::Release(request) if request.class != Class::BestEffort => {
                waiting[request.task.index()].push_back(request);
            }
            event => {
                if let Event::Complete { id, .. } = &event
                    && let Some(task) = owners.remove(id)
                {
                    tokens[task] += 1;
                }
                inner.observe(now, event)?;
            }
        }
        for (task, tokens) in tokens.iter_mut().enumerate() {
            while *tokens > 0
                && let Some(request) = waiting[task].pop_front()
            {
                *tokens -= 1;
                owners.insert(request.id, task);
                inner.observe(now, Event::Release(Request { eligible: now, ..request }))?;
            }
        }
        Ok(())
    };
    Between { inner, observe }
}

#[test]
fn tokens_that_return_at_completion_are_caught() {
    assert!(caught(returned_at_completion) > 30);
}

/// A flood uses its whole contract: e (k + 1) requests in a window of k periods.
#[test]
fn flood_is_given_all_of_its_contract() {
    let flood = (0..100).map(trial).find_map(|trial| {
        let culprit = trial.culprit?;
        let (deeds, contract) =
            (&trial.deeds.as_ref()?.tasks[culprit], &trial.workload.tasks[culprit]);
        (deeds.requests > 10 && deeds.period < contract.period).then_some((trial, culprit))
    });
    let (trial, culprit) = flood.expect("a flood among a hundred");
    let (_, eligible, _) = run(&trial, |inner| TokensPerTask::new(inner, &trial.plan));
    let contract = &trial.workload.tasks[culprit];
    let index = TaskIndex(u32::try_from(culprit).unwrap());
    let eligible = eligible.borrow();
    let instants = &eligible[&index];
    let until = instants[0] + contract.period * 5;
    let count = instants.iter().filter(|&&at| at <= until).count();
    assert_eq!(count, contract.requests as usize * 6);
}

fn single(requests: u32, times_ms: &[u64], regulators: Vec<RegulatorName>) -> Workload {
    let times: Vec<Duration> = times_ms.iter().copied().map(Duration::from_ms).collect();
    let table = BatchTable::new(&times).unwrap();
    let random = &mut generate::generator(SEED, 0);
    let mut task = workloads::workload(random, PolicyName::Dqf, Load::None).tasks.remove(0);
    task.period = Duration::from_ms(100);
    task.deadline = task.period;
    task.requests = requests;
    Workload {
        tasks: vec![task],
        batch: BatchChoice::Fixed(table.batch_max()),
        regulators,
        ..Workload::new("test", table.batch_max(), table)
    }
}

/// Goal: behind tokens the bound of a job covers requests that come one by one and are served in
/// separate batches. Method: one task of two requests, b = 2, 3: one batch takes 3, two take 2 + 2.
#[test]
fn behind_tokens_a_job_is_bounded_as_requests_that_come_one_by_one() {
    let bound = |regulators| {
        let assessment = assess(&single(2, &[2, 3], regulators), PolicyName::Dqf);
        assert_eq!((assessment.answer, assessment.tasks.len()), (Answer::Proven, 1));
        let premises = assessment.premises.iter();
        let of_tokens = premises.filter(|premise| premise.code == PremiseCode::TokensPerTask);
        (assessment.tasks[0].response_max.unwrap().0, of_tokens.count())
    };
    assert_eq!(bound(Vec::new()), (Duration::from_ms(3), 0));
    assert_eq!(bound(vec![RegulatorName::TokensPerTask]), (Duration::from_ms(4), 1));
}

/// With at most two requests on the drive, three take b(2) + b(2) in the worst case, not b(3).
#[test]
fn behind_a_depth_limit_batches_are_no_larger() {
    let mut workload = single(3, &[2, 3, 3], vec![RegulatorName::DepthLimit]);
    workload.parameters.depth_limit.in_flight_max = std::num::NonZeroU32::new(2);
    let assessment = assess(&workload, PolicyName::Dqf);
    assert!(assessment.batch_max <= 2);
    assert!(assessment.tasks[0].response_max.unwrap().0 >= Duration::from_ms(5));
    assert_eq!(assess(&workload, PolicyName::Noop).batch_max, 2);
}

/// While contracts are kept, `dqf-elastic` is `dqf`: the same run, within the same bounds.
#[test]
fn elastic_batches_are_those_of_dqf_while_contracts_are_kept() {
    let mut bounded = 0;
    for number in 0..150 {
        let random = &mut generate::generator(SEED + 2, number);
        let workload = workloads::workload(random, PolicyName::Dqf, Load::numbered(number));
        let releases = workloads::releases(random, &workload);
        let mut trial = Trial::new(number, PolicyName::DqfElastic, workload, releases, 40);
        let run = |trial: &Trial| trial.checked_run_of(trial.policy(), trial.pseudo_disk(), ()).0;
        let elastic = run(&trial);
        if !trial.is_bounded_throughout() {
            continue;
        }
        bounded += 1;
        assert_eq!(trial.broken_promise(&elastic), None);
        trial.assessment.policy = PolicyName::Dqf;
        assert_eq!(elastic, run(&trial), "number {number}");
    }
    println!("dqf-elastic: {bounded} of 150 with bounds, all of them runs of dqf");
    assert!(bounded > 40);
}

/// Canary: a policy with larger batches that claims to be elastic is caught.
#[test]
fn batches_beyond_z_without_an_overload_are_caught() {
    let workload = single(3, &[2, 3, 3], Vec::new());
    let plan = Plan { batch_max: 2, ..Plan::of(&workload) };
    let mut checkers = Checkers::of_policy(PolicyName::DqfElastic, &plan);
    let drive = PseudoDisk::new(workload.depth, workload.table.clone(), 1);
    let params = SimParams::new(&workload, Length::Jobs(5));
    simulate(&params, tidegate_policy::Dqf::new(3, 0, 100), drive, &mut checkers);
    assert!(checkers.violation_count() > 0);
}

/// A policy that ignores the depth limit is caught; a policy that keeps to it is not.
#[test]
fn drive_filled_beyond_the_limit_is_caught() {
    let mut workload = single(3, &[2, 3, 3], vec![RegulatorName::DepthLimit]);
    workload.parameters.depth_limit.in_flight_max = std::num::NonZeroU32::new(2);
    let plan = Plan::of(&workload);
    let violations = |policy: Box<dyn Policy>| {
        let mut checkers = Checkers::of_policy(PolicyName::Noop, &plan);
        let drive = PseudoDisk::new(workload.depth, workload.table.clone(), 1);
        simulate(&SimParams::new(&workload, Length::Jobs(5)), policy, drive, &mut checkers);
        checkers.violation_count()
    };
    assert!(violations(Box::new(tidegate_policy::Noop::new(3, 100))) > 0);
    assert_eq!(violations(tidegate_policy::build(PolicyName::Noop, &plan, None).unwrap()), 0);
}
