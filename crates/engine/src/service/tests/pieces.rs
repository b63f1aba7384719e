// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: a large call is split as the module `export` documents. Method: read one client's calls
//! from the service's inbox.

use tidegate_device::Waker;
use tidegate_model::{Beyond, Bytes, Duration, ExportContract, ExportSpec, PolicyName};

use super::asking::calls;
use crate::service::call::{Answered, Call, CallKind};
use crate::service::harness::offered::{export, share_with};
use crate::service::harness::{params, table};
use crate::service::{CallError, Export};

const SIZE: u64 = 64 << 20;

/// A call that arrived at the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    parts: usize,
    bytes: u64,
    kind: CallKind,
}

/// Runs a call on a service with one export, with requests of at most `size_max` and without a
/// drive. `answer` gives the result of each piece by its index. Returns the call's result and the
/// pieces.
fn asked<T: Send>(
    spec: ExportSpec,
    size_max: Bytes,
    ask: impl FnOnce(&Export) -> T + Send,
    answer: impl Fn(usize) -> Result<Answered, CallError>,
) -> (T, Vec<Piece>) {
    let spec = ExportSpec { size: Bytes::new(SIZE), ..spec };
    let mut params = params(vec![spec], PolicyName::Noop, &table(&[1]));
    params.size_max = size_max;
    let waker = Waker::new().expect("a descriptor");
    let shared = share_with(params, waker.clone());
    let export = Export::named(&shared, "export-0").expect("it is offered");
    std::thread::scope(|scope| {
        let client = scope.spawn(move || ask(&export));
        let mut pieces = Vec::new();
        while !client.is_finished() {
            let calls = calls(&shared);
            assert!(calls.len() <= 1, "one piece at a time");
            for mut call in calls {
                pieces.push(piece(&call));
                fill(&mut call);
                call.answer.give(answer(pieces.len() - 1), call.parts);
            }
            waker.sleep(Duration::from_ms(5));
        }
        (client.join().expect("it does not panic"), pieces)
    })
}

fn piece(call: &Call) -> Piece {
    let bytes = call.parts.iter().map(|part| part.size.get()).sum();
    Piece { parts: call.parts.len(), bytes, kind: call.kind }
}

/// Fills reads with bytes that depend on their position; checks that writes contain them.
fn fill(call: &mut Call) {
    for part in &mut call.parts {
        let size = usize::try_from(part.size.get()).expect("small");
        let bytes = &mut part.data.as_mut().expect("it has data").bytes_mut()[..size];
        let offset = part.start.offset_bytes();
        if call.kind == CallKind::Read {
            bytes.copy_from_slice(&place(offset, size));
        } else {
            assert!(bytes == place(offset, size), "the data written at {offset}");
        }
    }
}

/// Returns bytes that depend on their position, by block.
fn place(offset: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    for (block, bytes) in (offset / 4096..).zip(bytes.chunks_mut(4096)) {
        bytes.fill((block % 251) as u8);
    }
    bytes
}

fn in_ms(ms: u64) -> Answered {
    Answered { response: Duration::from_ms(ms), is_within_contract: true }
}

#[test]
fn a_large_read_comes_in_pieces_and_is_answered_as_its_slowest() {
    let length = (64 + 64 + 3) * 4096;
    let read = |export: &Export| {
        let mut data = vec![0; length];
        (export.read(8192, &mut data), data)
    };
    let slow = |index| Ok(in_ms([3, 9, 4][index]));
    let ((answered, data), pieces) = asked(export(0, None), Bytes::from_kib(4), read, slow);
    // The contract did not allow all these requests at the same time.
    assert_eq!(answered, Ok(Answered { is_within_contract: false, ..in_ms(9) }));
    assert!(data == place(8192, length));
    assert_eq!(pieces.iter().map(|piece| piece.parts).collect::<Vec<_>>(), [64, 64, 3]);
}

/// With large parts, a piece has at most 8 MiB, or one part that is larger.
#[test]
fn no_more_bytes_than_that_are_on_their_way() {
    let read = |export: &Export| {
        let answered = export.read(0, &mut vec![0; 20 << 20]);
        answered.map(drop)
    };
    for (size_max, bytes) in
        [(3 << 20, [6, 6, 6, 2]), (7 << 20, [7, 7, 6, 0]), (16 << 20, [16, 4, 0, 0])]
    {
        let (answered, pieces) =
            asked(export(0, None), Bytes::new(size_max), read, |_| Ok(in_ms(1)));
        assert_eq!(answered, Ok(()));
        let bytes = bytes.iter().filter(|&&mib| mib > 0).map(|mib| mib << 20);
        assert!(pieces.iter().map(|piece| piece.bytes).eq(bytes), "{size_max}: {pieces:?}");
    }
}

/// Goal: one flush covers all pieces. Method: check that only the last piece is durable, and that
/// it comes after the others completed.
#[test]
fn a_durable_write_is_durable_with_its_last_piece() {
    let length = (64 + 64 + 1) * 4096;
    let write = |is_durable| {
        let write = move |export: &Export| export.write(4096, &place(4096, length), is_durable);
        let (answered, pieces) =
            asked(export(0, None), Bytes::from_kib(4), write, |_| Ok(in_ms(1)));
        assert_eq!(answered.map(|answered| answered.response), Ok(Duration::from_ms(1)));
        pieces.iter().map(|piece| piece.kind).collect::<Vec<_>>()
    };
    let kinds = |last| [false, false, last].map(|is_durable| CallKind::Write { is_durable });
    assert_eq!(write(true), kinds(true));
    assert_eq!(write(false), kinds(false));
}

/// A failed piece ends the call, and no further piece is sent; a range that is not valid sends
/// none.
#[test]
fn a_piece_that_fails_is_the_last() {
    let write = |export: &Export| export.write(0, &place(0, 200 * 4096), true);
    let fails = |index| if index == 1 { Err(CallError::FlushBroken) } else { Ok(in_ms(1)) };
    let (answered, pieces) = asked(export(0, None), Bytes::from_kib(4), write, fails);
    assert_eq!((answered, pieces.len()), (Err(CallError::FlushBroken), 2));

    let read = |export: &Export| {
        let beyond = export.read(SIZE - 4096, &mut [0; 8192]);
        (beyond, export.read(0, &mut []))
    };
    let ((beyond, nothing), pieces) =
        asked(export(0, None), Bytes::from_kib(4), read, |_| Ok(in_ms(1)));
    assert_eq!(beyond, Err(CallError::BeyondEnd { size: Bytes::new(SIZE) }));
    assert_eq!((nothing, pieces.len()), (Ok(Answered::default()), 0));
}

/// Requests that a contract allows at the same time are sent together, so that the bound applies to
/// the call.
#[test]
fn a_contract_is_not_cut() {
    let contract = ExportContract {
        period: Duration::from_ms(100),
        deadline: Duration::from_ms(100),
        requests: 100,
        size_max: Bytes::from_kib(4),
        op: None,
        beyond: Beyond::Wait,
    };
    let answered = |parts: usize| {
        let read = move |export: &Export| export.read(0, &mut vec![0; parts * 4096]);
        let spec = export(0, Some(contract.clone()));
        let (answered, pieces) = asked(spec, Bytes::from_kib(4), read, |_| Ok(in_ms(1)));
        let parts: Vec<usize> = pieces.iter().map(|piece| piece.parts).collect();
        (answered.map(|answered| answered.is_within_contract), parts)
    };
    assert_eq!(answered(100), (Ok(true), vec![100]));
    assert_eq!(answered(101), (Ok(false), vec![100, 1]));
}
