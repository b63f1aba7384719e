// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: durable data survives servers that end during work. Method: servers are stopped or killed,
//! and clients disconnect.

use std::path::Path;
use std::time::Duration;

use crate::common::Folder;
use crate::nbd::Client;
use crate::server::{PATIENCE, Server, image, until};

const BLOCK: usize = 4096;

/// The number of blocks that each of the four writers uses.
const BLOCKS: u64 = 512;

const WRITERS: u64 = 4;

const STORE: &str = "backing = \"disk.img\"\n\
    [[export]]\nname = \"first\"\nsize = \"4MiB\"\nbest_effort = true\n\
    [[export]]\nname = \"second\"\nsize = \"4MiB\"\nbest_effort = true\n";

/// Writes increasing stamps until the server is gone. Returns, for each block, the last stamp that
/// was acknowledged as durable, by FUA or by a later flush.
fn write_until_killed(socket: &Path, writer: u64) -> Vec<u64> {
    let export = if writer < 2 { "first" } else { "second" };
    let mut client = Client::connect(socket, export).unwrap();
    let first = writer % 2 * BLOCKS;
    let (mut durable, mut written) = (vec![0; 512], Vec::new());
    for stamp in 1.. {
        let block = stamp * 7919 % BLOCKS;
        let mut data = vec![0; BLOCK];
        data[..8].copy_from_slice(&u64::to_le_bytes(stamp));
        data[BLOCK - 8..].copy_from_slice(&u64::to_le_bytes(stamp));
        let is_durable = stamp % 5 == 0;
        let place = usize::try_from(block).unwrap();
        match client.write((first + block) * BLOCK as u64, &data, is_durable) {
            Ok(0) if is_durable => durable[place] = stamp,
            Ok(0) => written.push((place, stamp)),
            // The write was refused or the server is gone, so the write was not acknowledged.
            _ => break,
        }
        if stamp % 16 == 0 {
            match client.flush() {
                Ok(0) => written.drain(..).for_each(|(place, stamp)| durable[place] = stamp),
                _ => break,
            }
        }
    }
    durable
}

/// Returns the number of blocks that contain neither their durable stamp nor a later one.
fn lost(socket: &Path, writer: u64, durable: &[u64]) -> usize {
    let export = if writer < 2 { "first" } else { "second" };
    let mut client = Client::connect(socket, export).unwrap();
    let first = writer % 2 * BLOCKS;
    let is_lost = |&(block, &promised): &(u64, &u64)| {
        let data = client.read((first + block) * BLOCK as u64, BLOCK).unwrap().unwrap();
        let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
        number(&data[..8]) < promised || number(&data[BLOCK - 8..]) < promised
    };
    (0..).zip(durable).filter(is_lost).count()
}

#[test]
fn what_was_durable_is_there_after_a_kill_under_load() {
    let folder = Folder::new();
    if image(&folder, "disk.img", 8).is_none() {
        return;
    }
    let mut promised_count = 0;
    for round in 0..3 {
        let Some(server) = Server::start(&folder, STORE, &[]) else { return };
        let socket = server.socket();
        let promises: Vec<Vec<u64>> = std::thread::scope(|scope| {
            let write = |writer| {
                let socket = &socket;
                scope.spawn(move || write_until_killed(socket, writer))
            };
            let writers: Vec<_> = (0..WRITERS).map(write).collect();
            std::thread::sleep(Duration::from_millis(500 + 300 * round));
            server.kill();
            writers.into_iter().map(|writer| writer.join().unwrap()).collect()
        });
        let Some(server) = Server::start(&folder, STORE, &[]) else { panic!("it served before") };
        for (writer, durable) in (0..).zip(&promises) {
            assert_eq!(lost(&server.socket(), writer, durable), 0, "round {round}");
            // Canary: a stamp that was never written counts as lost.
            let more: Vec<u64> = durable.iter().map(|stamp| stamp + 1_000_000).collect();
            assert_eq!(lost(&server.socket(), writer, &more), more.len());
            promised_count += durable.iter().filter(|&&stamp| stamp > 0).count();
        }
        server.kill();
        // The next round starts with the first stamps again.
        image(&folder, "disk.img", 8).expect("it could be created before");
    }
    assert!(promised_count > 100, "only {promised_count} blocks were promised anything");
}

/// A drive that takes 200 ms for each request.
const SLOW: &str = "name = \"slow\"\nkind = \"pseudo\"\ndepth = 1\nflush_ns_max = 0\n\
    [[batch]]\nop = \"read\"\nsize = \"4KiB\"\nns_max = [200_000_000]\n\
    [[batch]]\nop = \"write\"\nsize = \"4KiB\"\nns_max = [200_000_000]\n";

const SLOW_SERVE: &str = "simulate = \"slow.drive.toml\"\nstore = \"store.img\"\ncontrol = \"s.ctl\"\n\
    [[export]]\nname = \"a\"\nsize = \"1MiB\"\nbest_effort = true\n\
    [[export]]\nname = \"b\"\nsize = \"1MiB\"\nbest_effort = true\n";

/// Returns the number of that export's requests that were read and have not completed.
fn outstanding(folder: &Folder, export: usize) -> u64 {
    let (_, seen) = folder.json(&["ctl", "s.ctl", "statistics"]);
    seen["exports"][export]["outstanding"].as_u64().unwrap_or(0)
}

#[test]
fn the_end_answers_what_is_outstanding() {
    let folder = Folder::new();
    folder.file("slow.drive.toml", SLOW);
    let Some(server) = Server::start(&folder, SLOW_SERVE, &[]) else { return };
    let mut client = Client::connect(&server.socket(), "a").unwrap();
    // There are so many requests that some are outstanding however late this test checks.
    for block in 0..40 {
        client.ask_write(block, block * 4096, &[u8::try_from(block).unwrap() + 1; 4096], true);
    }
    let mut waiting = 0;
    assert!(until(|| {
        waiting = outstanding(&folder, 0);
        waiting >= 6
    }));
    server.signal("-TERM");
    let mut answered = Vec::new();
    while let Ok((cookie, error)) = client.answer() {
        if error == 0 {
            answered.push(cookie);
        }
    }
    let (code, said) = server.ended();
    assert_eq!(code, Some(0), "{said}");
    // Earlier requests had already been completed.
    assert!(answered.len() as u64 >= waiting, "{} of {waiting}\n{said}", answered.len());
    let store = std::fs::read(folder.path().join("store.img")).unwrap();
    for block in answered {
        let at = usize::try_from(block).unwrap() * 4096;
        let expected = u8::try_from(block).unwrap() + 1;
        assert!(store[at..at + 4096].iter().all(|&byte| byte == expected), "block {block}");
    }
}

#[test]
fn clients_that_leave_in_the_middle_take_nothing_along() {
    let folder = Folder::new();
    folder.file("slow.drive.toml", SLOW);
    let Some(server) = Server::start(&folder, SLOW_SERVE, &[]) else { return };
    for _ in 0..3 {
        let mut leaving = Client::connect(&server.socket(), "a").unwrap();
        for block in 0..10 {
            leaving.ask_write(block, block * 4096, &[9; 4096], block % 4 == 3);
        }
        assert!(until(|| outstanding(&folder, 0) > 0));
        // The client disconnects without notice, in the middle of a request.
        drop(leaving);
        let mut other = Client::connect(&server.socket(), "b").unwrap();
        assert_eq!(other.write(0, &[5; 4096], true).unwrap(), 0);
        assert_eq!(other.read(0, 4096).unwrap().unwrap(), vec![5; 4096]);
    }
    assert!(until(|| outstanding(&folder, 0) == 0), "left behind within {PATIENCE:?}");
    let (code, said) = server.stop();
    assert_eq!(code, Some(0), "{said}");
}
