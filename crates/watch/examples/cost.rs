// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Prints the processor time that a watch spends on each request. Run `cost NAME SECONDS` as root
//! while something loads the disk NAME, such as `loop0`.

use std::time::Duration;
use std::{env, fs, thread};

use rustix::time::{ClockId, clock_gettime};
use tidegate_watch::Session;

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let [_, name, seconds] = arguments.as_slice() else { panic!("usage: cost NAME SECONDS") };
    let number = fs::read_to_string(format!("/sys/class/block/{name}/dev")).expect("a disk");
    let (major, minor) = number.trim().split_once(':').expect("major:minor");
    let number = |text: &str| text.parse::<u32>().expect("a number");
    let device = (number(major) << 20) | number(minor);
    let mut session = Session::begin(&[device], None, None, false).expect("tracefs");
    let before = cpu_ns();
    for _ in 0..seconds.parse::<u32>().expect("seconds") * 10 {
        thread::sleep(Duration::from_millis(100));
        session.poll().expect("events");
    }
    session.finish().expect("events");
    let took = cpu_ns() - before;
    let seen = session.seen();
    let requests = seen.accounts.requests();
    println!(
        "{requests} requests, {} ns each, {} events lost, all {:?} of processor time",
        took / u128::from(requests.max(1)),
        seen.lost,
        Duration::from_nanos(u64::try_from(took).expect("short"))
    );
}

fn cpu_ns() -> u128 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(now).expect("a time").as_nanos()
}
