// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: bounds that are proved for a serve file hold for its service, whatever its clients do.
//! Method: two contracts and best effort on a drive that takes up to b(i), completes requests in
//! any order, and flushes after every batch that needs it. The first export's client keeps its
//! contract, the second export always has 40 requests waiting, and the third takes as much as it
//! can.

use std::cell::RefCell;
use std::rc::Rc;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use tidegate_analysis::{Answer, assess};
use tidegate_model::{
    BestEffort, Bytes, Class, Contracts, Duration, Op, Plan, PolicyName, Request, Task, Time,
};
use tidegate_policy::{Decision, Event, Full, Policy};

use super::asking::{SIZE, any_kind, call_at, call_of, part, run_until, settle};
use crate::service::call::{Awaited, Call, CallKind};
use crate::service::core::{Core, Switch};
use crate::service::harness::offered::{BATCH_MS, Rules, core, core_of, exports};
use crate::service::harness::store::{FLUSH_TIME, Store};
use crate::service::harness::{self, SERVE, at_all_places, drive_file, table};
use crate::service::offer::{Arrangement, Member};
use crate::service::statistics::{ServiceStatistics, Watch};
use crate::service::{Guarantee, ServiceParams, harness::params};

/// For each export: the time in ms between its clients' calls, or 0 if a client sends a call as
/// soon as the last one completes; and the number of clients.
const PACE: [(u64, usize); 3] = [(40, 1), (0, 40), (0, 9)];

/// The number of 16 KiB blocks in an export.
const BLOCKS: u64 = 64;

/// The number of requests that the policy can hold, and whether this room is shared evenly.
const ROOM: (u32, bool) = (Plan::QUEUED_MAX_DEFAULT, true);

struct Outcome {
    statistics: ServiceStatistics,
    bounds: Vec<Duration>,
}

fn run(serve: &str, regulate: bool, seed: u64) -> Outcome {
    run_with_room(serve, regulate, ROOM, seed)
}

/// Runs with a policy that holds `room.0` requests; `room.1` says whether this room is shared
/// evenly.
fn run_with_room(serve: &str, regulate: bool, room: (u32, bool), seed: u64) -> Outcome {
    let Service { mut core, bounds, .. } = service(serve, regulate, room, seed);
    drive_clients(&mut core, seed);
    Outcome { statistics: core.statistics(), bounds }
}

struct Service {
    core: Core<Store>,
    /// The bounds of the exports with a contract.
    bounds: Vec<Duration>,
    params: ServiceParams,
}

/// Reads a serve file for a drive with the batch times [`BATCH_MS`] and the flush time `flush`.
fn rules(serve: &str, flush: Duration) -> Rules {
    Rules::new(serve, &drive_file(&table(&BATCH_MS), flush))
}

fn service(serve: &str, regulate: bool, room: (u32, bool), seed: u64) -> Service {
    let (queued_max, is_shared) = room;
    let mut params = rules(serve, FLUSH_TIME).params();
    let plan = &mut params.arrangement.plan;
    if !regulate {
        plan.regulators.clear();
    }
    plan.queued_max = queued_max;
    let mut core = core(&params, seed);
    if is_shared {
        core.narrow(queued_max as usize);
    }
    let bounds = params.arrangement.bounds.iter().copied().flatten().collect();
    Service { core, bounds, params }
}

/// Runs the clients of all three exports for half a minute.
fn drive_clients(core: &mut Core<Store>, seed: u64) {
    drive_clients_by(core, seed, |core, calls| {
        core.run_iteration(calls.into_iter());
    });
}

/// Does the same as [`drive_clients`]; `iterate` runs each iteration with its calls.
fn drive_clients_by(
    core: &mut Core<Store>,
    seed: u64,
    mut iterate: impl FnMut(&mut Core<Store>, Vec<Call>),
) {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    // Each client's export, next call, and awaited reply.
    let mut clients: Vec<(usize, Time, Option<Awaited>)> = Vec::new();
    for (export, &(_, count)) in PACE.iter().enumerate() {
        clients.extend((0..count).map(|_| (export, Time::ZERO, None)));
    }
    let end = Time::ZERO + Duration::from_ms(30_000);
    while core.backend().now < end || !core.is_idle() {
        let now = core.backend().now;
        let mut calls = Vec::new();
        for (export, next, awaited) in &mut clients {
            let (pace_ms, _) = PACE[*export];
            let is_open_loop = pace_ms > 0;
            let is_free = is_open_loop || awaited.is_none();
            if is_free && *next <= now && now < end {
                let (call, answer) = call(*export, now, &mut random);
                calls.push(call);
                *awaited = Some(answer);
                *next = now + Duration::from_ms(pace_ms);
            }
        }
        iterate(core, calls);
        for (_, _, awaited) in &mut clients {
            if awaited.as_ref().is_some_and(|answer| answer.poll().is_some()) {
                *awaited = None;
            }
        }
        let now = core.backend().now;
        let next = clients.iter().filter(|(export, ..)| PACE[*export].0 > 0).map(|client| client.1);
        core.wait_until(next.filter(|&next| next > now && now < end).min());
    }
}

fn call(export: usize, now: Time, random: &mut Pcg64Mcg) -> (Call, Awaited) {
    let block = export as u64 * BLOCKS + random.random_range(0..BLOCKS);
    call_at(export as u64, any_kind(random), block * SIZE.get(), now)
}

#[test]
fn neither_a_breach_nor_a_flood_nor_flushes_delay_who_keeps_the_contract() {
    for seed in 0..6 {
        let Outcome { statistics, bounds } = run(SERVE, true, seed);
        let [keeps, breaks, floods] = &statistics.exports[..] else { panic!("three exports") };
        assert!(keeps.bounded.count() >= 740, "{}", keeps.bounded.count());
        assert_eq!((keeps.beyond, keeps.misses, breaks.misses), (0, 0, 0), "seed {seed}");
        assert_eq!((keeps.exceeded, breaks.exceeded), (0, 0), "seed {seed}");
        assert!(keeps.bounded.max().unwrap() <= bounds[0], "{:?} {bounds:?}", keeps.bounded.max());
        assert!(breaks.bounded.max().unwrap() <= bounds[1], "{:?}", breaks.bounded.max());
        // The export gets exactly the amount that its contract allows, and always asks for more;
        // its last 40 requests still wait at the end.
        let served = breaks.bounded.count();
        assert!((330..=341).contains(&served) && breaks.beyond >= served - 1, "{served}");
        assert!(floods.responses.count() > 3_000, "{}", floods.responses.count());
        assert_eq!(statistics.overruns, 0);
        assert!(statistics.batches > 1_500, "{}", statistics.batches);
    }
}

/// An export with more waiting requests than the policy can hold does not keep others out. Canary:
/// if the room is not shared evenly, one export's queue blocks another's.
#[test]
fn a_long_line_delays_nobody_but_its_own_tenant() {
    let late = |is_shared: bool, seed: u64| {
        let Outcome { statistics, bounds } = run_with_room(SERVE, true, (16, is_shared), seed);
        let [keeps, breaks, _] = &statistics.exports[..] else { panic!("three exports") };
        assert!(breaks.beyond > 300, "{}", breaks.beyond);
        keeps.bounded.max().unwrap() > bounds[0] || breaks.bounded.max().unwrap() > bounds[1]
    };
    assert!((0..4).all(|seed| !late(true, seed)));
    assert!((0..4).any(|seed| late(false, seed)));
}

/// The in-contract requests that the policy was offered, each with its instant.
type Told = Rc<RefCell<Vec<(Time, Request)>>>;

/// A policy that records each request that it is offered.
struct Listening {
    inner: Box<dyn Policy>,
    told: Told,
}

impl Policy for Listening {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        if let Event::Release(request) = &event
            && request.class != Class::BestEffort
        {
            self.told.borrow_mut().push((now, *request));
        }
        self.inner.observe(now, event)
    }

    fn decide(&mut self, now: Time) -> Decision {
        self.inner.decide(now)
    }
}

/// Goal: the policy gets the contracts as they remain behind the host, and the bounds are those of
/// the clients. Method: 2 ms until the policy sees a request, 4 ms until the client has the reply.
#[test]
fn contracts_behind_a_host_count_from_when_the_policy_sees_a_request() {
    let ms = Duration::from_ms;
    let host = "[host]\nrelease = \"2ms\"\nsubmit = \"1ms\"\ncomplete = \"1ms\"\nreply = \"4ms\"\n";
    let serve = format!("{SERVE}{host}");
    let plain: Vec<_> = rules(SERVE, FLUSH_TIME).params().arrangement.bounds;
    let params = rules(&serve, FLUSH_TIME).params();
    let contracts = |of: fn(&Task) -> Duration| {
        params.arrangement.plan.tasks.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(contracts(|task| task.period), [ms(78), ms(98)]);
    assert_eq!(contracts(|task| task.deadline), [ms(74), ms(84)]);
    let later = params.arrangement.bounds.iter().zip(plain).all(|(with, without)| {
        with.zip(without).is_none_or(|(with, without)| with >= without + ms(6))
    });
    assert!(later, "{:?}", params.arrangement.bounds);

    let told = Told::default();
    let inner = params.policy(&params.arrangement).expect("the plan fits the policy");
    let policy = Box::new(Listening { inner, told: told.clone() });
    let watch = Watch::new(Some(&params.arrangement.plan.limits));
    let mut core = core_of(&params, &table(&BATCH_MS), policy, watch, 1);
    drive_clients(&mut core, 1);
    let told = told.borrow();
    assert!(told.len() > 1_000, "{}", told.len());
    for (now, request) in told.iter() {
        let task = &params.arrangement.plan.tasks[request.task.index()];
        assert!(request.eligible >= *now, "{request:?} at {now:?}");
        assert_eq!(request.due, request.eligible.checked_add(task.deadline));
    }
    // Tokens return after the shorter period: an export that always has requests waiting gets one
    // every 98 ms.
    let of_second = told.iter().filter(|(_, request)| request.task.index() == 1);
    let eligible: Vec<Time> = of_second.map(|(_, request)| request.eligible).collect();
    let gaps = eligible.windows(2).map(|pair| pair[1].since(pair[0]));
    assert_eq!(gaps.min(), Some(ms(98)));
    let [keeps, breaks, _] = &core.statistics().exports[..] else { panic!("three exports") };
    assert_eq!((keeps.misses, breaks.misses, keeps.exceeded, breaks.exceeded), (0, 0, 0, 0));
}

/// Canary: without tokens, the export that breaks its contract delays the other.
#[test]
fn without_tokens_the_breach_is_felt() {
    let felt = (0..6).filter(|&seed| {
        let Outcome { statistics, bounds } = run(SERVE, false, seed);
        let keeps = &statistics.exports[0];
        let is_felt = keeps.bounded.max().unwrap() > bounds[0];
        assert_eq!(is_felt, keeps.exceeded > 0);
        // Neither host nor drive was late, so nothing explains the excess.
        assert_eq!(keeps.unexplained, keeps.exceeded);
        is_felt
    });
    assert!(felt.count() >= 5);
}

/// Goal: an excess that a late drive causes is distinguished from a wrong proof. Method: stall the
/// drive.
#[test]
fn what_exceeds_a_bound_beside_a_late_drive_is_explained() {
    for seed in 0..6 {
        let mut service = service(SERVE, true, ROOM, seed);
        service.core.backend_mut().faults.stalled_until = Time::ZERO + Duration::from_ms(500);
        drive_clients(&mut service.core, seed);
        let statistics = service.core.statistics();
        let [keeps, breaks, _] = &statistics.exports[..] else { panic!("three exports") };
        assert!(statistics.overruns > 0 && keeps.exceeded > 10, "{}", keeps.exceeded);
        assert_eq!((keeps.unexplained, breaks.unexplained), (0, 0), "seed {seed}");
    }
}

/// Goal: no response exceeds its bound while the guarantee holds, and the guarantee is restored
/// after each stall. Method: stall the drive for random times, and compare the statistics before
/// and after each iteration. Canary: if the guarantee were restored as soon as no batch is late,
/// bounds would be exceeded while it holds.
#[test]
fn no_bound_is_exceeded_while_the_guarantee_stands() {
    let mut hasty_breaches = 0;
    for seed in 0..6 {
        let mut service = service(SERVE, true, ROOM, seed);
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let (mut next_stall, mut stalls) = (Time::ZERO + Duration::from_ms(500), 0);
        drive_clients_by(&mut service.core, seed, |core, calls| {
            let now = core.backend().now;
            if now >= next_stall && now < Time::ZERO + Duration::from_ms(29_000) {
                let stall = Duration::from_ms(random.random_range(1..400));
                core.backend_mut().faults.stalled_until = now + stall;
                next_stall = now + stall + Duration::from_ms(random.random_range(0..2_000));
                stalls += 1;
            }
            let exceeded = |seen: &ServiceStatistics| -> u64 {
                seen.exports.iter().map(|it| it.exceeded - it.exceeded_tolerated).sum()
            };
            let before = core.statistics();
            core.run_iteration(calls.into_iter());
            let after = core.statistics();
            if exceeded(&after) > exceeded(&before) {
                assert!(before.is_drive_degraded && before.guarantee.degradations > 0, "{now:?}");
                hasty_breaches += u64::from(!before.is_overdue);
            }
        });
        let Guarantee { is_degraded, since, degradations } = service.core.statistics().guarantee;
        assert!(!is_degraded && since < service.core.backend().now, "seed {seed}");
        assert!(degradations > 5 && degradations <= stalls, "{degradations} of {stalls} stalls");
    }
    assert!(hasty_breaches > 10, "{hasty_breaches}");
}

/// Goal: the guarantee is not restored while a late batch is on the drive, even if no in-contract
/// request is pending. Method: a late batch of best effort. An in-contract request that arrives
/// then exceeds its bound, so restoring earlier would be wrong.
#[test]
fn the_guarantee_does_not_stand_while_a_late_batch_is_on_the_drive() {
    let Service { mut core, bounds, .. } = service(SERVE, true, ROOM, 1);
    let at = |ms| Time::ZERO + Duration::from_ms(ms);
    core.backend_mut().faults.stalled_until = at(300);
    let (flood, _flooded) = call_at(2, CallKind::Read, 2 * BLOCKS * SIZE.get(), Time::ZERO);
    core.run_iteration(std::iter::once(flood));
    run_until(&mut core, at(50));
    let seen = core.statistics();
    assert!(seen.guarantee.is_degraded && seen.is_drive_degraded);
    let (read, _answered) = call_at(0, CallKind::Read, 0, at(50));
    core.run_iteration(std::iter::once(read));
    settle(&mut core);
    let seen = core.statistics();
    assert_eq!((seen.exports[0].exceeded, seen.guarantee.degradations), (1, 1));
    assert_eq!(seen.exports[0].excess_max, seen.exports[0].bounded.max().unwrap() - bounds[0]);
    assert!(!seen.guarantee.is_degraded && !seen.exports[0].is_degraded);
    assert_eq!(seen.guarantee.since, core.backend().now);
}

/// Goal: an excess that no lateness explains keeps its export degraded if every batch was timed,
/// because the proof may be wrong. Method: remove the tokens, so that a broken contract delays
/// others.
#[test]
fn an_unexplained_excess_does_not_stand_again() {
    let Outcome { statistics, .. } = run(SERVE, false, 1);
    assert!(statistics.exports[0].unexplained > 0 && statistics.exports[0].is_degraded);
    assert!(statistics.guarantee.is_degraded && !statistics.is_drive_degraded);
}

/// A contract for writes proves nothing about reads: reads are served as best effort, and the proof
/// accounts for them even if no export is best effort.
#[test]
fn what_a_contract_does_not_speak_of_is_best_effort() {
    let alone = SERVE.split("[[export]]\nname = \"floods\"").next().unwrap();
    let writes = alone.replace("size_max = \"16KiB\" }", "size_max = \"16KiB\", op = \"write\" }");
    let writes = format!(
        "{writes}[[export]]\nname = \"floods\"\nsize = \"1MiB\"\nread_only = true\nbest_effort = true\n"
    );
    let best_effort = |serve: &str| best_effort(&rules(serve, FLUSH_TIME));
    assert_eq!(best_effort(alone).len(), 0);
    let alone = writes.split("[[export]]\nname = \"floods\"").next().unwrap();
    let reads = best_effort(alone);
    assert!(reads.len() == 2 && reads.iter().all(|load| load.op == Op::Read), "{reads:?}");

    let Outcome { statistics, bounds } = run(&writes, true, 4);
    let [keeps, breaks, _] = &statistics.exports[..] else { panic!("three exports") };
    // Two of six calls are reads.
    let (promised, beyond) = (keeps.bounded.count(), keeps.beyond);
    assert!(promised > 400 && (180..320).contains(&beyond), "{promised}, {beyond}");
    assert!(keeps.bounded.max().unwrap() <= bounds[0] && breaks.exceeded == 0);
}

#[test]
fn beyond_the_contract_it_may_ride_as_best_effort() {
    let riding = SERVE.replace("name = \"breaks\"", "name = \"breaks\"\nbeyond = \"best-effort\"");
    let Outcome { statistics, bounds } = run(&riding, true, 3);
    let [keeps, breaks, _] = &statistics.exports[..] else { panic!("three exports") };
    assert!(keeps.bounded.max().unwrap() <= bounds[0]);
    assert!(breaks.bounded.max().unwrap() <= bounds[1]);
    // The export gets more than its contract allows, and none of its requests counts as late.
    assert!(breaks.responses.count() > 2 * breaks.bounded.count());
    assert_eq!(keeps.misses + breaks.misses, 0);
}

/// Sends 40 calls, alternately to these two exports, serves them until `until`, and then ends the
/// service: a policy with the plan `last` must serve the remaining calls within `time_max`. Returns
/// the number of unanswered calls when the end began.
fn end(
    core: &mut Core<Store>,
    to: [usize; 2],
    until: Duration,
    last: &Plan,
    time_max: Duration,
) -> usize {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let (calls, answers): (Vec<_>, Vec<_>) =
        (0..40).map(|number| call(to[number % 2], Time::ZERO, &mut random)).unzip();
    core.run_iteration(calls.into_iter());
    run_until(core, Time::ZERO + until);
    let left = || answers.iter().filter(|answer| answer.poll().is_none()).count();
    let waiting = left();
    core.wind_down(tidegate_policy::build(PolicyName::Dqf, last, None).unwrap());
    core.run_iteration(std::iter::empty());
    let begun = core.backend().now;
    settle(core);
    assert_eq!(left(), 0);
    assert!(core.backend().now.since(begun) < time_max);
    waiting
}

/// A policy that holds best effort back for requests that contracts allow would hold it back
/// forever if none came. So a service that ends replaces the policy, and waits only until the new
/// policy has served the remaining requests.
#[test]
fn the_end_does_not_wait_for_contracts_that_ask_no_more() {
    let table = table(&BATCH_MS);
    let plan = Plan {
        tasks: vec![short_task()],
        contracts: Contracts { drain: Some(table.clone()), ..Contracts::default() },
        ..harness::plan(&table)
    };
    let last = Plan { tasks: Vec::new(), contracts: Contracts::default(), ..plan.clone() };
    let gated = PolicyName::GatedDrain;
    let params = params(exports(2), gated, &table);
    let arrangement = Arrangement { plan, ..params.arrangement };
    let mut core = core(&ServiceParams { arrangement, ..params }, 1);
    let (until, time_max) = (Duration::from_ms(10_000), Duration::from_ms(500));
    assert_eq!(end(&mut core, [1, 1], until, &last, time_max), 40, "the gate is shut");
}

/// A service that ends does not wait for contracts or limits that hold requests back either.
#[test]
fn the_end_does_not_wait_for_contracts_and_limits() {
    let serve = SERVE.replace("period = \"80ms\"", "period = \"60s\", deadline = \"80ms\"");
    let serve = serve.replace("best_effort = true", "best_effort = true\nlimit = \"10kB/s\"");
    let Service { mut core, .. } = service(&serve, true, (Plan::QUEUED_MAX_DEFAULT, false), 1);
    let (until, time_max) = (Duration::from_ms(5_000), Duration::from_ms(1_000));
    let last = harness::plan(&table(&BATCH_MS));
    let left = end(&mut core, [0, 2], until, &last, time_max);
    assert!(left > 20, "{left} of 40");
}

/// Makes a task with one request per second and a deadline of 7 ms; two requests one after the
/// other take 8 ms.
fn short_task() -> Task {
    let serve = SERVE.replace(
        "period = \"80ms\", requests = 2",
        "period = \"1s\", deadline = \"7ms\", requests = 1",
    );
    let rules = rules(&serve, Duration::ZERO);
    rules.workload(&rules.exports()).tasks[0].clone()
}

fn best_effort(rules: &Rules) -> Vec<BestEffort> {
    rules.workload(&rules.exports()).best_effort
}

/// Reads under a contract for writes are split at the contract's size, even if the limit for best
/// effort is smaller; the proof accounts for that.
#[test]
fn what_rides_along_is_as_large_as_the_contract_allows() {
    let serve = SERVE.replace("size_max = \"16KiB\"\n\n", "size_max = \"4KiB\"\n\n");
    let serve = serve.replace("size_max = \"16KiB\" }", "size_max = \"16KiB\", op = \"write\" }");
    let mut drive = drive_file(&table(&BATCH_MS), Duration::ZERO);
    drive += "[[batch]]\nop = \"read\"\nsize = \"4KiB\"\nns_max = [1000000, 1500000]\n";
    let best_effort = best_effort(&Rules::new(&serve, &drive));
    let largest = |name: &str| {
        let loads = best_effort.iter().filter(|load| load.name.starts_with(name));
        loads.map(|load| load.size).max()
    };
    let both = [Bytes::from_kib(16), Bytes::from_kib(4)].map(Some);
    assert_eq!([largest("keeps"), largest("floods")], both);
}

/// A proof that relies on times measured without flushes does not apply if an export can flush.
#[test]
fn a_gate_is_not_proved_beside_flushes_that_take_time() {
    let gated = |flush: Duration| {
        let batch = table(&BATCH_MS);
        let mut drive = drive_file(&batch, flush);
        for op in ["read", "write"] {
            let times: Vec<u64> = (1..=6).map(|count| batch.time_max(count).ns()).collect();
            let places = at_all_places(&times);
            let table = format!("size = \"16KiB\"\nns_max = {times:?}\n{places}");
            drive = [&drive, "[[drain]]\nop = \"", op, "\"\n", &table].concat();
        }
        let policy = "size_max = \"16KiB\"\n[policy]\nname = \"gated-drain\"\n\n";
        let rules = Rules::new(&SERVE.replace("size_max = \"16KiB\"\n\n", policy), &drive);
        let workload = rules.workload(&rules.exports());
        let drain = workload.contracts.drain.as_ref().map(|table| table.time_max(3));
        (assess(&workload, workload.policy).answer, drain)
    };
    let (answer, drain) = gated(Duration::from_ms(3));
    assert!(matches!(answer, Answer::NotApplicable { .. }) && drain.is_none(), "{answer:?}");
    let three = Duration::from_ns(10_000_300);
    assert_eq!(gated(Duration::from_ns(100)), (Answer::Proven, Some(three)));
}

/// Goal: if a period is so long that the next token would come after the largest representable
/// time, only the export that asks for more is affected. Method: one call with more parts than
/// there are such periods left, while another export is served.
#[test]
fn a_token_that_comes_after_the_end_of_time_never_comes() {
    let serve = SERVE.replace("\"80ms\"", "\"1000000000s\", deadline = \"80ms\"");
    let Service { mut core, .. } = service(&serve, true, ROOM, 1);
    let part = |block: u64| part(CallKind::Read, block * SIZE.get(), SIZE);
    let parts = (0..BLOCKS).map(part).collect();
    let (large, _awaited) = call_of(0, CallKind::Read, Time::ZERO, parts);
    let (other, answered) = call(1, Time::ZERO, &mut Pcg64Mcg::seed_from_u64(1));
    core.run_iteration([large, other].into_iter());
    run_until(&mut core, Time::ZERO + Duration::from_ms(1_000));
    assert!(matches!(answered.poll(), Some((Ok(_), _))));
    let seen = core.statistics();
    assert_eq!((seen.exports[0].bounded.count(), seen.exports[0].outstanding), (2, BLOCKS - 2));
}

/// Goal: an export's queue keeps its order when a switch gives each export more room. Method: 40
/// requests of a contract while the policy takes a few, a switch to the same set with more room,
/// and one later request.
#[test]
fn who_comes_later_does_not_pass_the_line() {
    for is_switched in [false, true] {
        let Service { mut core, params, .. } = service(SERVE, true, (16, true), 1);
        let read =
            |block: u64, now: Time| call_at(1, CallKind::Read, (BLOCKS + block) * SIZE.get(), now);
        let (calls, line): (Vec<_>, Vec<_>) = (0..40).map(|block| read(block, Time::ZERO)).unzip();
        core.run_iteration(calls.into_iter());
        if is_switched {
            let bounds = &params.arrangement.bounds;
            let members = Some(Member::of_exports(&params.exports, bounds));
            let (answer, answered) = oneshot::channel();
            core.switch(Switch { members, successor: None, until: Time::MAX, answer });
            core.run_iteration(std::iter::empty());
            assert!(answered.try_recv().unwrap().is_ok());
        }
        let (late, last) = read(50, core.backend().now);
        core.run_iteration(std::iter::once(late));
        while line.iter().any(|before| before.poll().is_none()) {
            assert!(last.poll().is_none(), "{is_switched}: it overtook others");
            core.wait_until(None);
            core.run_iteration(std::iter::empty());
        }
        settle(&mut core);
        let breaks = &core.statistics().exports[1];
        assert_eq!((breaks.bounded.count(), breaks.exceeded), (41, 0), "{is_switched}");
    }
}
