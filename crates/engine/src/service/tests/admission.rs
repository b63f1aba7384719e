// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: every in-contract call completes within the bound that was proved for the exports at its
//! arrival, while exports are admitted and removed. Method: random changes while clients send all
//! requests that their contracts allow.
//!
//! The drive always takes the full b(i), completes requests in any order, and flushes after every
//! batch that needs it.

use std::collections::BTreeMap;

use oneshot::{Receiver, channel};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use tidegate_model::{Duration, ExportSpec, Plan, PolicyName, Time};

use super::asking::{SIZE, any_kind, call_at};
use crate::service::call::{Awaited, Call, CallError};
use crate::service::core::{Core, GivenUp, Successor, Switch};
use crate::service::harness::offered::Rules;
use crate::service::harness::store::Store;
use crate::service::harness::{drive_file, table};
use crate::service::offer::{Arrangement, ExportId, Member};
use crate::service::statistics::Watch;

/// All exports that can be admitted. `floods` and `breaks` send a new call as soon as one
/// completes. While `tight` is admitted, its deadline leaves hardly any room for best effort.
/// Without `tight`, there is much room, and the bounds of `quick` and `pair` are larger.
const SERVE: &str = r#"
backing = "disk"
drive = "disk.drive.toml"
size_max = "16KiB"
[policy]
name = "POLICY"
[[export]]
name = "quick"
size = "1MiB"
contract = { period = "90ms", size_max = "16KiB" }
[[export]]
name = "pair"
size = "1MiB"
contract = { period = "120ms", requests = 2, size_max = "16KiB" }
[[export]]
name = "tight"
size = "1MiB"
contract = { period = "150ms", deadline = "30ms", size_max = "16KiB" }
[[export]]
name = "breaks"
size = "1MiB"
contract = { period = "150ms", size_max = "16KiB" }
[[export]]
name = "floods"
size = "1MiB"
best_effort = true
"#;

const BATCH_MS: [u64; 10] = [6, 10, 14, 18, 22, 26, 30, 34, 38, 42];

const FLUSH_TIME: Duration = Duration::from_ms(1);

/// The number of calls that a greedy client keeps outstanding.
const GREED: usize = 32;

/// The number of 16 KiB blocks in an export.
const BLOCKS: u64 = 64;

fn ms(ms: u64) -> Duration {
    Duration::from_ms(ms)
}

/// A change in progress.
enum Changing {
    /// This export is closed; the fixture waits until all its requests are complete, but not beyond
    /// this instant.
    Draining(ExportId, Time),
    /// The fixture waits for the worst instant to request the change, but not beyond this instant.
    Lurking(Vec<Member>, Time),
    /// The core has received the change.
    Asked { members: Vec<Member>, answered: Receiver<Result<Time, GivenUp>> },
}

/// A client's call, with its expected bound.
struct Asked {
    of: ExportId,
    at: Time,
    /// The bound at the call's arrival; `None` if its export exceeds the contract.
    bound: Option<Duration>,
    awaited: Awaited,
}

/// The results of a run.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    admitted: u32,
    removed: u32,
    refused: u32,
    given_up: u32,
    /// The number of in-contract calls that completed (`kept`), and the number of these that
    /// exceeded their bound (`late`).
    kept: u32,
    late: u32,
    /// The core's own count of requests that exceeded their bound, which covers all requests that
    /// contracts allowed.
    exceeded: u64,
    misses: u64,
}

struct Fixture {
    rules: Rules,
    specs: Vec<ExportSpec>,
    core: Core<Store>,
    members: Vec<Member>,
    /// The instants at which the clients of each open export send their next call.
    clients: BTreeMap<ExportId, Vec<Time>>,
    asked: Vec<Asked>,
    changing: Option<Changing>,
    next_id: u64,
    next_change: Time,
    random: Pcg64Mcg,
    outcome: Outcome,
}

impl Fixture {
    /// Makes a fixture; `has_best_effort` says whether best-effort exports are admitted and removed
    /// too.
    fn new(policy: &str, has_best_effort: bool, seed: u64) -> Self {
        let drive = drive_file(&table(&BATCH_MS), FLUSH_TIME);
        let rules = Rules::new(&SERVE.replace("POLICY", policy), &drive);
        let mut specs = rules.exports();
        specs.retain(|spec| has_best_effort || spec.contract.is_some());
        let (members, successor) = prove(&rules, Vec::new()).expect("nothing to prove");
        let mut store = Store::pseudo(&table(&BATCH_MS), 5 * 256, seed);
        store.flush_time = FLUSH_TIME;
        let Successor { policy, plan, window } = successor;
        let watch = Watch::new(plan.as_ref().map(|plan| &plan.limits));
        let core = Core::new(store, policy, &members, window, watch);
        Self {
            rules,
            specs,
            core,
            members,
            clients: BTreeMap::new(),
            asked: Vec::new(),
            changing: None,
            next_id: 0,
            next_change: Time::ZERO,
            random: Pcg64Mcg::seed_from_u64(seed),
            outcome: Outcome::default(),
        }
    }

    fn now(&self) -> Time {
        self.core.backend().now
    }

    fn run(mut self, until: Time) -> Outcome {
        self.run_until(until);
        let ids: Vec<ExportId> = self.members.iter().map(|member| member.id).collect();
        for seen in self.core.statistics_of(&ids).exports {
            self.outcome.exceeded += seen.exceeded;
            self.outcome.misses += seen.misses;
        }
        self.outcome
    }

    fn run_until(&mut self, until: Time) {
        // Requests that the plan no longer serves would wait for the next change, which does not
        // come.
        while self.now() < until {
            let calls = self.calls(until);
            // As in the service's thread, the core knows of requested changes before the iteration.
            if self.now() < until {
                self.change();
            }
            self.core.run_iteration(calls.into_iter());
            self.answered();
            if matches!(self.changing, Some(Changing::Asked { .. })) {
                self.change();
            }
            let now = self.now();
            let next = self.clients.values().flatten().copied().chain([self.next_change]);
            // Changes continue even without other events.
            let next = next.chain([now + ms(20)]);
            let next = next.filter(|&next| next > now).min().filter(|_| now < until);
            self.core.wait_until(next);
        }
    }

    fn is_greedy(spec: &ExportSpec) -> bool {
        spec.contract.is_none() || spec.name == "breaks"
    }

    /// Returns all calls that are due. An export that keeps its contract has one client per token,
    /// which uses the token as soon as it is available again, or a little later.
    fn calls(&mut self, until: Time) -> Vec<Call> {
        let now = self.now();
        let mut calls = Vec::new();
        for member in self.members.iter().filter(|_| now < until) {
            let Some(clients) = self.clients.get_mut(&member.id) else { continue };
            let is_greedy = Self::is_greedy(&member.spec);
            let waiting = self.asked.iter().filter(|asked| asked.of == member.id).count();
            let mut room = if is_greedy { GREED - waiting } else { usize::MAX };
            for (client, next) in (0..).zip(clients).filter(|(_, next)| **next <= now) {
                if room == 0 {
                    break;
                }
                room -= 1;
                if let Some(contract) = member.spec.contract.as_ref().filter(|_| !is_greedy) {
                    let late = [0, 0, 0, 1, 7][self.random.random_range(0..5)];
                    *next = now + contract.period + ms(late);
                }
                let (call, awaited) = call(member, client, now, &mut self.random);
                let bound = member.bound.filter(|_| !is_greedy);
                self.asked.push(Asked { of: member.id, at: now, bound, awaited });
                calls.push(call);
            }
        }
        calls
    }

    fn answered(&mut self) {
        let (now, outcome) = (self.now(), &mut self.outcome);
        self.asked.retain(|asked| {
            let Some((result, _)) = asked.awaited.poll() else { return true };
            // A call made at the instant at which its export is closed is refused, and so are
            // waiting calls once the export is removed.
            assert!(matches!(result, Ok(_) | Err(CallError::Removed)), "{result:?}");
            if let Some(bound) = asked.bound.filter(|_| result.is_ok()) {
                outcome.kept += 1;
                outcome.late += u32::from(now.since(asked.at) > bound);
            }
            false
        });
    }

    /// Continues a change, or begins one.
    fn change(&mut self) {
        match self.changing.take() {
            None if self.now() >= self.next_change => self.begin_change(),
            None => {}
            Some(Changing::Draining(id, until)) => {
                let seen = self.core.statistics_of(&[id]).exports.remove(0);
                if seen.outstanding > 0 && self.now() < until {
                    self.changing = Some(Changing::Draining(id, until));
                    return;
                }
                self.outcome.exceeded += seen.exceeded;
                self.outcome.misses += seen.misses;
                let stays = |member: &&Member| member.id != id;
                self.lurk(self.members.iter().filter(stays).cloned().collect());
            }
            Some(Changing::Lurking(members, until)) => {
                let now = self.now();
                // An in-contract call has just arrived while a batch is in flight.
                let has_come = self.asked.iter().any(|it| it.bound.is_some() && it.at == now);
                if has_come && self.core.backend().is_busy() || now >= until {
                    self.ask(members);
                } else {
                    self.changing = Some(Changing::Lurking(members, until));
                }
            }
            Some(Changing::Asked { members, answered }) => match answered.try_recv() {
                Ok(Ok(at)) => self.take_over(at, members),
                Ok(Err(_)) => {
                    self.outcome.given_up += 1;
                    self.rest();
                }
                Err(_) => self.changing = Some(Changing::Asked { members, answered }),
            },
        }
    }

    fn rest(&mut self) {
        self.next_change = self.now() + ms(self.random.random_range(1..400));
    }

    fn begin_change(&mut self) {
        let spec = self.next_spec();
        if let Some(member) = self.members.iter().find(|member| member.spec.name == spec.name) {
            // A change that was given up may already have closed the export.
            let id = member.id;
            self.core.close(id);
            self.clients.remove(&id);
            self.changing = Some(Changing::Draining(id, self.now() + ms(300)));
            return;
        }
        let id = ExportId(self.next_id);
        self.next_id += 1;
        let newcomer = Member { id, spec, bound: None };
        self.lurk(self.members.iter().cloned().chain([newcomer]).collect());
    }

    /// Returns the export to change: mostly `tight`, so that the change affects the others.
    fn next_spec(&mut self) -> ExportSpec {
        let spec = &self.specs[self.random.random_range(0..self.specs.len())];
        let is_there = self.members.iter().any(|member| member.spec.name == spec.name);
        let is_left = is_there && self.random.random_range(0..10) < 8;
        let tight = self.specs.iter().find(|spec| spec.name == "tight");
        tight.filter(|_| is_left).unwrap_or(spec).clone()
    }

    fn lurk(&mut self, members: Vec<Member>) {
        self.changing = Some(Changing::Lurking(members, self.now() + ms(500)));
    }

    fn ask(&mut self, members: Vec<Member>) {
        let Some((members, successor)) = prove(&self.rules, members) else {
            self.outcome.refused += 1;
            self.rest();
            return;
        };
        let (answer, answered) = channel();
        let until = self.now() + ms(2_000);
        let switch =
            Switch { members: Some(members.clone()), successor: Some(successor), until, answer };
        self.core.switch(switch);
        self.changing = Some(Changing::Asked { members, answered });
    }

    fn take_over(&mut self, at: Time, members: Vec<Member>) {
        let now = self.now();
        assert_eq!(at, now, "the switch is reported immediately");
        // A call made at the instant of the switch belongs to the new set.
        for asked in self.asked.iter_mut().filter(|asked| asked.at == at && asked.bound.is_some()) {
            let same = members.iter().find(|member| member.id == asked.of);
            asked.bound = same.and_then(|member| member.bound);
        }
        for member in &members {
            if self.members.iter().all(|before| before.id != member.id) {
                self.outcome.admitted += 1;
                let contract = member.spec.contract.as_ref();
                let count = contract.map_or(GREED, |contract| contract.requests as usize);
                let count = if Self::is_greedy(&member.spec) { GREED } else { count };
                self.clients.insert(member.id, vec![now; count]);
            }
        }
        self.outcome.removed += u32::from(members.len() < self.members.len());
        self.members = members;
        self.rest();
    }
}

/// Returns these exports with their bounds and the next policy, if all contracts are proved.
fn prove(rules: &Rules, members: Vec<Member>) -> Option<(Vec<Member>, Successor)> {
    let specs: Vec<ExportSpec> = members.iter().map(|member| member.spec.clone()).collect();
    let arrangement =
        if specs.is_empty() { Arrangement::of_nobody() } else { rules.arrange(&specs)? };
    let Arrangement { policy, plan, bounds, window, .. } = arrangement;
    let bounded = members.into_iter().zip(bounds).map(|(member, bound)| Member { bound, ..member });
    let policy = tidegate_policy::build(policy, &plan, None).unwrap();
    let successor = Successor { policy, plan: Some(Box::new(plan)), window: window as usize };
    Some((bounded.collect(), successor))
}

/// Makes a call. An export's clients use separate ranges, because overlapping calls would wait for
/// each other.
fn call(member: &Member, client: u64, now: Time, random: &mut Pcg64Mcg) -> (Call, Awaited) {
    let kind = any_kind(random);
    let stripe = BLOCKS / GREED as u64;
    let block = client * stripe + random.random_range(0..stripe);
    call_at(member.id.0, kind, member.spec.offset.get() + block * SIZE.get(), now)
}

const END: Time = Time::from_ns(120_000_000_000);

#[test]
fn nobody_is_later_than_what_was_proved_when_he_came() {
    for (policy, seed) in ["dqf", "dq-edf", "edf"].into_iter().flat_map(|it| [(it, 0), (it, 1)]) {
        for has_best_effort in [true, false] {
            let outcome = Fixture::new(policy, has_best_effort, seed).run(END);
            let said = format!("{policy}, {has_best_effort}, seed {seed}: {outcome:?}");
            assert_eq!((outcome.late, outcome.exceeded, outcome.misses), (0, 0, 0), "{said}");
            assert!(outcome.admitted >= 50 && outcome.removed >= 50, "{said}");
            assert!(outcome.kept >= 2_000, "{said}");
        }
    }
}

/// Canary: the test detects a switch between two batches that does not wait for earlier requests.
#[test]
fn a_switch_that_does_not_wait_is_felt() {
    let is_felt = |seed: &u64| {
        let mut fixture = Fixture::new("dqf", true, *seed);
        fixture.core.hasten();
        fixture.run(END).late > 0
    };
    assert!((0..6).filter(is_felt).count() >= 3);
}

/// If contracts leave no quiet instant, the change is given up in time, nothing has changed, and
/// best effort is no longer held back. Here the contracts exceed the drive's capacity.
#[test]
fn without_a_quiet_instant_nothing_changes() {
    let mut fixture = Fixture::new("dqf", true, 1);
    let mut specs = fixture.specs.clone();
    let contract = specs[0].contract.as_mut().unwrap();
    (contract.requests, contract.period) = (4, ms(14));
    let busy = [&specs[0], &specs[4]].map(ExportSpec::clone);
    let workload = fixture.rules.workload(&busy);
    let plan = Plan { batch_max: 4, best_effort_fill: 4, ..Plan::of(&workload) };
    let members = Member::of_exports(&busy, &[]);
    let store = Store::pseudo(&table(&BATCH_MS), 5 * 256, 1);
    let built = || tidegate_policy::build(PolicyName::Dqf, &plan, None).unwrap();
    fixture.core = Core::new(store, built(), &members, 8, Watch::new(Some(&plan.limits)));
    fixture.members = members.clone();
    fixture.clients = members.iter().map(|it| (it.id, vec![Time::ZERO; 4])).collect();
    fixture.next_change = Time::MAX;
    fixture.run_until(Time::from_ns(100_000_000));
    let (answer, answered) = channel();
    let until = Time::from_ns(500_000_000);
    let successor =
        Some(Successor { policy: built(), plan: Some(Box::new(plan.clone())), window: 8 });
    let switch = Switch { members: Some(members[1..].to_vec()), successor, until, answer };
    fixture.core.switch(switch);
    let served = |fixture: &Fixture| fixture.core.statistics().exports[1].responses.count();
    let before = served(&fixture);
    fixture.run_until(Time::from_ns(499_000_000));
    let held_back = served(&fixture) - before;
    assert_eq!(answered.try_recv().ok(), None);
    fixture.run_until(until + ms(1));
    assert_eq!(answered.try_recv(), Ok(Err(GivenUp::NeverQuiet)));
    assert_eq!(fixture.core.statistics().exports.len(), 2);
    // The busy export's client stops sending calls.
    fixture.clients.remove(&members[0].id);
    fixture.run_until(until + ms(500));
    let then = served(&fixture) - before - held_back;
    assert!(held_back <= 4 && then >= 6, "{before}, {held_back}, {then}");
}
