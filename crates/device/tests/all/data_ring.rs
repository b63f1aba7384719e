// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: clients' data passes through io_uring unchanged, and no wake-up is missed. Method: a ring
//! on a real file, and threads that wake it.

use std::time::Instant;

use crate::common::test_ring::{TestRing, on_new_file};
use tidegate_device::{
    Access, DataRing, Delivered, IoBuffer, IoError, Message, Moved, Pace, Receive, Send, Target,
    Transfer, Waker,
};
use tidegate_model::{Bytes, Duration, Lba, Op};

const BLOCK: Bytes = Bytes::from_kib(4);
const LONG: Duration = Duration::from_ms(120_000);

/// Returns a ring on a file, with its target and its waker.
fn on_file(access: Access) -> Option<(TestRing<DataRing>, Target, Waker)> {
    let waker = Waker::new().unwrap();
    let (fixture, target) =
        on_new_file(access, |target| DataRing::new(Some(target), 8, waker.clone()))?;
    Some((fixture, target, waker))
}

fn transfer(token: u64, op: Op, block: u64) -> Transfer {
    let mut data = IoBuffer::new(BLOCK);
    let fill = u8::try_from(token).unwrap();
    data.bytes_mut().fill(fill);
    Transfer { token, op, start: Lba::new(block * 8), size: BLOCK, data }
}

fn finish(ring: &mut DataRing, count: usize) -> Vec<Moved> {
    let mut moved = Vec::new();
    while moved.len() < count {
        ring.wait(LONG).unwrap();
        ring.reap(|one| moved.push(one));
    }
    moved.sort_by_key(|one| one.token);
    moved
}

#[test]
fn data_goes_to_the_file_and_comes_back() {
    for look in [Duration::ZERO, Duration::from_us(60)] {
        let Some((mut fixture, _target, _)) = on_file(Access::ReadWrite) else { return };
        fixture.ring = fixture.ring.busy_polling(look);
        write_and_read(fixture);
    }
}

fn write_and_read(mut fixture: TestRing<DataRing>) {
    for token in 0..8 {
        fixture.ring.push(transfer(token, Op::Write, token * 3));
    }
    assert!(finish(&mut fixture.ring, 8).iter().all(|one| one.result == Ok(())));
    fixture.ring.push_flush(100);
    let flushed = finish(&mut fixture.ring, 1);
    assert!(flushed[0].token == 100 && flushed[0].result == Ok(()) && flushed[0].data.is_none());
    let file = std::fs::read(&fixture.path).unwrap();
    for token in 0..8_u8 {
        let start = usize::from(token) * 3 * 4096;
        assert!(file[start..start + 4096].iter().all(|&byte| byte == token), "write {token}");
        fixture.ring.push(transfer(99, Op::Read, u64::from(token) * 3));
    }
    let mut read: Vec<u8> = finish(&mut fixture.ring, 8)
        .iter()
        .map(|one| one.data.as_ref().unwrap().bytes()[7])
        .collect();
    read.sort_unstable();
    assert_eq!(read, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(fixture.ring.in_flight_count(), 0);
}

/// Goal: no wake-up is missed, whenever it comes, and none counts twice. Method: a thread wakes the
/// ring twice for each message that it gets; each wait must end long before its time-out.
#[test]
fn every_wake_up_wakes_the_sleeper_once() {
    for look in [Duration::ZERO, Duration::from_us(60), Duration::from_ms(1)] {
        let Some((mut fixture, _target, waker)) = on_file(Access::ReadOnly) else { return };
        fixture.ring = fixture.ring.busy_polling(look);
        sees_every_wake_up(fixture, &waker);
    }
}

fn sees_every_wake_up(mut fixture: TestRing<DataRing>, waker: &Waker) {
    let waker = waker.clone();
    let (ask, asked) = std::sync::mpsc::channel::<u64>();
    let waking = std::thread::spawn(move || {
        for turn in asked {
            // The delays end before, while and after the sleeper goes to sleep.
            std::thread::sleep(std::time::Duration::from_micros(turn % 7 * 30));
            waker.wake();
            waker.wake();
        }
    });
    let started = Instant::now();
    for turn in 0..200 {
        ask.send(turn).unwrap();
        fixture.ring.wait(LONG).unwrap();
        fixture.ring.reap(|_| panic!("nothing is in flight"));
    }
    drop(ask);
    waking.join().unwrap();
    assert!(started.elapsed().as_secs() < 60, "a wake-up was missed");
    // A last wake-up may still be pending: this wait takes it.
    fixture.ring.wait(Duration::from_ms(1)).unwrap();
    fixture.ring.reap(drop);
    let started = Instant::now();
    fixture.ring.wait(Duration::from_ms(60)).unwrap();
    assert!(started.elapsed().as_millis() >= 50, "woken without a wake-up");
}

#[test]
#[should_panic(expected = "writing needs a target opened ReadWrite")]
fn nothing_is_written_to_a_target_opened_to_be_read() {
    let Some((mut fixture, _target, _)) = on_file(Access::ReadOnly) else {
        panic!("writing needs a target opened ReadWrite");
    };
    fixture.ring.push(transfer(1, Op::Write, 0));
}

#[test]
fn what_was_trimmed_is_gone_and_its_neighbours_are_not() {
    let Some((mut fixture, _target, _)) = on_file(Access::ReadWrite) else { return };
    for token in 1..5 {
        fixture.ring.push(transfer(token, Op::Write, token));
    }
    finish(&mut fixture.ring, 4);
    fixture.ring.push_trim(9, Lba::new(2 * 8), Bytes::from_kib(8));
    let [trimmed] = &finish(&mut fixture.ring, 1)[..] else { panic!("one") };
    assert!(trimmed.token == 9 && trimmed.data.is_none());
    // A file system without holes keeps the data.
    let is_gone = trimmed.result.is_ok();
    for token in 1..5 {
        fixture.ring.push(transfer(token, Op::Read, token));
    }
    for read in finish(&mut fixture.ring, 4) {
        let is_trimmed = is_gone && (2..4).contains(&read.token);
        let expected = if is_trimmed { 0 } else { u8::try_from(read.token).unwrap() };
        assert_eq!(read.data.unwrap().bytes()[0], expected, "block {}", read.token);
    }
}

/// A read beyond the end of the file is an error and never returns unfilled memory.
#[test]
fn a_file_truncated_underneath_is_a_short_transfer() {
    let Some((mut fixture, _target, _)) = on_file(Access::ReadWrite) else { return };
    let end = 20 * BLOCK.get();
    std::fs::File::options().write(true).open(&fixture.path).unwrap().set_len(end).unwrap();
    let mut across = IoBuffer::new(Bytes::from_kib(8));
    across.bytes_mut().fill(1);
    let across = Transfer {
        token: 1,
        op: Op::Read,
        start: Lba::new(19 * 8),
        size: Bytes::from_kib(8),
        data: across,
    };
    fixture.ring.push(across);
    fixture.ring.push(transfer(2, Op::Read, 30));
    fixture.ring.push(transfer(3, Op::Read, 19));
    let moved = finish(&mut fixture.ring, 3);
    let short = |moved, size| Err(IoError::Short { moved, size });
    assert_eq!(moved[0].result, short(BLOCK, Bytes::from_kib(8)));
    assert_eq!(moved[1].result, short(Bytes::new(0), BLOCK));
    assert_eq!(moved[2].result, Ok(()));
    // A write beyond the end makes the blocks readable again.
    fixture.ring.push(transfer(4, Op::Write, 30));
    fixture.ring.push(transfer(5, Op::Read, 19));
    assert!(finish(&mut fixture.ring, 2).iter().all(|one| one.result == Ok(())));
    assert_eq!(std::fs::metadata(&fixture.path).unwrap().len(), 31 * BLOCK.get());
}

/// A wake-up between the look for work and the reaping is not lost.
#[test]
fn a_wake_up_between_look_and_reaping_is_not_lost() {
    for look in [Duration::ZERO, Duration::from_us(60)] {
        let Some((mut fixture, _target, waker)) = on_file(Access::ReadWrite) else { return };
        fixture.ring = fixture.ring.busy_polling(look);
        sees_wake_up_between(fixture, &waker);
    }
}

fn sees_wake_up_between(mut fixture: TestRing<DataRing>, waker: &Waker) {
    for _ in 0..3 {
        waker.wake();
        fixture.ring.wait(LONG).unwrap();
        // Here the sleeper looks for work; then another thread adds more.
        waker.wake();
        fixture.ring.reap(drop);
        let begun = Instant::now();
        fixture.ring.wait(LONG).unwrap();
        assert!(begun.elapsed() < std::time::Duration::from_mins(1), "it slept");
        fixture.ring.reap(drop);
        // No stale wake-up remains that would wake it again and again.
        let mut turns = 0;
        let begun = Instant::now();
        while begun.elapsed() < std::time::Duration::from_millis(200) {
            fixture.ring.wait(Duration::from_ms(50)).unwrap();
            fixture.ring.reap(drop);
            turns += 1;
        }
        assert!(turns < 10, "{turns} turns");
    }
}

/// Goal: a message of headers and data arrives whole, through a socket that takes it in parts, and
/// what is received is what was sent. Method: a pair of sockets whose buffer is smaller than the
/// message, and a thread that reads the other end. Nothing else ends the ring's wait.
#[test]
fn a_message_arrives_whole_beside_the_disk() {
    for pace in [Pace::Timed, Pace::Silent, Pace::Patient] {
        // The second message has more pieces than the kernel takes in one call.
        for (count, length) in [(100, 65_000), (700, 5)] {
            let begun = Instant::now();
            arrives_whole(pace, count, length);
            assert!(begun.elapsed() < std::time::Duration::from_mins(1), "{pace:?}: it slept");
        }
    }
}

fn arrives_whole(mut pace: Pace, count: usize, length: usize) {
    let Some((mut fixture, _target, _waker)) = on_file(Access::ReadOnly) else { return };
    let (ours, mut theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let socket: tidegate_device::Socket = std::sync::Arc::new(ours.into());
    let mut message = Box::new(Message::default());
    let mut expected = Vec::new();
    for number in (0..100_u8).cycle().take(count) {
        message.put_head(|heads| heads.extend([number; 3]));
        let mut data = IoBuffer::new(Bytes::new(length as u64));
        data.bytes_mut().fill(number);
        message.put_data(data, length);
        expected.resize(expected.len() + 3 + length, number);
    }
    assert_eq!((message.left(), message.is_empty()), (expected.len(), false));
    theirs.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
    let mut bytes = vec![0; expected.len()];
    let reader = std::thread::spawn(move || {
        std::io::Read::read_exact(&mut theirs, &mut bytes).unwrap();
        std::io::Write::write_all(&mut theirs, b"thanks").unwrap();
        bytes
    });
    let buffer = IoBuffer::new(BLOCK);
    fixture.ring.push_receive(Receive { token: 9, socket: socket.clone(), buffer, range: 2..4096 });
    let (mut delivered, mut is_sent) = (Vec::new(), false);
    let mut waiting = Some(message);
    let received = loop {
        if let Some(message) = waiting.take() {
            fixture.ring.push_send(Send { token: 7, socket: socket.clone(), message, pace });
        }
        fixture.ring.wait(LONG).unwrap();
        fixture.ring.take_delivered(&mut delivered);
        let mut received = None;
        for one in delivered.drain(..) {
            match one {
                Delivered::Sent { token, mut message, result } => {
                    assert_eq!(token, 7);
                    let count = result.unwrap_or(0);
                    is_sent = message.advance(count);
                    waiting = Some(message).filter(|_| !is_sent);
                    pace = Pace::Patient;
                }
                Delivered::Received { token, buffer, result } => {
                    assert_eq!((token, result), (9, Ok(6)));
                    received = Some(buffer.bytes()[2..8].to_vec());
                }
            }
        }
        if let Some(received) = received {
            break received;
        }
    };
    assert!(is_sent && received == b"thanks");
    assert!(reader.join().unwrap() == expected);
}

/// Goal: a ring that is dropped ends its receive operations, and does not wait for them.
#[test]
fn a_dropped_ring_waits_for_no_client() {
    let Some((mut fixture, _target, _waker)) = on_file(Access::ReadOnly) else { return };
    let (ours, _theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let socket: tidegate_device::Socket = std::sync::Arc::new(ours.into());
    let buffer = IoBuffer::new(BLOCK);
    fixture.ring.push_receive(Receive { token: 1, socket, buffer, range: 0..4096 });
    fixture.ring.wait(Duration::from_ms(1)).unwrap();
    let begun = Instant::now();
    drop(fixture);
    assert!(begun.elapsed() < std::time::Duration::from_secs(5));
}

/// Goal: dropping a ring does not wait for a silent send that has succeeded, because the kernel
/// does not report it.
#[test]
fn a_dropped_ring_does_not_wait_for_a_silent_send() {
    let Some((mut fixture, _target, _waker)) = on_file(Access::ReadOnly) else { return };
    let (ours, mut theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let mut message = Box::new(Message::default());
    message.put_head(|heads| heads.extend(b"done"));
    let (socket, pace) = (std::sync::Arc::new(ours.into()), Pace::Silent);
    fixture.ring.push_send(Send { token: 1, socket, message, pace });
    fixture.ring.wait(Duration::from_ms(1)).unwrap();
    assert_eq!(fixture.ring.in_flight_count(), 1);
    let begun = Instant::now();
    drop(fixture);
    assert!(begun.elapsed() < std::time::Duration::from_secs(5));
    let mut received = [0; 4];
    std::io::Read::read_exact(&mut theirs, &mut received).unwrap();
    assert_eq!(&received, b"done");
}
