// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: closing one connection disturbs no other, and the reason for its end is reported. Method:
//! a ring with real sockets and without a disk; the test answers the calls and sets the time.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;

use tidegate_device::Waker;
use tidegate_model::{BestEffortShare, Bytes};
use tidegate_nbd::{BlockSizes, Dialect, ExportInfo, wire};

use super::super::call::{Answered, CallError, OperationReply, ReplySender};
use super::*;

const EXPORT: ExportId = ExportId(3);
const PART_MAX: usize = 1 << 20;
const PATIENCE: Duration = Duration::from_ms(2_000);

/// The number of reads of the largest part that fill an export's room.
const READS: usize = 16;

/// The number of small reads that fill an export's room.
const PARTS: usize = 128;

/// A connection slot that is not counted.
#[derive(Debug)]
struct Place;

impl SlotGuard for Place {}

/// The service's thread without its core.
struct Fixture {
    connections: Connections,
    ring: DataRing,
    departures: Arc<Departures>,
    now: Time,
    /// The calls that have not been answered yet.
    calls: Vec<Call>,
}

impl Fixture {
    fn new() -> Self {
        let waker = Waker::new().unwrap();
        Self {
            connections: Connections::default(),
            ring: DataRing::new(None, 64, waker.clone()).unwrap(),
            departures: Arc::new(Departures::new(waker)),
            now: Time::ZERO,
            calls: Vec::new(),
        }
    }

    /// Connects a client that sent `reads` reads of `length` bytes together with its last option.
    fn client(&mut self, reads: usize, length: usize) -> UnixStream {
        self.client_of(Dialect::default(), read(length).repeat(reads))
    }

    /// Connects a client that sent these bytes together with its last option.
    fn client_of(&mut self, dialect: Dialect, rest: Vec<u8>) -> UnixStream {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let block = BlockSizes { minimum: 512, preferred: 4096, maximum: wire::REQUEST_BYTES_MAX };
        let export = ExportInfo {
            name: "rest".to_owned(),
            description: String::new(),
            size: 64 << 20,
            block,
            is_read_only: false,
            can_trim: false,
            is_rotational: false,
        };
        let spec = ExportSpec {
            name: "rest".to_owned(),
            offset: Bytes::new(0),
            size: Bytes::new(64 << 20),
            contract: None,
            is_soft: false,
            share: BestEffortShare::default(),
            is_read_only: false,
        };
        self.connections.welcome(Newcomer {
            socket: Arc::new(ours.into()),
            entered: Entered { export, dialect, rest },
            export: EXPORT,
            spec: Arc::new(spec),
            part_max: PART_MAX,
            slot_guard: Box::new(Place),
            departures: self.departures.clone(),
            patience: PATIENCE,
        });
        theirs
    }

    /// Runs one iteration in the order of the service's loop, and answers `answers` calls in it.
    fn iterate(&mut self, answers: usize) {
        self.iterate_with(answers, Ok(Answered::default()));
    }

    fn iterate_with(&mut self, answers: usize, result: Result<Answered, CallError>) {
        let Self { connections, ring, calls, now, .. } = self;
        connections.receive(ring, *now, calls);
        let answered: Vec<Call> = calls.drain(..answers).collect();
        for Call { parts, answer, .. } in answered {
            let ReplySender::Operation(operation) = answer else { unreachable!("of a connection") };
            let reply = OperationReply { operation, result, parts };
            connections.answer(*now, reply, calls);
        }
        connections.read(*now, calls);
        connections.flush(ring, *now);
        ring.wait(Duration::ZERO).unwrap();
    }

    /// Waits for an event, which must come within one minute, and runs an iteration.
    fn awaited(&mut self) {
        let (begun, long) = (std::time::Instant::now(), Duration::from_ms(60_000));
        self.ring.wait(long).unwrap();
        assert!(begun.elapsed().as_secs() < 50, "nothing happens");
        self.iterate(0);
    }

    fn later(&mut self, time: Duration) {
        self.now += time;
    }

    fn ended(&self) -> Vec<Ended> {
        let mut events = Vec::new();
        self.departures.take(&mut events);
        let ended = |event| match event {
            Departure::Gone { ended, .. } => Some(ended),
            Departure::Failed { .. } => None,
        };
        events.into_iter().filter_map(ended).collect()
    }
}

/// Returns a request to read this many bytes.
fn read(length: usize) -> Vec<u8> {
    request(wire::CMD_READ, length)
}

/// Returns a request of this type, at the first byte.
fn request(command: u16, length: usize) -> Vec<u8> {
    let mut request = wire::REQUEST_MAGIC.to_be_bytes().to_vec();
    request.extend([0; 2]);
    request.extend(command.to_be_bytes());
    request.extend([0; 16]);
    request.extend(u32::try_from(length).unwrap().to_be_bytes());
    request
}

/// A request's arrival time is that of the receipt that completes it. A client cannot make it
/// earlier, neither by sending the request's first bytes nor by sending another request in the same
/// receipt.
#[test]
fn a_request_counts_from_the_receipt_that_makes_it_whole() {
    let mut fixture = Fixture::new();
    let mut client = fixture.client(0, 0);
    fixture.iterate(0);
    let write = [request(wire::CMD_WRITE, 512), vec![7; 512]].concat();
    let sent = [read(512), read(512), write].concat();
    let length = read(512).len();
    // The client sends half a request; then the rest, a second read, and a write with half its
    // payload; then the rest of the payload.
    let receipts = [(20, 0), (3 * length + 100, 2), (sent.len(), 1)];
    let mut begin = 0;
    for (end, count) in receipts {
        client.write_all(&sent[begin..end]).unwrap();
        begin = end;
        fixture.ring.wait(Duration::from_ms(60_000)).unwrap();
        fixture.later(Duration::from_ms(20));
        fixture.iterate(0);
        let released: Vec<Time> = fixture.calls.drain(..).map(|call| call.released).collect();
        assert_eq!(released, vec![fixture.now; count]);
    }
}

/// Regression: a waiting client had its request in memory. A closed client gave its room back, and
/// in the same iteration the service submitted a receive operation into that memory. The request
/// was never read, and its client was disconnected as slow.
#[test]
fn a_client_that_waits_for_a_closed_clients_room_is_served() {
    let mut fixture = Fixture::new();
    let _slow = fixture.client(READS, PART_MAX);
    let mut waiting = fixture.client(1, 4096);
    fixture.iterate(0);
    assert_eq!(fixture.calls.len(), READS, "the room is full, and the second client waits");
    // The first reply fills the socket, and the others wait behind it.
    fixture.iterate(1);
    fixture.iterate(READS - 1);
    fixture.iterate(0);
    fixture.later(PATIENCE);
    for _ in 0..3 {
        fixture.iterate(0);
    }
    assert_eq!(fixture.ended(), [Ended::Slow], "a failed sending does not hide why");
    assert_eq!(fixture.calls.len(), 1, "the second client's read has begun");
    fixture.later(PATIENCE);
    fixture.iterate(1);
    let mut reply = vec![0; wire::SIMPLE_REPLY_BYTES + 4096];
    waiting.read_exact(&mut reply).unwrap();
    assert_eq!(reply[..4], wire::SIMPLE_REPLY_MAGIC.to_be_bytes());
    fixture.iterate(0);
    assert_eq!(fixture.ended(), []);
}

/// Regression: a silent send of all replies raises no event. If no other event came, the requests
/// that waited for the replies' room were not read, and a client that had left kept its slot.
#[test]
fn requests_that_wait_for_the_room_of_sent_replies_are_read() {
    let mut fixture = Fixture::new();
    let mut client = fixture.client(PARTS + 2, 512);
    fixture.iterate(0);
    assert_eq!(fixture.calls.len(), PARTS);
    fixture.iterate(PARTS);
    fixture.awaited();
    assert_eq!(fixture.calls.len(), 2);
    client.shutdown(std::net::Shutdown::Write).unwrap();
    fixture.awaited();
    fixture.iterate(2);
    fixture.awaited();
    assert_eq!(fixture.ended(), [Ended::Left]);
    let mut replies = Vec::new();
    client.read_to_end(&mut replies).unwrap();
    assert_eq!(replies.len(), (PARTS + 2) * (wire::SIMPLE_REPLY_BYTES + 512));
}

/// Regression: the replies to requests without data filled a message. The message was sent, and the
/// input buffer went to the ring with requests that were not read yet: they waited until the client
/// sent something more.
#[test]
fn requests_behind_a_full_message_are_read() {
    /// This number of requests needs more replies than fit into one message; the requests fit into
    /// the input buffer.
    const REQUESTS: usize = 1_170;
    /// A reply consists of a chunk's header, the context, and one extent.
    const REPLY: usize = 20 + 4 + 8;
    const { assert!(REQUESTS * REPLY > HEAD_BYTES_MAX) };
    let mut fixture = Fixture::new();
    let dialect = Dialect { is_structured: true, has_allocation: true, ..Dialect::default() };
    let status = request(wire::CMD_BLOCK_STATUS, 4096);
    let mut client = fixture.client_of(dialect, status.repeat(REQUESTS));
    for _ in 0..4 {
        fixture.iterate(0);
    }
    client.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
    let mut replies = vec![0; REQUESTS * REPLY];
    client.read_exact(&mut replies).unwrap();
    assert_eq!(fixture.connections.look_at(), None, "it owes nothing");
}

/// A client of a removed export gets that error once and is disconnected: otherwise it would never
/// look for the export that replaces it.
#[test]
fn a_client_of_a_removed_export_is_told_and_disconnected() {
    let mut fixture = Fixture::new();
    let mut client = fixture.client(2, 4096);
    fixture.iterate(0);
    assert_eq!(fixture.calls.len(), 2);
    fixture.iterate_with(2, Err(CallError::Removed));
    fixture.iterate(0);
    fixture.iterate(0);
    assert_eq!(fixture.ended(), [Ended::Removed]);
    let mut replies = Vec::new();
    client.read_to_end(&mut replies).unwrap();
    assert_eq!(replies.len(), 2 * wire::SIMPLE_REPLY_BYTES);
    let shut_down = tidegate_nbd::Failure::Shutdown.code().to_be_bytes();
    assert!(replies.chunks(wire::SIMPLE_REPLY_BYTES).all(|reply| reply[4..8] == shut_down));
}

/// When the service ends, it first ends an idle client's receive operation. It must then still shut
/// the socket down in the other direction: otherwise the send operation, and with it the service,
/// would end only when the client leaves.
#[test]
fn a_client_that_does_not_read_does_not_keep_the_service_from_ending() {
    let mut fixture = Fixture::new();
    let _client = fixture.client(1, PART_MAX);
    fixture.iterate(0);
    fixture.iterate(1);
    fixture.iterate(0);
    fixture.connections.end();
    fixture.connections.limit_last_replies(fixture.now);
    fixture.iterate(0);
    assert!(!fixture.connections.is_empty(), "it may still take its reply");
    fixture.later(LAST_WORDS);
    for _ in 0..3 {
        fixture.iterate(0);
    }
    assert!(fixture.connections.is_empty());
    assert_eq!(fixture.ended(), [Ended::Ending]);
}
