// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: many connections use bounded memory and do not block others. Method: a thousand
//! connections in sequence, and the largest allowed number at the same time.

use crate::common::Folder;
use crate::nbd::Client;
use crate::server::{Server, until};

const SERVE: &str = "simulate = \"sata-ssd\"\n\
    [[export]]\nname = \"scratch\"\nsize = \"8MiB\"\nbest_effort = true\n";

/// The largest growth of memory from the hundredth connection to the thousandth, which is less than
/// a hundredth of the memory that one open connection uses.
const GROWTH_KIB_MAX: u64 = 8 << 10;

/// The largest memory of a server without connections. The allocator reserves more memory than it
/// uses, and reserved memory is locked. Unless the allocator was compiled to reserve less, this is
/// 1 GiB, which takes seconds at each start.
const AT_FIRST_KIB_MAX: u64 = 512 << 10;

/// Connects, writes and reads a little, and disconnects, `count` times.
fn come_and_go(server: &Server, count: usize) {
    for round in 0..count {
        let mut client = None;
        // Connections that have just been closed may still be counted.
        assert!(until(|| {
            client = Client::connect(&server.socket(), "scratch").ok();
            client.is_some()
        }));
        let mut client = client.expect("connected in time");
        let offset = (round % 64 * 4096) as u64;
        assert_eq!(client.write(offset, &[1; 4096], false).unwrap(), 0);
        if round % 3 == 0 {
            client.ask_write(7, offset, &[2; 4096], true);
        }
    }
}

#[test]
fn a_thousand_connections_leave_no_memory_behind() {
    let folder = Folder::new();
    let Some(server) = Server::start(&folder, SERVE, &[]) else { return };
    let at_first = server.memory_kib("VmRSS:");
    come_and_go(&server, 100);
    let before = server.memory_kib("VmRSS:");
    come_and_go(&server, 900);
    let mut after = 0;
    let is_bounded = until(|| {
        after = server.memory_kib("VmRSS:");
        after <= before + GROWTH_KIB_MAX
    });
    let peak = server.memory_kib("VmHWM:");
    println!("KiB: {at_first} at first, {before} after 100, {after} after 1000, {peak} at most");
    // `.cargo/config.toml` sets the size, unless the environment sets other compiler flags.
    let is_ours = std::env::var("CFLAGS").is_ok_and(|flags| flags.contains("MI_DEFAULT_ARENA"));
    assert!(!is_ours || at_first < AT_FIRST_KIB_MAX, "{at_first} KiB at first");
    assert!(is_bounded, "{before} KiB after 100 connections, {after} KiB after 1000");
    assert_eq!(server.stop().0, Some(0));
}

const SHARED: &str = "simulate = \"sata-ssd\"\n\
    [[export]]\nname = \"greedy\"\nsize = \"8MiB\"\nbest_effort = true\n\
    [[export]]\nname = \"modest\"\nsize = \"8MiB\"\nbest_effort = true\n";

#[test]
fn whoever_takes_all_connections_leaves_the_others_theirs() {
    let folder = Folder::new();
    let Some(server) = Server::start(&folder, SHARED, &[]) else { return };
    let connect = |export: &str| Client::connect(&server.socket(), export).ok();
    let greedy: Vec<Client> = std::iter::from_fn(|| connect("greedy")).take(100).collect();
    assert_eq!(greedy.len(), 16, "{}", server.said());
    let mut modest: Vec<Client> = std::iter::from_fn(|| connect("modest")).take(100).collect();
    assert_eq!(modest.len(), 16, "{}", server.said());
    for name in ["greedy", "modest"] {
        let line = format!("export `{name}` has 16 connections already");
        assert!(until(|| server.said().contains(&line)), "{}", server.said());
    }
    for client in &mut modest {
        assert_eq!(client.write(0, &[1; 4096], false).unwrap(), 0);
    }
    // The slot of a closed connection is free for the first client that connects.
    drop(modest.pop());
    let mut more = None;
    assert!(until(|| {
        more = connect("modest");
        more.is_some()
    }));
    assert_eq!(server.stop().0, Some(0));
}
