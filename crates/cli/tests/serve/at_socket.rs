// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: with the host's time in the proof, the bound holds where the client sees it: at the socket.
//! Method: a tenant that keeps its contract beside a flood, on a drive that always takes its longest
//! time, so the bound is only some milliseconds longer than the responses.
//!
//! A machine that stops for longer than the file says breaks a premise, not the bound. So a thread
//! on each processor, more urgent than the service, measures for how long the machine keeps even
//! such a thread waiting, and the service may be later by as much and no more.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;
use tidegate_model::Time;
use tidegate_model::drive_file::PlaceFamily;
use tidegate_platform::Clock;
use tidegate_platform::affinity::Affinity;
use tidegate_platform::realtime::PRIORITY;
use tidegate_platform::scheduling::Scheduling;

use crate::attacks::Over;
use crate::common::Folder;
use crate::nbd::Client;
use crate::server::Server;

/// The host may take 3 ms of the bound.
const SERVE: &str = "simulate = \"slow.drive.toml\"\ncontrol = \"s.ctl\"\n\
    host = { release = \"1ms\", submit = \"500us\", complete = \"500us\", reply = \"1ms\" }\n\
    [[export]]\nname = \"keeper\"\nsize = \"64MiB\"\nread_only = true\n\
    contract = { period = \"40ms\", size_max = \"4KiB\", op = \"read\" }\n\
    [[export]]\nname = \"flooder\"\nsize = \"64MiB\"\nread_only = true\nbest_effort = true\n";

/// Returns a drive whose batches of 1 to 4 take 2.0 to 2.3 ms at all places.
fn drive() -> String {
    let times = "ns_max = [2000000, 2100000, 2200000, 2300000]";
    let family = |places| format!("{{ places = \"{places}\", {times} }}");
    let families = PlaceFamily::ALL.map(family).join(", ");
    format!(
        "name = \"slow\"\nkind = \"pseudo\"\ndepth = 4\n[[batch]]\nop = \"read\"\nsize = \"4KiB\"\n\
         {times}\nfamilies = [{families}]\n"
    )
}

/// The reads of the tenant, one each 45 ms.
const READS: usize = 60;

/// The connections of the flood, and the requests of each that are always outstanding.
const FLOODING: (usize, usize) = (16, 64);

/// How often the machine is probed, and the time in which its delays add up: longer than the bound.
const PROBED: tidegate_model::Duration = tidegate_model::Duration::from_ms(1);
const WINDOW: tidegate_model::Duration = tidegate_model::Duration::from_ms(50);

/// Measures until `is_over` how late this processor wakes an urgent thread; returns the delays of
/// more than a tenth of the interval. `None` without the permission.
fn probe(cpu: u32, clock: Clock, is_over: &AtomicBool) -> Option<Vec<(Time, u64)>> {
    Affinity::of_cpus(&[cpu])?.apply(None).ok()?;
    Scheduling::fifo(PRIORITY + 1).apply(None).ok()?;
    let mut late = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let due = clock.now() + PROBED;
        clock.sleep_until(due);
        let delay = clock.now().since(due);
        if delay.ns() > PROBED.ns() / 10 {
            late.push((due, delay.ns()));
        }
    }
    Some(late)
}

/// Returns the largest sum of delays that begin within one window.
fn longest(mut late: Vec<(Time, u64)>) -> Duration {
    late.sort_unstable();
    let sum = |first: usize| {
        let end = late[first].0 + WINDOW;
        late[first..].iter().take_while(|(at, _)| *at < end).map(|(_, ns)| ns).sum()
    };
    Duration::from_nanos((0..late.len()).map(sum).max().unwrap_or(0))
}

/// Keeps one connection of the flood busy; returns the number of its replies.
fn flood(server: &Server, is_over: &AtomicBool) -> usize {
    let mut client = Client::connect(&server.socket(), "flooder").unwrap();
    let ask = |client: &mut Client| client.ask_read(0, 256 << 10).unwrap();
    for _ in 0..FLOODING.1 {
        ask(&mut client);
    }
    let mut replies = 0;
    while !is_over.load(Ordering::Relaxed) {
        client.inner().reply().unwrap();
        ask(&mut client);
        replies += 1;
    }
    replies
}

/// Reads on time; returns the longest response, which contains the wait of this ordinary thread for a
/// processor.
fn keep(server: &Server) -> Duration {
    let mut client = Client::connect(&server.socket(), "keeper").unwrap();
    let mut slowest = Duration::ZERO;
    for _ in 0..READS {
        let begun = std::time::Instant::now();
        assert!(client.read(0, 4096).unwrap().is_ok());
        slowest = slowest.max(begun.elapsed());
        std::thread::sleep(Duration::from_millis(45).saturating_sub(begun.elapsed()));
    }
    slowest
}

#[test]
fn a_flood_beside_a_contract_keeps_the_bound_at_the_socket() {
    let folder = Folder::new();
    folder.file("slow.drive.toml", &drive());
    let Some(server) = Server::start(&folder, SERVE, &[]) else { return };
    let is_over = AtomicBool::new(false);
    let (slowest, probed) = std::thread::scope(|scope| {
        let over = Over(&is_over);
        let affinity = Affinity::of(None).unwrap();
        let (clock, is_over) = (Clock::start(), &is_over);
        let probe = |cpu| scope.spawn(move || probe(cpu, clock, is_over));
        let measuring: Vec<_> = affinity.cpus().map(probe).collect();
        let flood = || flood(&server, is_over);
        let floods: Vec<_> = (0..FLOODING.0).map(|_| scope.spawn(flood)).collect();
        let slowest = keep(&server);
        drop(over);
        let replies: usize = floods.into_iter().map(|it| it.join().unwrap()).sum();
        assert!(replies > FLOODING.0, "{replies} replies");
        let probed: Option<Vec<_>> = measuring.into_iter().map(|it| it.join().unwrap()).collect();
        (slowest, probed)
    });
    let (_, seen) = folder.json(&["ctl", "s.ctl", "statistics"]);
    let keeper = &seen["exports"][0];
    let ns = |key: &str| Duration::from_nanos(keeper[key].as_u64().unwrap());
    let (bound, at_disk, at_socket) = (ns("bound_ns"), ns("response_ns_max"), ns("socket_ns_max"));
    println!(
        "bound {bound:?}, at the disk {at_disk:?}, at the socket {at_socket:?}, at the client \
         {slowest:?}"
    );
    assert_eq!(keeper["unexplained"], Value::from(0), "{keeper}");
    assert!(at_socket >= at_disk && at_socket > Duration::from_millis(2), "{keeper}");
    let Some(probed) = probed else {
        return println!("not compared: this user has no real-time priority");
    };
    let late = longest(probed.into_iter().flatten().collect());
    println!("the machine was late by {late:?} at most");
    assert!(at_socket <= bound + late, "{at_socket:?} exceeds {bound:?} by more than {late:?}");
    assert_eq!(server.stop().0, Some(0));
}
