// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests of servers with events given by hand: the rules of the corrected sporadic server one by
//! one, the coalescing of the hybrids, and the servers with one budget per period. A tick is a
//! nanosecond.

use tidegate_cpu_model::{ServerKind, ServerParams};
use tidegate_cpu_servers::{self, Server, ServerEvent};
use tidegate_model::{Duration, Time};

const UNBLOCK: ServerEvent = ServerEvent::Unblock;
const DISPATCH: ServerEvent = ServerEvent::Dispatch { preempts: false };
const PREEMPTS: ServerEvent = ServerEvent::Dispatch { preempts: true };
const PREEMPT: ServerEvent = ServerEvent::Preempt;
const BLOCK: ServerEvent = ServerEvent::Block;
const ALARM: ServerEvent = ServerEvent::Alarm;

const fn ticks(ticks: u64) -> Duration {
    Duration::from_ns(ticks)
}

fn params(kind: ServerKind, budget: u64, period: u64) -> ServerParams {
    ServerParams::new(kind, ticks(budget), ticks(period))
}

/// Returns a server after these events: (instant, execution since the last event, event).
fn told(params: ServerParams, events: &[(u64, u64, ServerEvent)]) -> Box<dyn Server + Send> {
    let mut server = tidegate_cpu_servers::build(&params);
    for &(at, executed, event) in events {
        server.observe(Time::from_ns(at), ticks(executed), event);
    }
    server
}

fn chunks(server: &dyn Server) -> Vec<(u64, u64)> {
    let mut chunks = Vec::new();
    server.replenishments(&mut chunks);
    chunks.iter().map(|chunk| (chunk.at.ns(), chunk.amount.ns())).collect()
}

/// Returns the chunks of a server after these events.
fn chunks_after(params: ServerParams, events: &[(u64, u64, ServerEvent)]) -> Vec<(u64, u64)> {
    chunks(&*told(params, events))
}

fn status(server: &dyn Server, at: u64) -> (u64, Option<u64>) {
    let status = server.status(Time::from_ns(at));
    (status.budget.ns(), status.alarm.map(Time::ns))
}

const SPORADIC: ServerKind = ServerKind::Sporadic;

/// The events of a job of 2 at 0, for a server with a budget of 4 in every 20.
const HALF: [(u64, u64, ServerEvent); 3] = [(0, 0, UNBLOCK), (0, 0, DISPATCH), (2, 2, BLOCK)];

/// Returns the events of `HALF`, then from 10 on the other half and one more tick.
fn overrun() -> Vec<(u64, u64, ServerEvent)> {
    let mut events = HALF.to_vec();
    events.extend([(10, 0, UNBLOCK), (10, 0, DISPATCH), (13, 3, ALARM)]);
    events
}

#[test]
fn the_used_part_is_replenished_a_period_after_its_activation() {
    assert_eq!(chunks_after(params(SPORADIC, 4, 20), &HALF), [(2, 2), (20, 2)]);
}

#[test]
fn a_used_up_chunk_is_replenished_a_period_after_its_activation() {
    let server = told(
        params(SPORADIC, 4, 20),
        &[(3, 0, UNBLOCK), (3, 0, DISPATCH), (5, 2, PREEMPT), (9, 0, DISPATCH), (11, 2, ALARM)],
    );
    assert_eq!(chunks(&*server), [(23, 4)]);
    assert_eq!(status(&*server, 11), (0, Some(23)));
    assert_eq!(status(&*server, 23), (4, None));
}

/// An overrun is borrowed: the next chunk becomes available later and is smaller.
#[test]
fn an_overrun_is_borrowed_from_the_next_chunk() {
    let server = told(params(SPORADIC, 4, 20), &overrun());
    assert_eq!(chunks(&*server), [(21, 2), (30, 2)]);
    assert_eq!(status(&*server, 13), (0, Some(21)));
    assert_eq!(status(&*server, 21), (1, None));
}

/// Correction 1: the chunk of 23 is not available when the remaining unit of 21 is used up at 22.
/// As printed, the rule would add 21 + 2 and reach it.
#[test]
fn borrowed_units_reach_no_later_chunk() {
    let events = [
        (0, 0, UNBLOCK),
        (2, 2, BLOCK),
        (3, 0, UNBLOCK),
        (5, 2, BLOCK),
        (8, 0, UNBLOCK),
        (11, 3, ALARM),
    ];
    let chunks = chunks_after(params(SPORADIC, 6, 20), &events);
    assert_eq!(chunks, [(21, 2), (23, 2), (28, 2)]);
}

/// Correction 2: a second call of Budget_Check changes nothing.
#[test]
fn a_second_look_changes_nothing() {
    let mut events = overrun();
    let once = chunks_after(params(SPORADIC, 4, 20), &events);
    events.extend([(13, 0, ALARM), (14, 0, ALARM), (15, 0, PREEMPT)]);
    assert_eq!(chunks_after(params(SPORADIC, 4, 20), &events), once);
}

/// Correction 9: each chunk that becomes available before the head is used up is merged, not only
/// the first. The rest of chunk 21 merges with chunk 22, and both merge with chunk 24, but the
/// three do not reach chunk 27.
#[test]
fn a_postponed_head_takes_in_all_that_it_reaches() {
    let mut events = Vec::new();
    for at in [0, 2, 4] {
        events.extend([(at, 0, UNBLOCK), (at + 2, 2, BLOCK)]);
    }
    events.extend([(7, 0, UNBLOCK), (10, 3, ALARM)]);
    assert_eq!(chunks_after(params(SPORADIC, 8, 20), &events), [(21, 6), (27, 2)]);
}

/// Correction 9: without room for another chunk, remnants lengthen a chunk until it reaches the
/// next ones. An overrun may then move it past them: here from 200 by 3, past 201 and 202.
#[test]
fn a_head_that_an_overrun_moves_past_others_takes_them_along() {
    let three = ServerParams { replenishments_max: 3, ..params(SPORADIC, 10, 100) };
    let mut events = Vec::new();
    for (at, executed) in [(0, 1), (1, 1), (2, 2)] {
        events.extend([(at, 0, UNBLOCK), (at + executed, executed, BLOCK)]);
    }
    assert_eq!(chunks_after(three, &events), [(100, 7), (101, 1), (102, 2)]);
    events.extend([(50, 0, UNBLOCK), (100, 0, ALARM), (107, 7, ALARM), (108, 1, ALARM)]);
    assert_eq!(chunks_after(three, &events), [(102, 2), (200, 7), (201, 1)]);
    events.push((113, 5, ALARM));
    assert_eq!(chunks_after(three, &events), [(203, 10)]);
}

/// Correction 6: a server that blocks with a debt keeps it.
#[test]
fn a_debt_outlives_blocking() {
    let mut events = overrun();
    events[5] = (13, 3, BLOCK);
    let mut server = told(params(SPORADIC, 4, 20), &events);
    assert_eq!(chunks(&*server), [(21, 2), (30, 2)]);
    server.observe(Time::from_ns(25), Duration::ZERO, UNBLOCK);
    assert_eq!(status(&*server, 25), (1, None));
}

#[test]
fn budget_available_in_time_joins_the_used_chunk() {
    // At 19, the chunk of 20 becomes available before the two units are used up; the chunk of 22
    // does not.
    let merged = [HALF.to_vec(), vec![(19, 0, UNBLOCK)]].concat();
    assert_eq!(chunks_after(params(SPORADIC, 4, 20), &merged), [(19, 4)]);
    let apart = [HALF.to_vec(), vec![(17, 0, UNBLOCK)]].concat();
    assert_eq!(chunks_after(params(SPORADIC, 4, 20), &apart), [(17, 2), (20, 2)]);
}

/// Correction 6: without room for one more chunk, the remnant joins the next chunk. With a single
/// chunk it joins the used part, as in a polling server.
#[test]
fn a_remnant_without_room_waits_with_the_next() {
    let two = ServerParams { replenishments_max: 2, ..params(SPORADIC, 6, 20) };
    let events = [HALF.to_vec(), vec![(5, 0, UNBLOCK), (6, 1, BLOCK)]].concat();
    assert_eq!(chunks_after(two, &events), [(20, 5), (25, 1)]);
    let one = ServerParams { replenishments_max: 1, ..params(SPORADIC, 6, 20) };
    assert_eq!(chunks_after(one, &HALF), [(20, 6)]);
}

/// Correction 11: a preemption is charged before anything is executed, and not if the processor
/// was free.
#[test]
fn a_preemption_is_charged_at_once() {
    let charged = ServerParams { preemption_charge: ticks(3), ..params(SPORADIC, 10, 50) };
    let mut server = told(charged, &[(0, 0, UNBLOCK), (0, 0, DISPATCH)]);
    assert_eq!(status(&*server, 0).0, 10);
    server.observe(Time::from_ns(4), ticks(4), PREEMPT);
    server.observe(Time::from_ns(6), Duration::ZERO, PREEMPTS);
    assert_eq!(status(&*server, 6).0, 3);
    // The rest of the budget is used up, and all of it is replenished together.
    server.observe(Time::from_ns(9), ticks(3), ALARM);
    assert_eq!(chunks(&*server), [(50, 10)]);
}

/// Returns a server with four chunks of one tick, activated at 0, 5, 10 and 15, followed by
/// endless work.
fn in_four_pieces(kind: ServerKind) -> Box<dyn Server + Send> {
    let mut events = Vec::new();
    for at in [0, 5, 10] {
        events.extend([(at, 0, UNBLOCK), (at + 1, 1, BLOCK)]);
    }
    events.extend([(15, 0, UNBLOCK), (16, 1, ALARM)]);
    told(params(kind, 4, 100), &events)
}

/// Correction 10: merged chunks take the later time.
#[test]
fn coalescing_moves_chunks_to_the_later_time() {
    let pieces = [(100, 1), (105, 1), (110, 1), (115, 1)];
    assert_eq!(chunks(&*in_four_pieces(SPORADIC)), pieces);
    assert_eq!(chunks(&*in_four_pieces(ServerKind::HybridImmediate)), [(115, 4)]);
    let gradual = in_four_pieces(ServerKind::HybridGradual);
    assert_eq!(chunks(&*gradual), [(105, 2), (110, 1), (115, 1)]);
}

/// A hybrid divides its budget again once it blocks with part of it left.
#[test]
fn blocking_with_budget_left_ends_the_heavy_load() {
    let mut server = in_four_pieces(ServerKind::HybridImmediate);
    server.observe(Time::from_ns(115), Duration::ZERO, ALARM);
    server.observe(Time::from_ns(117), ticks(2), BLOCK);
    assert_eq!(chunks(&*server), [(117, 2), (215, 2)]);
}

/// Amplification, a defect of POSIX: an overrun is forgiven, but still replenished.
#[test]
fn posix_replenishes_a_forgiven_overrun() {
    let server = told(params(ServerKind::PosixSporadic, 4, 20), &overrun());
    assert_eq!(chunks(&*server), [(20, 2), (30, 3)]);
}

#[test]
fn a_polling_server_looks_once_a_period() {
    let polling = params(ServerKind::Polling, 4, 20);
    let found = told(polling, &[(0, 0, UNBLOCK)]);
    assert_eq!(status(&*found, 0), (4, Some(20)));
    let late = told(polling, &[(1, 0, UNBLOCK)]);
    assert_eq!(status(&*late, 1), (0, Some(20)));
    // The budget left when the work runs out is lost.
    let lost = told(polling, &[(0, 0, UNBLOCK), (1, 1, BLOCK), (2, 0, UNBLOCK)]);
    assert_eq!(status(&*lost, 2), (0, Some(20)));
    let next = told(polling, &[(1, 0, UNBLOCK), (20, 0, ALARM), (25, 5, ALARM)]);
    assert_eq!(status(&*next, 25), (0, Some(40)));
}

#[test]
fn a_deferrable_server_keeps_its_budget_to_the_end_of_the_period() {
    let deferrable = params(ServerKind::Deferrable, 4, 20);
    let server = told(deferrable, &[(18, 0, UNBLOCK), (20, 2, ALARM)]);
    assert_eq!(status(&*server, 20), (4, Some(40)));
}

/// An overrun in one period is owed to the next, however late the server is checked.
#[test]
fn servers_with_one_budget_a_period_pay_for_overruns() {
    for kind in [ServerKind::Polling, ServerKind::Deferrable] {
        let work = [(0, 0, UNBLOCK), (7, 7, ALARM)];
        let soon = told(params(kind, 4, 20), &[&work[..], &[(20, 0, ALARM)]].concat());
        assert_eq!(status(&*soon, 20).0, 1, "{kind}");
        let late = told(params(kind, 4, 20), &[&work[..], &[(40, 0, ALARM)]].concat());
        assert_eq!(status(&*late, 40).0, 4, "{kind}");
    }
}

#[test]
#[should_panic(expected = "the budget 30ns exceeds the period 20ns")]
fn a_server_that_cannot_be_is_not_built() {
    tidegate_cpu_servers::build(&params(SPORADIC, 30, 20));
}
