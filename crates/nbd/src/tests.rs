// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: each half understands the other in every dialect, and the server half survives every
//! client. Method: a server in memory; arbitrary bytes, split anywhere; the specification's
//! layouts.

use std::io::{Read, Write};
use std::time::Duration;

use proptest::prelude::*;

use crate::client::{Client, ClientError, Load, Submission, list};
use crate::harness::{self, Memory, Reached};
use crate::{
    Breach, Dialect, Failure, Handshake, HandshakeError, Parsed, Session, Step, Tls, wire,
};

const DIALECTS: [Dialect; 5] = [
    Dialect { is_structured: false, is_extended: false, has_allocation: false },
    Dialect { is_structured: true, is_extended: false, has_allocation: false },
    Dialect { is_structured: true, is_extended: false, has_allocation: true },
    Dialect { is_structured: true, is_extended: true, has_allocation: false },
    Dialect { is_structured: true, is_extended: true, has_allocation: true },
];

#[test]
fn each_half_understands_the_other_in_every_dialect() {
    for dialect in DIALECTS {
        let mut client = harness::client("disk", dialect);
        assert_eq!((client.size(), client.dialect()), (8 << 20, dialect));
        let data: Vec<u8> = (0..1 << 20).map(|index: u32| index.to_le_bytes()[1]).collect();
        assert_eq!(client.write(4096, &data, true).unwrap(), Ok(()));
        assert_eq!(client.read(4096, 1 << 20).unwrap(), Ok(data));
        let zeroed = client.on_range(wire::CMD_WRITE_ZEROES, wire::CMD_FLAG_NO_HOLE, 4096, 512);
        assert_eq!(zeroed.unwrap().result, Ok(()));
        assert_eq!(client.read(4096, 512).unwrap(), Ok(vec![0; 512]));
        assert_eq!(client.flush().unwrap(), Ok(()));
        let status = client.on_range(wire::CMD_BLOCK_STATUS, 0, 0, 8 << 20).unwrap();
        if dialect.has_allocation {
            assert_eq!((status.result, status.extents), (Ok(()), vec![(8 << 20, 0)]));
        } else {
            assert_eq!(status.result, Err(Failure::Invalid));
        }
    }
}

#[test]
fn what_is_wrong_is_refused_by_its_number_and_the_next_request_is_served() {
    use wire::{CMD_FLAG_DF, CMD_FLAG_FAST_ZERO, CMD_READ, CMD_TRIM, CMD_WRITE, CMD_WRITE_ZEROES};
    for dialect in DIALECTS {
        let mut client = harness::client("disk", dialect);
        let end = 8 << 20;
        let payload = vec![7; 1024];
        for (command, flags, offset, length, failure) in [
            (CMD_READ, 0, end, 512, Failure::Invalid),
            (CMD_READ, 0, u64::MAX - 511, 512, Failure::Invalid),
            (CMD_READ, 0, 1, 512, Failure::Invalid),
            (CMD_READ, 0, 0, 0, Failure::Invalid),
            (CMD_READ, 0, 0, (1 << 20) + 512, Failure::Invalid),
            (CMD_READ, 1 << 9, 0, 512, Failure::Invalid),
            (CMD_TRIM, CMD_FLAG_DF, 0, 512, Failure::Invalid),
            (CMD_WRITE, 0, end - 512, 1024, Failure::NoSpace),
            (CMD_WRITE, 1 << 9, 0, 1024, Failure::Invalid),
            (CMD_WRITE_ZEROES, 0, end, 512, Failure::NoSpace),
            (CMD_WRITE_ZEROES, CMD_FLAG_FAST_ZERO, 0, 512, Failure::NotSupported),
            (5, 0, 0, 512, Failure::Invalid),
            (77, 0, 0, 512, Failure::Invalid),
        ] {
            let payload = if command == CMD_WRITE { &payload[..] } else { &[] };
            let submission = Submission { command, flags, offset, length, payload };
            let reply = client.call(&submission).unwrap();
            assert_eq!(reply.result, Err(failure), "{dialect:?} {submission:?}");
            assert_eq!(client.read(0, 512).unwrap(), Ok(vec![0; 512]));
        }
        let mut client = harness::client("notes", dialect);
        assert_eq!(client.write(0, &[1; 512], false).unwrap(), Err(Failure::NotPermitted));
        assert_eq!(client.read(0, 512).unwrap(), Ok(vec![0; 512]));
    }
}

#[test]
fn exports_are_listed_and_unknown_ones_are_refused() {
    let names: Vec<String> =
        list(Memory::default()).unwrap().into_iter().map(|it| it.name).collect();
    assert_eq!(names, ["disk", "notes"]);
    let refused = Client::connect(Memory::default(), "nobody", Dialect::default()).unwrap_err();
    assert!(matches!(refused, ClientError::Refused { code: wire::REP_ERR_UNKNOWN, .. }));
}

/// Returns an option as a client sends it.
fn option(number: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = wire::IHAVEOPT.to_be_bytes().to_vec();
    bytes.extend(number.to_be_bytes());
    bytes.extend(u32::try_from(data.len()).unwrap().to_be_bytes());
    bytes.extend(data);
    bytes
}

/// Returns a server that has received the client's flags and then `bytes`.
fn server(tls: Tls, flags: u32, bytes: &[u8]) -> Handshake {
    let mut handshake = Handshake::new(tls);
    assert_eq!(&handshake.output()[..8], b"NBDMAGIC");
    handshake.output().clear();
    handshake.receive(&flags.to_be_bytes());
    assert_eq!(handshake.step(&mut harness::Exports), Ok(Step::More));
    handshake.receive(bytes);
    handshake
}

/// Returns the kind of the only reply in the output.
fn kind(handshake: &mut Handshake) -> u32 {
    let output = std::mem::take(handshake.output());
    u32::from_be_bytes(output[12..16].try_into().unwrap())
}

#[test]
fn an_old_client_enters_by_name_and_gets_its_padding() {
    for (flags, size) in [(3, 10), (1, 134)] {
        let mut handshake = server(Tls::Off, flags, &option(wire::OPT_EXPORT_NAME, b"disk"));
        let Ok(Step::Enter(entered)) = handshake.step(&mut harness::Exports) else { panic!() };
        assert_eq!((entered.dialect, handshake.output().len()), (Dialect::default(), size));
    }
}

#[test]
fn nothing_is_served_before_encryption_and_nothing_agreed_before_counts() {
    let mut handshake = server(Tls::Required, 3, &option(wire::OPT_LIST, b""));
    assert_eq!(handshake.step(&mut harness::Exports), Ok(Step::More));
    assert_eq!(kind(&mut handshake), wire::REP_ERR_TLS_REQD);
    handshake.receive(&option(wire::OPT_EXPORT_NAME, b"disk"));
    assert_eq!(handshake.step(&mut harness::Exports), Err(HandshakeError::NoExport));
    let mut handshake = server(Tls::Required, 3, &option(wire::OPT_STARTTLS, b""));
    assert_eq!(handshake.step(&mut harness::Exports), Ok(Step::StartTls));
    handshake.receive(b"x");
    assert_eq!(handshake.encrypted().unwrap_err(), HandshakeError::Injected);
    let mut handshake = server(Tls::Required, 3, &option(wire::OPT_STARTTLS, b""));
    assert_eq!(handshake.step(&mut harness::Exports), Ok(Step::StartTls));
    let mut handshake = handshake.encrypted().unwrap();
    handshake.receive(&option(wire::OPT_EXPORT_NAME, b"disk"));
    assert!(matches!(handshake.step(&mut harness::Exports), Ok(Step::Enter(_))));
}

#[test]
fn one_reply_at_most_is_in_memory_however_much_is_asked() {
    let lists: Vec<u8> = (0..100).flat_map(|_| option(wire::OPT_LIST, b"")).collect();
    let mut handshake = server(Tls::Off, 3, &lists);
    handshake.step(&mut harness::Exports).unwrap();
    let one = handshake.output().len();
    for _ in 0..10 {
        assert_eq!(handshake.step(&mut harness::Exports), Ok(Step::More));
    }
    assert_eq!(handshake.output().len(), one);
    let mut handshake = server(Tls::Off, 3, &option(wire::OPT_LIST, b"")[..12]);
    handshake.receive(&u32::MAX.to_be_bytes());
    assert_eq!(handshake.step(&mut harness::Exports), Ok(Step::End));
    assert_eq!(kind(&mut handshake), wire::REP_ERR_TOO_BIG);
}

#[test]
fn a_lost_request_ends_the_session() {
    let export = harness::Exports::named("disk").unwrap();
    let session = Session::new(export, Dialect::default());
    assert_eq!(session.parse(&[1, 2, 3, 4]), Err(Breach::Magic { found: 0x0102_0304 }));
    assert_eq!(session.parse(&[1, 2, 3]), Ok(Parsed::Incomplete));
    let mut write = wire::REQUEST_MAGIC.to_be_bytes().to_vec();
    write.extend([0, 0, 0, 1]);
    write.extend([0; 16]);
    write.extend(u32::MAX.to_be_bytes());
    assert_eq!(session.parse(&write), Err(Breach::Payload { payload: u64::from(u32::MAX) }));
}

proptest! {
    #[test]
    fn arbitrary_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        prop_assert!(harness::run(&bytes).is_ok());
    }

    /// Goal: bytes that begin like a client's session reach the transmission phase, however they
    /// are split.
    #[test]
    fn arbitrary_requests_keep_to_their_export(
        cut in 0_u8..64,
        is_structured: bool,
        requests in proptest::collection::vec(
            (0_u16..9, 0_u16..64, 0_u64..9 << 20, 0_u32..2 << 20), 1..20),
    ) {
        let mut bytes = vec![cut << 2];
        bytes.extend(3_u32.to_be_bytes());
        if is_structured {
            bytes.extend(option(wire::OPT_STRUCTURED_REPLY, b""));
        }
        bytes.extend(option(wire::OPT_GO, b"\0\0\0\x04disk\0\0"));
        for (command, flags, offset, length) in requests {
            bytes.extend(wire::REQUEST_MAGIC.to_be_bytes());
            bytes.extend(flags.to_be_bytes());
            bytes.extend(command.to_be_bytes());
            bytes.extend(1_u64.to_be_bytes());
            bytes.extend((offset & !511).to_be_bytes());
            bytes.extend((length & !511).to_be_bytes());
            if command == wire::CMD_WRITE {
                bytes.resize(bytes.len() + (length & !511) as usize, 0);
            }
        }
        let reached = harness::run(&bytes);
        prop_assert!(reached.as_ref().is_ok_and(|it| *it >= Reached::Entered), "{:?}", reached);
    }
}

/// A server that can break the protocol by replying with a cookie that no request has.
#[derive(Default)]
struct UnnamedReplies {
    server: Memory,
    is_confused: bool,
}

impl Read for UnnamedReplies {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let count = self.server.read(bytes)?;
        if self.is_confused && count > 0 {
            // Changes the last byte of the cookie.
            bytes[wire::SIMPLE_REPLY_BYTES - 1] ^= 0x80;
        }
        Ok(count)
    }
}

impl Write for UnnamedReplies {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.server.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_reply_to_no_request_is_a_breach() {
    let mut client =
        Client::connect(UnnamedReplies::default(), "disk", Dialect::default()).unwrap();
    assert_eq!(client.flush().unwrap(), Ok(()));
    client.stream_mut().is_confused = true;
    assert!(matches!(client.flush(), Err(ClientError::Breach(_))));
}

/// Goal: a load keeps its depth and counts every request once. Method: a server in memory, and its
/// failures.
#[test]
fn a_load_counts_its_requests_and_failures() {
    let load = Load {
        is_write: false,
        is_sequential: false,
        size: 4096,
        depth: 4,
        time: Duration::from_millis(20),
        seed: 1,
    };
    for (export, is_write) in [("disk", false), ("disk", true), ("notes", true)] {
        for is_sequential in [false, true] {
            let load = Load { is_write, is_sequential, ..load };
            let mut client = harness::client(export, Dialect::default());
            let mut count = 0;
            let loaded = client.load(&load, |_| count += 1).unwrap();
            assert!(loaded.time >= load.time);
            assert_eq!(client.outstanding(), 0);
            if export == "notes" {
                assert_eq!((count, loaded.failure), (0, Some(Failure::NotPermitted)));
                assert!(loaded.failed >= 4);
            } else {
                assert_eq!((loaded.failed, loaded.failure), (0, None));
                assert!(count >= 4);
            }
        }
    }
}
