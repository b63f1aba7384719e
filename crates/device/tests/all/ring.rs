// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: batches through io_uring give the right data and errors, time out, and refuse invalid
//! requests. Method: a ring on a real file.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::common::test_ring::{TestRing, on_new_file};
use tidegate_device::{Access, Completion, Io, IoError, Ring, Target, Wake};
use tidegate_model::{Bytes, Duration, Lba, Op};

const BLOCK: Bytes = Bytes::from_kib(4);

fn read(token: u64, block: u64) -> Io {
    Io { token, op: Op::Read, start: Lba::new(block * 8), size: BLOCK, fua: false }
}

fn write(token: u64, block: u64, fua: bool) -> Io {
    Io { op: Op::Write, fua, ..read(token, block) }
}

/// Waits for `count` completions and returns them with their data, in order of token.
fn finish(ring: &mut Ring, count: usize) -> Vec<(Completion, Vec<u8>)> {
    let mut done: Vec<(Completion, Vec<u8>)> = Vec::new();
    while done.len() < count {
        ring.wait(None).expect("the device answers");
        ring.reap(|completion, data| done.push((completion, data.to_vec())));
    }
    done.sort_by_key(|(completion, _)| completion.token);
    done
}

fn on_file(access: Access, slots: u32) -> Option<(TestRing<Ring>, Target)> {
    on_new_file(access, |target| Ring::new(target, slots, Bytes::from_kib(64)))
}

#[test]
fn a_batch_reads_what_the_file_holds() {
    let Some((mut fixture, _target)) = on_file(Access::ReadOnly, 32) else { return };
    println!("{:?}", fixture.ring.setup());
    let expected = std::fs::read(&fixture.path).expect("the file");
    for round in 0..3 {
        for token in 0..32 {
            fixture.ring.push(read(token, (token * 7 + round) % 256));
        }
        assert_eq!((fixture.ring.free_count(), fixture.ring.in_flight_count()), (0, 32));
        fixture.ring.submit().expect("the batch goes as one");
        for (completion, data) in finish(&mut fixture.ring, 32) {
            assert_eq!(completion.result, Ok(()));
            let start = usize::try_from((completion.token * 7 + round) % 256).unwrap() * 4096;
            assert_eq!(data, expected[start..start + 4096]);
        }
        assert_eq!(fixture.ring.in_flight_count(), 0);
    }
}

#[test]
fn wait_for_returns_when_the_whole_batch_is_complete() {
    let Some((mut fixture, _target)) = on_file(Access::ReadOnly, 8) else { return };
    for token in 0..8 {
        fixture.ring.push(read(token, token));
    }
    while fixture.ring.wait_for(8, None).expect("the device answers") != Wake::Completion {}
    assert_eq!(fixture.ring.reap(|completion, _| assert_eq!(completion.result, Ok(()))), 8);
}

#[test]
fn writes_reach_the_file_and_no_two_are_alike() {
    let Some((mut fixture, _target)) = on_file(Access::ReadWrite, 4) else { return };
    let before = std::fs::read(&fixture.path).expect("the file");
    fixture.ring.push(write(0, 3, false));
    fixture.ring.push(write(1, 5, true));
    for (completion, _) in finish(&mut fixture.ring, 2) {
        assert_eq!(completion.result, Ok(()));
    }
    fixture.ring.push(read(0, 3));
    fixture.ring.push(read(1, 5));
    let [(_, first), (_, second)] = &finish(&mut fixture.ring, 2)[..] else { panic!("two") };
    assert_ne!(first, second);
    assert_ne!(first[..], before[3 * 4096..4 * 4096]);
    let after = std::fs::read(&fixture.path).expect("the file");
    assert_eq!(after[3 * 4096..4 * 4096], first[..]);
    assert_eq!(after[6 * 4096..], before[6 * 4096..]);
}

#[test]
fn a_flush_comes_back_by_its_token_and_without_data() {
    let Some((mut fixture, _target)) = on_file(Access::ReadWrite, 2) else { return };
    fixture.ring.push(write(1, 3, false));
    fixture.ring.submit().expect("it goes");
    assert_eq!(finish(&mut fixture.ring, 1)[0].0.result, Ok(()));
    fixture.ring.push_flush(7);
    assert_eq!(fixture.ring.in_flight_count(), 1);
    fixture.ring.submit().expect("it goes");
    let done = finish(&mut fixture.ring, 1);
    assert_eq!(done, [(Completion { token: 7, result: Ok(()) }, Vec::new())]);
    assert_eq!(fixture.ring.free_count(), 2);
}

#[test]
fn wait_ends_when_its_time_is_over() {
    let Some((mut fixture, _target)) = on_file(Access::ReadOnly, 1) else { return };
    let wake = fixture.ring.wait(Some(Duration::from_us(100))).expect("waiting works");
    assert_eq!(wake, Wake::Timeout);
    assert_eq!(fixture.ring.reap(|_, _| ()), 0);
}

#[test]
fn a_read_beyond_a_file_that_shrank_is_an_error() {
    let Some((mut fixture, _target)) = on_file(Access::ReadOnly, 1) else { return };
    let file = std::fs::File::options().write(true).open(&fixture.path).expect("the file");
    file.set_len(4096).expect("a shorter file");
    fixture.ring.push(read(9, 100));
    let [(completion, _)] = &finish(&mut fixture.ring, 1)[..] else { panic!("one") };
    assert_eq!(completion.token, 9);
    assert_eq!(completion.result, Err(IoError::Short { moved: Bytes::new(0), size: BLOCK }));
}

#[test]
fn a_dropped_ring_waits_for_its_requests() {
    let Some((mut fixture, _target)) = on_file(Access::ReadOnly, 16) else { return };
    for token in 0..16 {
        fixture.ring.push(read(token, token));
    }
    fixture.ring.submit().expect("the batch goes as one");
    drop(fixture.ring);
}

#[test]
fn broken_contracts_stop_the_program() {
    let Some((_fixture, target)) = on_file(Access::ReadOnly, 1) else { return };
    let large = Bytes::from_kib(128);
    let broken = [
        ("write on a target opened read-only", write(0, 0, false)),
        ("beyond the end", read(0, 256)),
        ("not aligned", Io { size: Bytes::new(100), ..read(0, 0) }),
        ("too large", Io { size: large, ..read(0, 0) }),
        ("empty", Io { size: Bytes::new(0), ..read(0, 0) }),
        ("a read with FUA", Io { fua: true, ..read(0, 0) }),
    ];
    for (what, io) in broken {
        let mut ring = Ring::new(&target, 1, Bytes::from_kib(64)).expect("a ring");
        assert!(catch_unwind(AssertUnwindSafe(|| ring.push(io))).is_err(), "{what}");
    }
    let mut ring = Ring::new(&target, 1, Bytes::from_kib(64)).expect("a ring");
    ring.push(read(0, 0));
    assert!(catch_unwind(AssertUnwindSafe(|| ring.push(read(1, 1)))).is_err(), "no free slot");
}

#[test]
fn rings_that_cannot_be_are_refused() {
    let Some((_fixture, target)) = on_file(Access::ReadOnly, 1) else { return };
    for (slots, size) in [(0, BLOCK), (5000, BLOCK), (1, Bytes::new(0)), (1, Bytes::new(100))] {
        assert!(Ring::new(&target, slots, size).is_err(), "{slots} slots of {size}");
    }
}
