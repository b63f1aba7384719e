// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs two tasks and a network service on one processor (figures 5.16 and 5.17).
//!
//! Task 1 executes for 2 ms in every 10 ms and then receives pending heartbeats; their number is
//! the quality of the service. Task 2 executes for `EXECUTION_US` in every 10 ms at a lower
//! priority; its number of missed deadlines is the cost of the service. A job that is incomplete at
//! its deadline is abandoned. The program prints one JSON object.
//!
//! usage: heartbeats CPU PRIORITY_1 PRIORITY_2 EXECUTION_US SECONDS PORT

use std::net::UdpSocket;
use std::process::ExitCode;
use std::thread;

use tidegate_cpu_measure::{Steps, execute};
use tidegate_model::{Duration, Time};
use tidegate_platform::affinity::Affinity;
use tidegate_platform::{Clock, realtime};

const PERIOD: Duration = Duration::from_ms(10);
const FIRST_EXECUTION: Duration = Duration::from_ms(2);

/// Jobs completed in time, and all jobs.
#[derive(Default)]
struct Jobs {
    done: u64,
    all: u64,
}

fn main() -> ExitCode {
    let arguments: Vec<u64> =
        std::env::args().skip(1).map_while(|word| word.parse().ok()).collect();
    let [cpu, first, second, execution_us, seconds, port] = arguments[..] else {
        eprintln!("usage: heartbeats CPU PRIORITY_1 PRIORITY_2 EXECUTION_US SECONDS PORT");
        return ExitCode::from(2);
    };
    let numbers = (u32::try_from(cpu), u16::try_from(port), [first, second].map(u8::try_from));
    let (Ok(cpu), Ok(port), [Ok(first), Ok(second)]) = numbers else {
        eprintln!("heartbeats: a number is too large");
        return ExitCode::from(2);
    };
    let socket = UdpSocket::bind(("0.0.0.0", port)).expect("the port is free");
    socket.set_nonblocking(true).expect("sockets can be nonblocking");
    let clock = Clock::start();
    let begin = clock.now() + PERIOD * 20;
    let end = begin + Duration::from_ms(seconds * 1_000);
    let mut heartbeats = 0_u64;
    let receive = || {
        while socket.recv(&mut [0; 64]).is_ok() {
            heartbeats += 1;
        }
    };
    let execution = Duration::from_us(execution_us);
    let (first, second) = thread::scope(|scope| {
        let first =
            scope.spawn(move || task(clock, (cpu, first), FIRST_EXECUTION, (begin, end), receive));
        let second =
            scope.spawn(move || task(clock, (cpu, second), execution, (begin, end), || ()));
        let [first, second] = [first.join(), second.join()];
        (first.expect("task 1 ends"), second.expect("task 2 ends"))
    });
    println!(
        "{{\"execution_us\": {execution_us}, \"jobs_1\": {}, \"missed_1\": {}, \"jobs_2\": {}, \
         \"missed_2\": {}, \"heartbeats\": {heartbeats}}}",
        first.all,
        first.all - first.done,
        second.all,
        second.all - second.done
    );
    ExitCode::SUCCESS
}

/// Runs a periodic task; each job ends with `finish`.
fn task(
    clock: Clock,
    (cpu, priority): (u32, u8),
    execution: Duration,
    (begin, end): (Time, Time),
    mut finish: impl FnMut(),
) -> Jobs {
    let pinned = Affinity::only(cpu).is_some_and(|only| only.apply(None).is_ok());
    let granted = realtime::request(priority);
    if !pinned || granted.scheduling.is_err() {
        eprintln!("heartbeats: processor {cpu}, {granted}");
    }
    let steps = Steps::measure(clock);
    let mut jobs = Jobs::default();
    let mut release = begin;
    while release < end {
        clock.sleep_until(release);
        let deadline = release + PERIOD;
        let executed = execute(clock, execution, steps, deadline);
        finish();
        jobs.all += 1;
        jobs.done += u64::from(executed >= execution && clock.now() <= deadline);
        release = deadline;
    }
    jobs
}
