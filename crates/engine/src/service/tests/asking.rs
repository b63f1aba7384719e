// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Calls for a core in virtual time, and the loops that serve them.

use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use tidegate_device::IoBuffer;
use tidegate_model::{Bytes, Time};

use crate::service::Shared;
use crate::service::call::{Awaited, Call, CallKind, CallPart, mailbox};
use crate::service::core::Core;
use crate::service::export::lba;
use crate::service::harness::store::Store;
use crate::service::inbox::Message;
use crate::service::offer::ExportId;

/// The size of most requests.
pub(super) const SIZE: Bytes = Bytes::from_kib(16);

/// Makes a part that starts at this byte of the store.
pub(super) fn part(kind: CallKind, offset: u64, size: Bytes) -> CallPart {
    let data = (kind != CallKind::Flush).then(|| IoBuffer::new(size));
    CallPart { start: lba(offset), size, data }
}

/// Makes a call of these parts.
pub(super) fn call_of(
    export: u64,
    kind: CallKind,
    released: Time,
    parts: Vec<CallPart>,
) -> (Call, Awaited) {
    let (answer, awaited) = mailbox();
    (Call { export: ExportId(export), kind, released, parts, answer }, awaited)
}

/// Makes a call of one request of [`SIZE`] bytes, which starts at this byte of the store.
pub(super) fn call_at(export: u64, kind: CallKind, offset: u64, released: Time) -> (Call, Awaited) {
    call_of(export, kind, released, vec![part(kind, offset, SIZE)])
}

/// Draws the kind of a call.
pub(super) fn any_kind(random: &mut Pcg64Mcg) -> CallKind {
    match random.random_range(0..6) {
        0 => CallKind::Flush,
        1 => CallKind::Write { is_durable: true },
        2 | 3 => CallKind::Write { is_durable: false },
        _ => CallKind::Read,
    }
}

/// Runs the core until all calls have been answered.
pub(super) fn settle(core: &mut Core<Store>) {
    while !core.is_idle() {
        core.wait_until(None);
        core.run_iteration(std::iter::empty());
    }
}

/// Runs the core until `instant`.
pub(super) fn run_until(core: &mut Core<Store>, instant: Time) {
    while core.backend().now < instant {
        core.wait_until(Some(instant));
        core.run_iteration(std::iter::empty());
    }
}

/// Takes all messages of a service's inbox.
pub(super) fn messages(shared: &Shared) -> Vec<Message> {
    let (mut messages, mut latest) = (Vec::new(), Time::ZERO);
    shared.inbox.take(&mut messages, &mut latest);
    messages
}

/// Takes all calls of a service's inbox.
pub(super) fn calls(shared: &Shared) -> Vec<Call> {
    let call = |message| match message {
        Message::Call(call) => Some(call),
        _ => None,
    };
    messages(shared).into_iter().filter_map(call).collect()
}
