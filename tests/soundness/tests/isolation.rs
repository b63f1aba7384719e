// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A task that breaks its contract delays only itself: behind `tokens-per-task` all other tasks
//! keep their bounds, and no task has more eligible requests than its contract allows.
//!
//! Method: the plan is proved for one workload; in the workload that runs, one task releases more
//! requests at once, or more often, or both. Without the regulator, and with regulators that are
//! wrong on purpose, the same harness must find violations.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use rand::RngExt;
use tidegate_analysis::{Answer, assess};
use tidegate_drive::PseudoDisk;
use tidegate_model::{
    BatchChoice, BatchTable, Class, DispatchMode, Duration, Plan, PolicyName, RegulatorName,
    Request, RequestId, Task, TaskIndex, Time, Workload,
};
use tidegate_policy::{Decision, Event, Full, Policy, TokensPerTask};
use tidegate_sim::checkers::Checkers;
use tidegate_sim::{Length, SimParams, SimRun, simulate};
use tidegate_soundness::workloads::{self, Load};
use tidegate_soundness::{drains, generate};

const SEED: u64 = 20_261_121;

/// When requests of each task became eligible.
type Eligible = Rc<RefCell<BTreeMap<TaskIndex, Vec<Time>>>>;

/// Records the events that the policy gets.
struct Watch<P> {
    inner: P,
    eligible: Eligible,
}

impl<P: Policy> Policy for Watch<P> {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        let told = match &event {
            Event::Release(request) if request.class != Class::BestEffort => Some(*request),
            _ => None,
        };
        self.inner.observe(now, event)?;
        if let Some(request) = told {
            self.eligible.borrow_mut().entry(request.task).or_default().push(request.eligible);
        }
        Ok(())
    }

    fn decide(&mut self, now: Time) -> Decision {
        self.inner.decide(now)
    }
}

/// A proved workload, and the misbehaviour of one task.
struct Trial {
    number: u64,
    policy: PolicyName,
    /// The proved workload.
    contract: Workload,
    plan: Plan,
    bounds: Vec<Option<Duration>>,
    culprit: usize,
    /// The workload that runs.
    deeds: Workload,
}

impl Trial {
    fn new(number: u64) -> Self {
        Self::of(number, PolicyName::Dqf)
    }

    fn of(number: u64, policy: PolicyName) -> Self {
        let random = &mut generate::generator(SEED, number);
        let load = [Load::None, Load::Outstanding][usize::from(number.is_multiple_of(4))];
        let mut contract = workloads::workload(random, policy, load);
        if policy.facts().dispatch == DispatchMode::BestEffortDepth {
            contract = drains::leaning_on_drains(random, contract);
        }
        contract.regulators = vec![RegulatorName::TokensPerTask];
        let assessment = assess(&contract, policy);
        let plan = assessment.plan(&contract);
        let bounds = assessment.tasks.iter().map(|task| Some(task.response_max?.0)).collect();
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
        Self { number, policy, contract, plan, bounds, culprit, deeds }
    }

    /// Runs the trial; `regulator` builds the policy from the inner policy.
    fn run<P: Policy>(
        &self,
        regulator: impl FnOnce(Watch<Box<dyn Policy>>) -> P,
    ) -> (SimRun, Eligible, Checkers) {
        let eligible = Eligible::default();
        let bare = Plan { regulators: Vec::new(), ..self.plan.clone() };
        let mut checkers = Checkers::of_policy(self.policy, &self.plan);
        let inner = tidegate_policy::build(self.policy, &bare, None).unwrap();
        let inner = checkers.watch(self.policy, &bare, inner);
        let policy = regulator(Watch { inner, eligible: eligible.clone() });
        let drive = PseudoDisk::new(self.deeds.depth, self.deeds.table.clone(), self.number);
        let period_max = self.contract.tasks.iter().map(|task| task.period).max().unwrap();
        let random = &mut generate::generator(SEED + 1, self.number);
        let params = SimParams {
            releases: workloads::releases(random, &self.contract),
            seed: self.number,
            ..SimParams::new(&self.deeds, Length::Duration(period_max * 12))
        };
        let run = simulate(&params, policy, drive, &mut checkers);
        (run, eligible, checkers)
    }

    /// Returns a victim that responded later than its bound.
    fn victim(&self, run: &SimRun) -> Option<String> {
        let tasks = run.metrics.tasks().iter().zip(&self.bounds).enumerate();
        let mut victims = tasks.filter(|&(index, _)| index != self.culprit);
        victims.find_map(|(index, (task, &bound))| {
            let (response, bound) = (task.responses.max()?, bound?);
            let text = format!(
                "{}, number {}: task {index} responds in {response}, but its bound is {bound}; task \
                 {} misbehaves",
                self.policy, self.number, self.culprit
            );
            (response > bound).then_some(text)
        })
    }

    /// Returns a window with more eligible requests than a contract allows: in any closed window of
    /// length D at most e (floor(D / p) + 1).
    fn overfull_window(&self, eligible: &Eligible) -> Option<String> {
        eligible.borrow().iter().find_map(|(task, instants)| {
            assert!(instants.is_sorted(), "eligibility of one task never goes back");
            let contract = &self.contract.tasks[task.index()];
            overfull(contract, instants).map(|text| format!("{task:?}: {text}"))
        })
    }
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
    for number in 0..300 {
        let trial = Trial::new(number);
        let (run, eligible, checkers) = trial.run(|inner| TokensPerTask::new(inner, &trial.plan));
        assert_eq!(trial.victim(&run), None);
        assert_eq!(trial.overfull_window(&eligible), None, "number {number}");
        assert_eq!(checkers.violations(), [], "number {number}");
        assert_eq!(run.real_time_left, 0);
        promised += u64::from(trial.bounds.iter().all(Option::is_some));
        delayed += u64::from(run.metrics.tasks()[trial.culprit].misses > 0);
    }
    println!("isolation: {promised} of 300 with bounds for all; the culprit was late in {delayed}");
    assert!(promised > 100 && delayed > 100, "the trials are too tame");
}

/// The same for every other policy whose bound needs only the pseudo-disk's tables.
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
        for number in 0..100 {
            let trial = Trial::of(number, policy);
            let (run, ..) = trial.run(|inner| TokensPerTask::new(inner, &trial.plan));
            assert_eq!(trial.victim(&run), None);
            promised += u64::from(trial.bounds.iter().all(Option::is_some));
        }
        println!("isolation under {policy}: {promised} of 100 with bounds for all");
        assert!(promised > 20, "{policy}: the trials are too tame");
    }
}

#[test]
fn victims_without_the_regulator_are_caught() {
    let caught = (0..60).filter(|&number| {
        let trial = Trial::new(number);
        let (run, _, _) = trial.run(|inner| inner);
        trial.victim(&run).is_some()
    });
    let caught = caught.count();
    println!("isolation: without the regulator {caught} of 60 have a victim");
    assert!(caught > 10);
}

#[test]
fn one_token_too_many_is_caught() {
    let caught = (0..60).filter(|&number| {
        let trial = Trial::new(number);
        let mut generous = trial.plan.clone();
        generous.tasks.iter_mut().for_each(|task| task.requests += 1);
        let (run, eligible, _) = trial.run(|inner| TokensPerTask::new(inner, &generous));
        trial.overfull_window(&eligible).is_some() || trial.victim(&run).is_some()
    });
    assert!(caught.count() > 50);
}

/// Allows at most e requests of a task in the wrapped policy at once: tokens return at completion.
struct ReturnedAtCompletion<P> {
    inner: P,
    tokens: Vec<u32>,
    waiting: Vec<VecDeque<Request>>,
    owners: BTreeMap<RequestId, usize>,
}

impl<P: Policy> ReturnedAtCompletion<P> {
    fn new(inner: P, plan: &Plan) -> Self {
        let tokens: Vec<u32> = plan.tasks.iter().map(|task| task.requests).collect();
        let waiting = vec![VecDeque::new(); tokens.len()];
        Self { inner, tokens, waiting, owners: BTreeMap::new() }
    }

    fn hand_over(&mut self, now: Time) {
        for task in 0..self.tokens.len() {
            while self.tokens[task] > 0
                && let Some(request) = self.waiting[task].pop_front()
            {
                self.tokens[task] -= 1;
                self.owners.insert(request.id, task);
                let eligible = Event::Release(Request { eligible: now, ..request });
                self.inner.observe(now, eligible).unwrap();
            }
        }
    }
}

impl<P: Policy> Policy for ReturnedAtCompletion<P> {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) if request.class != Class::BestEffort => {
                self.waiting[request.task.index()].push_back(request);
            }
            Event::Complete { id, .. } => {
                if let Some(task) = self.owners.remove(&id) {
                    self.tokens[task] += 1;
                }
                self.inner.observe(now, event)?;
            }
            event => self.inner.observe(now, event)?,
        }
        self.hand_over(now);
        Ok(())
    }

    fn decide(&mut self, now: Time) -> Decision {
        self.inner.decide(now)
    }
}

#[test]
fn tokens_that_return_at_completion_are_caught() {
    let caught = (0..60).filter(|&number| {
        let trial = Trial::new(number);
        let (run, eligible, _) = trial.run(|inner| ReturnedAtCompletion::new(inner, &trial.plan));
        trial.overfull_window(&eligible).is_some() || trial.victim(&run).is_some()
    });
    assert!(caught.count() > 30);
}

/// A flood uses its whole contract: e (k + 1) requests in a window of k periods.
#[test]
fn flood_is_given_all_of_its_contract() {
    let trial = (0..100).map(Trial::new).find(|trial| {
        let deeds = &trial.deeds.tasks[trial.culprit];
        let contract = &trial.contract.tasks[trial.culprit];
        deeds.requests > 10 && deeds.period < contract.period
    });
    let trial = trial.expect("a flood among a hundred");
    let (_, eligible, _) = trial.run(|inner| TokensPerTask::new(inner, &trial.plan));
    let contract = &trial.contract.tasks[trial.culprit];
    let index = TaskIndex(u32::try_from(trial.culprit).unwrap());
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

/// Goal: requests that come one by one may be served in separate batches. Method: one task of two
/// requests, b = 2, 3: together 3, one by one 2 + 2.
#[test]
fn behind_tokens_a_job_is_bounded_as_requests_that_come_one_by_one() {
    let bound = |regulators| {
        let assessment = assess(&single(2, &[2, 3], regulators), PolicyName::Dqf);
        assert_eq!((assessment.answer, assessment.tasks.len()), (Answer::Proven, 1));
        (assessment.tasks[0].response_max.unwrap().0, assessment.assumptions.len())
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
        let load = Load::ALL[usize::try_from(number % 4).unwrap()];
        let workload = workloads::workload(random, PolicyName::Dqf, load);
        let params = SimParams {
            releases: workloads::releases(random, &workload),
            seed: number,
            ..SimParams::new(&workload, Length::Jobs(40))
        };
        let assessment = assess(&workload, PolicyName::DqfElastic);
        let plan = assessment.plan(&workload);
        let run = |name| {
            let mut checkers = Checkers::of_policy(name, &plan);
            let drive = PseudoDisk::new(workload.depth, workload.table.clone(), number);
            let policy = tidegate_policy::build(name, &plan, None).unwrap();
            let run = simulate(&params, policy, drive, &mut checkers);
            assert_eq!(checkers.violations(), [], "{name} number {number}");
            run
        };
        let elastic = run(PolicyName::DqfElastic);
        if assessment.tasks.iter().any(|task| task.response_max.is_none()) {
            continue;
        }
        bounded += 1;
        assert_eq!(elastic, run(PolicyName::Dqf), "number {number}");
        for (task, promise) in elastic.metrics.tasks().iter().zip(&assessment.tasks) {
            assert!(task.responses.max() <= promise.response_max.map(|(bound, _)| bound));
        }
    }
    println!("dqf-elastic: {bounded} of 150 with bounds, all of them runs of dqf");
    assert!(bounded > 40);
}

/// Canary: a policy with larger batches that claims to be elastic.
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

/// A policy that does not know the limit is caught, and one that knows it is not.
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
