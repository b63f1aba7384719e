// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: hostile peers do not prevent replies to others. Method: hostile peers beside a
//! well-behaved one.
//!
//! The protocol here echoes lines. Time-outs are tested on a single peer with invented instants.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::listener::{Listener, PathListener};
use super::peer::{Fate, PACE, PATIENCE, Peer};
use super::*;

/// Replies to a line with the line itself, to `flood` with more than a socket holds, and to `slow`
/// when another peer has sent `go`.
#[derive(Default)]
struct Echo {
    go: Vec<std::sync::mpsc::Sender<()>>,
}

const LINE_MAX: usize = 1000;

const FLOOD_BYTES: usize = 8 << 20;

impl Protocol for Echo {
    const REQUEST_MAX: usize = LINE_MAX;

    fn end(input: &[u8], scanned: usize) -> Option<usize> {
        input[scanned..].iter().position(|&byte| byte == b'\n').map(|at| scanned + at + 1)
    }

    fn answer(&mut self, request: &[u8]) -> Reply {
        if request == b"slow\n" {
            let (go, goes) = std::sync::mpsc::channel();
            self.go.push(go);
            return Reply::Later(Box::new(move || {
                goes.recv().expect("another peer sends go");
                Answer { bytes: b"done\n".to_vec(), is_last: false }
            }));
        }
        if request == b"go\n" {
            self.go.drain(..).for_each(|go| go.send(()).unwrap());
        }
        let bytes = match request {
            b"flood\n" => vec![b'f'; FLOOD_BYTES],
            other => other.to_vec(),
        };
        Answer { bytes, is_last: request == b"bye\n" }.into()
    }

    fn refusal(&self, why: Refusal) -> Vec<u8> {
        format!("{why:?}\n").into_bytes()
    }
}

struct Bench {
    folder: tempfile::TempDir,
    said: Arc<Mutex<Vec<String>>>,
    peers: Peers,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let said = Arc::new(Mutex::new(Vec::new()));
        let (listener, sink) =
            (PathListener::open(&folder.path().join("s")).unwrap(), said.clone());
        let say: LogSink = Arc::new(move |line: &str| sink.lock().unwrap().push(line.to_owned()));
        let peers = Peers::start("test", listener, Echo::default(), say).unwrap();
        Self { folder, said, peers }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("s")
    }

    fn connect(&self) -> UnixStream {
        let stream = UnixStream::connect(self.path()).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        stream
    }

    /// Checks that a well-behaved peer gets its reply.
    fn is_well(&self) {
        let mut stream = self.connect();
        stream.write_all(b"well?\n").unwrap();
        assert_eq!(line(&stream), "well?\n");
    }
}

fn line(stream: &UnixStream) -> String {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line
}

#[test]
fn the_socket_is_its_owners_only_and_goes_with_the_service() {
    let bench = Bench::new();
    let mode = std::fs::metadata(bench.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    bench.is_well();
    let path = bench.path();
    let Bench { folder, peers, .. } = bench;
    drop(peers);
    assert!(!path.exists());
    drop(folder);
}

#[test]
fn a_socket_that_was_left_behind_is_replaced_and_nothing_else_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let left = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let error = PathListener::open(&path).expect_err("somebody listens");
    assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    drop(left);
    drop(PathListener::open(&path).expect("nobody listens"));
    std::fs::write(&path, "precious").unwrap();
    assert_eq!(PathListener::open(&path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
}

#[test]
fn who_sends_a_line_without_end_is_told_and_let_go() {
    let bench = Bench::new();
    let mut stream = bench.connect();
    let _ = stream.write_all(&vec![b'x'; 64 * LINE_MAX]);
    assert_eq!(line(&stream), "Long\n");
    bench.is_well();
}

#[test]
fn who_does_not_read_keeps_nobody_waiting() {
    let bench = Bench::new();
    let mut greedy = bench.connect();
    greedy.write_all(&b"flood\n".repeat(100)).unwrap();
    for _ in 0..20 {
        bench.is_well();
    }
    // The greedy peer gets its whole reply when it reads.
    let mut answer = vec![0; FLOOD_BYTES];
    greedy.read_exact(&mut answer).unwrap();
    assert!(answer.iter().all(|&byte| byte == b'f'));
}

#[test]
fn who_closes_its_half_is_answered_also_without_a_last_new_line() {
    let bench = Bench::new();
    let mut stream = bench.connect();
    stream.write_all(b"one\ntwo").unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "one\ntwo");
}

#[test]
fn a_thousand_that_come_and_go_and_forty_that_stay_are_harmless() {
    let bench = Bench::new();
    for round in 0..1000 {
        let mut stream = bench.connect();
        if round % 2 == 0 {
            let _ = stream.write_all(b"half a li");
        }
    }
    bench.is_well();
    let silent: Vec<UnixStream> = (0..PEERS_MAX + 8).map(|_| bench.connect()).collect();
    // Peers beyond the limit are refused; which ones they are does not matter.
    let mut refused = 0;
    for stream in &silent {
        stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let mut answer = [0; 8];
        let said = (&*stream).read(&mut answer);
        refused += usize::from(matches!(said, Ok(8) if answer.starts_with(b"Crowded")));
    }
    assert_eq!(refused, 8);
    drop(silent);
    let is_answered = |_| {
        let mut stream = bench.connect();
        let _ = stream.write_all(b"well?\n");
        line(&stream) == "well?\n"
    };
    assert!((0..100).any(is_answered), "connections are free again");
}

#[test]
fn who_asks_without_pause_is_answered_at_our_pace() {
    let bench = Bench::new();
    let begun = Instant::now();
    let mut stream = bench.connect();
    stream.write_all(&b"again\n".repeat(50)).unwrap();
    let mut answers = vec![0; 300];
    stream.read_exact(&mut answers).unwrap();
    assert!(begun.elapsed() >= 49 * PACE, "{:?}", begun.elapsed());
}

#[test]
fn a_socket_that_is_removed_is_made_again_and_those_inside_go_on() {
    let bench = Bench::new();
    let mut stream = bench.connect();
    std::fs::remove_file(bench.path()).unwrap();
    let begun = Instant::now();
    while bench.said.lock().unwrap().is_empty() && begun.elapsed() < Duration::from_mins(1) {
        std::thread::yield_now();
        stream.write_all(b"still?\n").unwrap();
        assert_eq!(line(&stream), "still?\n");
    }
    let said = bench.said.lock().unwrap();
    let is_said = |only: &String| only.contains("was removed; it was created again");
    assert!(matches!(&said[..], [only] if is_said(only)), "{said:?}");
    drop(said);
    bench.is_well();
    let mode = std::fs::metadata(bench.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn what_takes_long_keeps_nobody_else_waiting() {
    let bench = Bench::new();
    let mut slow = bench.connect();
    slow.write_all(b"slow\nthen\n").unwrap();
    // A `go` that arrives before `slow` has no effect, so it is repeated until the reply arrives.
    slow.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let (begun, mut answer) = (Instant::now(), [0; 10]);
    while slow.read_exact(&mut answer[..1]).is_err() {
        assert!(begun.elapsed() < Duration::from_mins(1));
        bench.is_well();
        let mut other = bench.connect();
        other.write_all(b"go\n").unwrap();
        assert_eq!(line(&other), "go\n");
    }
    // The reply to the next request comes after the reply to `slow`.
    slow.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    slow.read_exact(&mut answer[1..]).unwrap();
    assert_eq!(&answer, b"done\nthen\n");
}

#[test]
fn who_waits_for_what_takes_long_is_not_slow() {
    let begun = Instant::now();
    let after = |second| begun + Duration::from_secs(second);
    let mut wire = Wire { input: b"slow\n".to_vec(), room: 1000, ..Wire::default() };
    let (mut peer, mut echo) = (Peer::new(&mut wire, begun), Echo::default());
    assert_eq!(peer.turn(after(0), &mut echo), Fate::Stays);
    assert!(peer.take_job().is_some() && peer.take_job().is_none());
    let (answer, answered) = channel();
    peer.awaits_answer(answered);
    assert_eq!(peer.turn(after(30), &mut echo), Fate::Stays);
    assert!(peer.deadline().is_none() && peer.awaits(after(30)).is_none());
    answer.send(Answer { bytes: b"done\n".to_vec(), is_last: false }).unwrap();
    assert_eq!(peer.turn(after(40), &mut echo), Fate::Stays);
    assert_eq!(peer.turn(after(49), &mut echo), Fate::Stays);
    assert_eq!(peer.turn(after(50), &mut echo), Fate::Goes);
    assert_eq!(wire.output, b"done\nSlow\n");
}

/// A file that replaced the socket is left alone; when it is removed, the socket is created again.
#[test]
fn a_socket_that_was_replaced_is_said_once_and_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let mut listener = PathListener::open(&path).unwrap();
    let said = std::cell::RefCell::new(Vec::new());
    let say = |line: &str| said.borrow_mut().push(line.to_owned());
    listener.look(&say);
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "mine").unwrap();
    listener.look(&say);
    listener.look(&say);
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    assert!(matches!(&said.borrow()[..], [only] if only.contains("cannot be created again")));
    std::fs::remove_file(&path).unwrap();
    listener.look(&say);
    assert!(said.borrow().last().unwrap().contains("it was created again"));
    let _peer = UnixStream::connect(&path).unwrap();
    listener.accept().unwrap();
    drop(listener);
    assert!(!path.exists());
}

/// A stream of a test: its input, and the number of bytes that it accepts.
#[derive(Default)]
struct Wire {
    input: Vec<u8>,
    output: Vec<u8>,
    room: usize,
}

impl Read for &mut Wire {
    fn read(&mut self, data: &mut [u8]) -> io::Result<usize> {
        if self.input.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let count = data.len().min(self.input.len());
        data[..count].copy_from_slice(&self.input[..count]);
        self.input.drain(..count);
        Ok(count)
    }
}

impl Write for &mut Wire {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let count = data.len().min(self.room);
        if count == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.room -= count;
        self.output.extend_from_slice(&data[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn who_sends_no_whole_line_in_time_is_told_and_let_go() {
    let begun = Instant::now();
    let mut wire = Wire { input: b"hal".to_vec(), room: 1000, ..Wire::default() };
    let mut peer = Peer::new(&mut wire, begun);
    for second in 0..10 {
        assert_eq!(
            peer.turn(begun + Duration::from_secs(second), &mut Echo::default()),
            Fate::Stays
        );
        // One byte per second does not complete a line in time.
        peer.stream.input.push(b'f');
    }
    assert_eq!(peer.deadline(), Some(begun + PATIENCE));
    assert_eq!(peer.turn(begun + PATIENCE, &mut Echo::default()), Fate::Goes);
    assert_eq!(wire.output, b"Slow\n");
}

#[test]
fn who_reads_no_answer_in_time_is_let_go_and_whoever_asks_in_time_stays() {
    let begun = Instant::now();
    let after = |second| begun + Duration::from_secs(second);
    let mut wire = Wire { input: b"a\n".to_vec(), room: 2, ..Wire::default() };
    let mut peer = Peer::new(&mut wire, begun);
    assert_eq!(peer.turn(after(8), &mut Echo::default()), Fate::Stays);
    assert_eq!(peer.turn(after(16), &mut Echo::default()), Fate::Stays);
    peer.stream.input = b"b\n".to_vec();
    assert_eq!(peer.turn(after(17), &mut Echo::default()), Fate::Stays);
    assert_eq!(peer.turn(after(26), &mut Echo::default()), Fate::Stays);
    assert_eq!(peer.turn(after(27), &mut Echo::default()), Fate::Goes);
    assert_eq!(wire.output, b"a\n");
}

#[test]
fn the_listener_itself_never_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let listener = PathListener::open(&folder.path().join("s")).unwrap();
    assert_eq!(listener.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
}
