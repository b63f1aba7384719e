// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: hostile peers do not prevent replies to others. Method: hostile peers and a well-behaved
//! one.
//!
//! The protocol echoes lines. Time-outs are tested on a single peer with invented instants.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::harness::Wire;
use super::listener::{Listener, PathListener};
use super::peer::{Fate, PACE, PATIENCE, Peer};
use super::*;

/// Replies to a line with the line itself, to `flood` with more than a socket's buffer takes, and
/// to `slow` when another peer has sent `go`.
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

struct Fixture {
    folder: tempfile::TempDir,
    said: Said,
    peers: Peers,
}

/// The lines that were logged.
pub(crate) type Said = Arc<Mutex<Vec<String>>>;

/// Makes a log that keeps its lines.
pub(crate) fn log() -> (LogSink, Said) {
    let said = Said::default();
    let sink = said.clone();
    (Arc::new(move |line: &str| sink.lock().unwrap().push(line.to_owned())), said)
}

/// Connects to the socket at that path.
pub(crate) fn connect(path: &Path) -> UnixStream {
    let stream = UnixStream::connect(path).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    stream
}

/// Reads a line.
pub(crate) fn line(stream: &UnixStream) -> String {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line
}

/// Returns the socket's permissions.
fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = PathListener::open(&folder.path().join("s")).unwrap();
        let (say, said) = log();
        let peers = Peers::start("test", listener, Echo::default(), say).unwrap();
        Self { folder, said, peers }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("s")
    }

    fn connect(&self) -> UnixStream {
        connect(&self.path())
    }

    /// Checks that a well-behaved peer gets its reply.
    fn is_well(&self) {
        self.is_echoed(&mut self.connect(), "well?\n");
    }

    /// Checks that a peer gets its line back.
    fn is_echoed(&self, stream: &mut UnixStream, said: &str) {
        stream.write_all(said.as_bytes()).unwrap();
        assert_eq!(line(stream), said, "{:?}", self.said.lock().unwrap());
    }
}

#[test]
fn the_socket_is_its_owners_only_and_goes_with_the_service() {
    let fixture = Fixture::new();
    assert_eq!(mode(&fixture.path()), 0o600);
    fixture.is_well();
    let path = fixture.path();
    let Fixture { folder, peers, .. } = fixture;
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
    let fixture = Fixture::new();
    let mut stream = fixture.connect();
    let _ = stream.write_all(&vec![b'x'; 64 * LINE_MAX]);
    assert_eq!(line(&stream), "Long\n");
    fixture.is_well();
}

#[test]
fn who_does_not_read_keeps_nobody_waiting() {
    let fixture = Fixture::new();
    let mut greedy = fixture.connect();
    greedy.write_all(&b"flood\n".repeat(100)).unwrap();
    for _ in 0..20 {
        fixture.is_well();
    }
    // The peer that sent `flood` gets its whole reply once it reads.
    let mut answer = vec![0; FLOOD_BYTES];
    greedy.read_exact(&mut answer).unwrap();
    assert!(answer.iter().all(|&byte| byte == b'f'));
}

#[test]
fn who_closes_its_half_is_answered_also_without_a_last_new_line() {
    let fixture = Fixture::new();
    let mut stream = fixture.connect();
    stream.write_all(b"one\ntwo").unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "one\ntwo");
}

#[test]
fn a_thousand_that_come_and_go_and_forty_that_stay_are_harmless() {
    let fixture = Fixture::new();
    for round in 0..1000 {
        let mut stream = fixture.connect();
        if round % 2 == 0 {
            let _ = stream.write_all(b"half a li");
        }
    }
    fixture.is_well();
    let silent: Vec<UnixStream> = (0..PEERS_MAX + 8).map(|_| fixture.connect()).collect();
    // Peers beyond the limit are refused; it does not matter which peers these are.
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
        let mut stream = fixture.connect();
        let _ = stream.write_all(b"well?\n");
        line(&stream) == "well?\n"
    };
    assert!((0..100).any(is_answered), "connections are free again");
}

#[test]
fn who_asks_without_pause_is_answered_at_our_pace() {
    let fixture = Fixture::new();
    let begun = Instant::now();
    let mut stream = fixture.connect();
    stream.write_all(&b"again\n".repeat(50)).unwrap();
    let mut answers = vec![0; 300];
    stream.read_exact(&mut answers).unwrap();
    assert!(begun.elapsed() >= 49 * PACE, "{:?}", begun.elapsed());
}

#[test]
fn a_socket_that_is_removed_is_made_again_and_those_inside_go_on() {
    let fixture = Fixture::new();
    let mut stream = fixture.connect();
    std::fs::remove_file(fixture.path()).unwrap();
    let begun = Instant::now();
    while fixture.said.lock().unwrap().is_empty() && begun.elapsed() < Duration::from_mins(1) {
        std::thread::yield_now();
        fixture.is_echoed(&mut stream, "still?\n");
    }
    let said = fixture.said.lock().unwrap();
    let is_said = |only: &String| only.contains("was removed; it was created again");
    assert!(matches!(&said[..], [only] if is_said(only)), "{said:?}");
    drop(said);
    fixture.is_well();
    assert_eq!(mode(&fixture.path()), 0o600);
}

#[test]
fn what_takes_long_keeps_nobody_else_waiting() {
    let fixture = Fixture::new();
    let mut slow = fixture.connect();
    slow.write_all(b"slow\nthen\n").unwrap();
    // A `go` that arrives before `slow` has no effect, so it is repeated until the reply arrives.
    slow.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let (begun, mut answer) = (Instant::now(), [0; 10]);
    while slow.read_exact(&mut answer[..1]).is_err() {
        assert!(begun.elapsed() < Duration::from_mins(1));
        fixture.is_well();
        fixture.is_echoed(&mut fixture.connect(), "go\n");
    }
    // The reply to the next request comes after the reply to `slow`.
    slow.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    slow.read_exact(&mut answer[1..]).unwrap();
    assert_eq!(&answer, b"done\nthen\n");
}

/// One peer at invented instants.
struct Timed {
    begun: Instant,
    peer: Peer<Wire>,
}

impl Timed {
    /// Makes a peer that has sent `input` and reads `writable` bytes.
    fn new(input: &[u8], writable: usize) -> Self {
        let wire = Wire { readable: usize::MAX, writable, ..Wire::new(input) };
        let begun = Instant::now();
        Self { begun, peer: Peer::new(wire, begun) }
    }

    fn after(&self, second: u64) -> Instant {
        self.begun + Duration::from_secs(second)
    }

    /// Checks that the peer stays connected at each of these seconds.
    fn stays(&mut self, seconds: impl IntoIterator<Item = u64>) {
        for second in seconds {
            let fate = self.peer.turn(self.after(second), &mut Echo::default());
            assert_eq!(fate, Fate::Stays, "after {second} s");
        }
    }

    /// Checks that the peer is disconnected at this second, with these replies.
    fn goes(mut self, second: u64, output: &str) {
        let fate = self.peer.turn(self.after(second), &mut Echo::default());
        assert_eq!(fate, Fate::Goes, "after {second} s");
        assert_eq!(str::from_utf8(&self.peer.stream.output), Ok(output));
    }
}

#[test]
fn who_waits_for_what_takes_long_is_not_slow() {
    let mut timed = Timed::new(b"slow\n", 1000);
    timed.stays([0]);
    assert!(timed.peer.take_job().is_some() && timed.peer.take_job().is_none());
    let (answer, answered) = channel();
    timed.peer.awaits_answer(answered);
    timed.stays([30]);
    assert!(timed.peer.deadline().is_none() && timed.peer.awaits(timed.after(30)).is_none());
    answer.send(Answer { bytes: b"done\n".to_vec(), is_last: false }).unwrap();
    timed.stays([40, 49]);
    timed.goes(50, "done\nSlow\n");
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

#[test]
fn who_sends_no_whole_line_in_time_is_told_and_let_go() {
    let mut timed = Timed::new(b"hal", 1000);
    for second in 0..10 {
        timed.stays([second]);
        // A peer that sends one byte per second does not complete a line in time.
        timed.peer.stream.input.push_back(b'f');
    }
    assert_eq!(timed.peer.deadline(), Some(timed.begun + PATIENCE));
    timed.goes(PATIENCE.as_secs(), "Slow\n");
}

#[test]
fn who_reads_no_answer_in_time_is_let_go_and_whoever_asks_in_time_stays() {
    let mut timed = Timed::new(b"a\n", 2);
    timed.stays([8, 16]);
    timed.peer.stream.input.extend(b"b\n");
    timed.stays([17, 26]);
    timed.goes(27, "a\n");
}

#[test]
fn the_listener_itself_never_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let listener = PathListener::open(&folder.path().join("s")).unwrap();
    assert_eq!(listener.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
}
