// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: with the host's time in the proof, the bound holds at the socket, where the client sees
//! it. Method: a client that keeps its contract beside a flood, on a drive that always takes its
//! longest time, so that the bound is only some milliseconds longer than the responses.
//!
//! A host that stalls for longer than the serve file states breaks a premise, not the bound. So a
//! thread on each processor, with a higher priority than the service, measures how long the host
//! delays even such a thread; responses may exceed the bound by at most that delay. Of several
//! rounds, the one with the least delay is judged. The canary is a server that is stopped during
//! its reads.

use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Signal, kill_process};
use tidegate_model::drive_file::PlaceFamily;
use tidegate_model::{Duration, Time};
use tidegate_platform::Clock;
use tidegate_platform::affinity::Affinity;
use tidegate_platform::scheduling::Scheduling;

use crate::attacks::Over;
use crate::common::Folder;
use crate::nbd::Client;
use crate::server::Server;

/// The host's time is 3 ms of the bound. The priority is above that of other tests' services, so
/// only the probes have a higher one.
const SERVE: &str = "simulate = \"slow.drive.toml\"\ncontrol = \"s.ctl\"\n\
    host = { release = \"1ms\", submit = \"500us\", complete = \"500us\", reply = \"1ms\" }\n\
    thread = { priority = 60 }\n\
    [[export]]\nname = \"keeper\"\nsize = \"64MiB\"\nread_only = true\n\
    contract = { period = \"40ms\", size_max = \"4KiB\", op = \"read\" }\n\
    [[export]]\nname = \"flooder\"\nsize = \"64MiB\"\nread_only = true\nbest_effort = true\n";

/// The priority of the probes.
const PROBE_PRIORITY: u8 = 61;

/// Returns a drive whose batches of 1 to 4 requests take 2.0 to 2.3 ms at all places.
fn drive() -> String {
    let times = "ns_max = [2000000, 2100000, 2200000, 2300000]";
    let family = |places| format!("{{ places = \"{places}\", {times} }}");
    let families = PlaceFamily::ALL.map(family).join(", ");
    format!(
        "name = \"slow\"\nkind = \"pseudo\"\ndepth = 4\n[[batch]]\nop = \"read\"\nsize = \"4KiB\"\n\
         {times}\nfamilies = [{families}]\n"
    )
}

/// The number of rounds.
const ROUNDS: usize = 2;
/// The number of reads in each round.
const READS: usize = 24;
/// The time between the starts of two reads.
const READ_INTERVAL: Duration = Duration::from_ms(45);

/// The number of the flood's connections.
const CONNECTIONS: usize = 16;
/// The number of requests that each connection of the flood keeps outstanding.
const OUTSTANDING: usize = 64;

/// The interval of the probes.
const PROBE_INTERVAL: Duration = Duration::from_us(250);
/// The length of the windows over which the probes' delays are summed, which is longer than the
/// bound.
const WINDOW: Duration = Duration::from_ms(20);

/// The shortest time of a batch.
const BATCH_MIN: Duration = Duration::from_ms(2);

/// The time for which the canary stops the server.
const STOPPED: Duration = Duration::from_ms(30);

/// The figures of one round.
#[derive(Debug, Clone, Copy)]
struct Round {
    bound: Duration,
    at_socket: Duration,
    /// The largest delay of threads above the service's priority, caused by the host.
    late: Duration,
}

impl Round {
    /// Returns whether the longest response exceeds the bound by more than the host's delay.
    fn is_too_late(self) -> bool {
        self.at_socket > self.bound + self.late
    }
}

/// Measures until `is_over` how late this processor wakes a thread of high priority; returns the
/// delays of more than 0.1 ms. `None` without the permission.
fn probe(cpu: u32, clock: Clock, is_over: &AtomicBool) -> Option<Vec<(Time, Duration)>> {
    Affinity::of_cpus(&[cpu])?.apply(None).ok()?;
    Scheduling::fifo(PROBE_PRIORITY).apply(None).ok()?;
    let mut late = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let due = clock.now() + PROBE_INTERVAL;
        clock.sleep_until(due);
        let delay = clock.now().since(due);
        if delay > Duration::from_us(100) {
            // The host may have stalled up to one interval before the probe was due.
            late.push((due, delay + PROBE_INTERVAL));
        }
    }
    Some(late)
}

/// Returns the largest sum of the delays that begin within one window.
fn longest(mut late: Vec<(Time, Duration)>) -> Duration {
    late.sort_unstable();
    let sum = |first: usize| {
        let end = late[first].0 + WINDOW;
        let within = late[first..].iter().take_while(|(at, _)| *at < end);
        within.fold(Duration::ZERO, |sum, (_, delay)| sum + *delay)
    };
    (0..late.len()).map(sum).max().unwrap_or(Duration::ZERO)
}

/// Keeps one connection of the flood busy.
fn flood(server: &Server, is_over: &AtomicBool) {
    let mut client = Client::connect(&server.socket(), "flooder").unwrap();
    let ask = |client: &mut Client| client.ask_read(0, 64 << 10).unwrap();
    for _ in 0..OUTSTANDING {
        ask(&mut client);
    }
    while !is_over.load(Ordering::Relaxed) {
        client.inner().reply().unwrap();
        ask(&mut client);
    }
}

/// Reads at the rate that the contract allows; returns the longest response, including the time for
/// which this ordinary thread waits for a processor. If `is_stopped`, the server is stopped during
/// each read.
fn keep(server: &Server, clock: Clock, is_stopped: bool) -> Duration {
    let mut client = Client::connect(&server.socket(), "keeper").unwrap();
    let mut slowest = Duration::ZERO;
    for _ in 0..READS {
        let begun = clock.now();
        client.ask_read(0, 4096).unwrap();
        if is_stopped {
            clock.sleep_until(begun + Duration::from_ms(1));
            kill_process(server.process(), Signal::STOP).unwrap();
            clock.sleep_until(clock.now() + STOPPED);
            kill_process(server.process(), Signal::CONT).unwrap();
        }
        assert!(client.inner().reply().unwrap().result.is_ok());
        slowest = slowest.max(clock.now().since(begun));
        clock.sleep_until(begun + READ_INTERVAL);
    }
    slowest
}

/// Runs one round; returns its figures. Returns `None`, after printing the reason, if no server can
/// be started or the host cannot be measured. If `is_stopped`, the server is stopped during each
/// read.
fn round(folder: &Folder, is_stopped: bool) -> Option<Round> {
    let server = Server::start(folder, SERVE, &[])?;
    let (clock, is_over) = (Clock::start(), AtomicBool::new(false));
    let (slowest, late) = std::thread::scope(|scope| {
        let (over, is_over, server) = (Over(&is_over), &is_over, &server);
        let affinity = Affinity::of(None).unwrap();
        let start_probe = |cpu| scope.spawn(move || probe(cpu, clock, is_over));
        let probes: Vec<_> = affinity.cpus().map(start_probe).collect();
        let start_flood = |_| scope.spawn(move || flood(server, is_over));
        let floods: Vec<_> = (0..CONNECTIONS).map(start_flood).collect();
        let slowest = keep(server, clock, is_stopped);
        drop(over);
        for flood in floods {
            flood.join().unwrap();
        }
        let late: Option<Vec<_>> = probes.into_iter().map(|it| it.join().unwrap()).collect();
        (slowest, late.map(|late| longest(late.concat())))
    });
    let (_, seen) = folder.json(&["ctl", "s.ctl", "statistics"]);
    let (keeper, flooder) = (&seen["exports"][0], &seen["exports"][1]);
    let ns = |key: &str| Duration::from_ns(keeper[key].as_u64().unwrap());
    let (bound, at_disk, at_socket) = (ns("bound_ns"), ns("response_ns_max"), ns("socket_ns_max"));
    println!(
        "bound {bound}, at the disk {at_disk}, at the socket {at_socket}, at the client {slowest}"
    );
    assert!(is_stopped || keeper["unexplained"] == 0, "{keeper}");
    assert!(at_socket > BATCH_MIN, "{keeper}");
    // Even a server that the canary stops most of the time serves the flood between the reads.
    assert!(flooder["requests"].as_u64().unwrap() > READS as u64, "{flooder}");
    // The figure at the disk includes requests beyond the contract; the figure at the socket does
    // not.
    assert!(at_socket >= at_disk || keeper["beyond"] != 0, "{keeper}");
    assert_eq!(server.stop().0, Some(0));
    let Some(late) = late else {
        println!("not compared: this user has no real-time priority");
        return None;
    };
    println!("the machine was late by {late}");
    Some(Round { bound, at_socket, late })
}

#[test]
fn a_flood_beside_a_contract_keeps_the_bound_at_the_socket() {
    let folder = Folder::new();
    folder.file("slow.drive.toml", &drive());
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let Some(round) = round(&folder, false) else { return };
        rounds.push(round);
    }
    let quietest = rounds.into_iter().min_by_key(|round| round.late).expect("there are rounds");
    assert!(!quietest.is_too_late(), "{quietest:?}");
    // On a busy host, the canary may stop the server only between its reads.
    let is_noticed = (0..ROUNDS).any(|_| {
        let Some(canary) = round(&folder, true) else { return true };
        canary.bound + canary.late >= STOPPED || canary.is_too_late()
    });
    assert!(is_noticed, "a server that was stopped during its reads kept the bound");
}
