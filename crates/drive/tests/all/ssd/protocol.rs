// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests that the solid-state drive follows the protocol of `Drive`.

use tidegate_drive::{Completion, Drive, SsdDrive};
use tidegate_model::{Bytes, Lba, Op, Outcome, Request, RequestId};

use super::common::*;

#[test]
fn request_beyond_the_capacity_fails_after_the_overhead() {
    let units = drive(&small(), 1).capacity().get() / UNIT.get();
    let last = request(1, Op::Read, units - 1, 1);
    let beyond = [
        request(2, Op::Read, units - 1, 2),
        request(2, Op::Write, units, 1),
        Request { start: Lba::new(u64::MAX), ..last },
        Request { size: Bytes::new(u64::MAX), ..last },
    ];
    for request in beyond {
        let mut drive = drive(&small(), 1);
        drive.submit(at(0), &[request]);
        let failed = Completion { id: request.id, at: at(OVERHEAD_NS), outcome: Outcome::Failed };
        assert_eq!(finish(&mut drive), [failed]);
        drive.submit(at(OVERHEAD_NS), &[last]);
        assert_eq!(finish(&mut drive)[0].outcome, Outcome::Done);
    }
}

#[test]
fn request_of_no_bytes_is_complete_after_the_overhead() {
    for op in [Op::Read, Op::Write] {
        check("nothing", &small(), &[(0, request(1, op, 0, 0), OVERHEAD_NS)]);
    }
}

#[test]
fn idle_drive_has_no_event_though_it_programs() {
    let mut drive = drive(&small(), 8);
    let batch: Vec<Request> = (0..8).map(|unit| request(unit, Op::Write, unit, 1)).collect();
    drive.submit(at(0), &batch);
    assert_eq!(finish(&mut drive).len(), 8);
    assert_eq!(drive.counters().rows_written, 2);
    assert_eq!(drive.next_event(), None);
    // The drive finished its work meanwhile: the units are in flash.
    drive.submit(at(10_000_000), &[request(8, Op::Read, 0, 1)]);
    let read = OVERHEAD_NS + READ_NS + PAGE_NS + LINK_NS + COMMAND_NS;
    assert_eq!(ends_ns(&finish(&mut drive)), [(8, 10_000_000 + read)]);
}

#[test]
fn one_call_and_several_are_one_batch() {
    let batch: Vec<Request> = (0..6).map(|unit| request(unit, Op::Read, unit * 9, 3)).collect();
    let (mut whole, mut parts) = (drive(&small(), 6), drive(&small(), 6));
    whole.submit(at(0), &batch);
    batch.chunks(2).for_each(|part| parts.submit(at(0), part));
    assert_eq!(finish(&mut whole), finish(&mut parts));
}

#[test]
#[should_panic(expected = "the drive holds 2 requests")]
fn more_than_its_depth_is_refused() {
    let mut drive = drive(&small(), 2);
    drive.submit(at(0), &[request(1, Op::Read, 0, 1), request(2, Op::Read, 0, 1)]);
    drive.flush(at(0), RequestId(3));
}

#[test]
#[should_panic(expected = "submitted before due events")]
fn submitting_past_a_completion_is_refused() {
    let mut drive = drive(&small(), 2);
    drive.submit(at(0), &[request(1, Op::Read, 0, 1)]);
    drive.submit(at(1_000_000), &[request(2, Op::Read, 0, 1)]);
}

#[test]
fn faulty_section_is_refused_with_its_place() {
    let mut ssd = small();
    ssd.over_provisioning_percent = 3;
    let error = SsdDrive::new(&ssd, 1, 1).unwrap_err();
    assert_eq!(error.place, "over_provisioning_percent");
}
