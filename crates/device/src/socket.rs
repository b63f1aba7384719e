// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Transfers of a client's bytes through the ring that also serves the disk.
//!
//! As with the disk, memory is moved: a transfer brings its buffers and gets them back. A message
//! gathers headers and data, so that any number of replies needs only one transfer.

use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

use io_uring::{opcode, squeue, types::Fd};
use libc::{c_void, iovec, msghdr};
use rustix::io::Errno;

use crate::io_buffer::IoBuffer;

/// The largest number of pieces that the kernel takes in one call (`UIO_MAXIOV`).
const PIECES_MAX: usize = 1024;

/// The largest message that is sent silently. The kernel sends a little less than 2 GiB in one call
/// (`MAX_RW_COUNT`).
const SILENT_BYTES_MAX: i32 = 1 << 30;

/// A connected socket; it stays open as long as a transfer refers to it.
pub type Socket = Arc<OwnedFd>;

/// A receive operation.
#[derive(Debug)]
pub struct Receive {
    /// The caller's name for the transfer, returned with it.
    pub token: u64,
    /// The socket.
    pub socket: Socket,
    /// The memory to receive into.
    pub buffer: IoBuffer,
    /// The bytes of the memory to fill, not empty; the kernel may fill only the first of them.
    pub range: Range<usize>,
}

/// The condition under which a send completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// The send completes immediately. A message that was sent only in part, or not at all
    /// (`AGAIN`), ends the ring's wait. A message that was sent whole does not: it is returned with
    /// the next completion of another kind, which saves a system call and an iteration of the
    /// caller for each reply. Before Linux 6.1, and if the message is too large for one silent
    /// send, it is sent as `Timed`.
    Silent,
    /// The send completes immediately, and always ends the ring's wait, so that its time is known.
    Timed,
    /// The send completes when the client's socket has room.
    Patient,
}

/// A message to send.
#[derive(Debug)]
pub struct Send {
    /// The caller's name for the transfer, returned with it.
    pub token: u64,
    /// The socket.
    pub socket: Socket,
    /// The message.
    pub message: Box<Message>,
    /// The condition under which the send completes.
    pub pace: Pace,
}

/// A transfer that has ended.
#[derive(Debug)]
pub enum Delivered {
    /// Bytes were received; none at the end of the stream.
    Received {
        /// The transfer's token.
        token: u64,
        /// The memory.
        buffer: IoBuffer,
        /// The number of received bytes.
        result: Result<usize, Errno>,
    },
    /// A part of a message was sent.
    Sent {
        /// The transfer's token.
        token: u64,
        /// The message; the caller must pass the number of bytes to [`Message::advance`].
        message: Box<Message>,
        /// The number of sent bytes.
        result: Result<usize, Errno>,
    },
}

#[derive(Debug)]
enum Piece {
    /// A range of the message's headers.
    Head(Range<usize>),
    /// The first bytes of a buffer.
    Data { buffer: IoBuffer, length: usize },
}

/// Bytes to send: headers, and data in buffers of their own. The message's memory is reused.
#[derive(Debug)]
pub struct Message {
    heads: Vec<u8>,
    pieces: Vec<Piece>,
    /// The number of bytes of all pieces; `sent` counts those that were sent.
    length: usize,
    sent: usize,
    iovecs: Vec<iovec>,
    header: msghdr,
}

impl Default for Message {
    #[expect(unsafe_code, reason = "a structure of the kernel")]
    fn default() -> Self {
        // SAFETY: the structure consists of integers and pointers, for which zero is valid.
        let header = unsafe { std::mem::zeroed() };
        Self {
            heads: Vec::new(),
            pieces: Vec::new(),
            length: 0,
            sent: 0,
            iovecs: Vec::new(),
            header,
        }
    }
}

impl Message {
    /// Returns whether the message has no bytes.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the number of bytes of the message's headers.
    pub fn head_bytes(&self) -> usize {
        self.heads.len()
    }

    /// Returns the number of the message's bytes that were not sent.
    pub fn left(&self) -> usize {
        self.length - self.sent
    }

    /// Appends a header: `write` appends its bytes to the list that it gets.
    pub fn put_head(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let begin = self.heads.len();
        write(&mut self.heads);
        let end = self.heads.len();
        self.length += end - begin;
        match self.pieces.last_mut() {
            Some(Piece::Head(range)) if range.end == begin => range.end = end,
            _ if end > begin => self.pieces.push(Piece::Head(begin..end)),
            _ => {}
        }
    }

    /// Appends the first `length` bytes of a buffer.
    ///
    /// # Panics
    /// If the buffer is shorter.
    pub fn put_data(&mut self, buffer: IoBuffer, length: usize) {
        assert!(length <= buffer.bytes().len(), "a buffer holds its data");
        self.length += length;
        self.pieces.push(Piece::Data { buffer, length });
    }

    /// Records that `count` more bytes were sent; returns whether all were.
    ///
    /// # Panics
    /// If fewer bytes were unsent.
    pub fn advance(&mut self, count: usize) -> bool {
        assert!(count <= self.left(), "the kernel sends what it was given");
        self.sent += count;
        self.sent == self.length
    }

    /// Empties the message, and returns its buffers.
    pub fn clear(&mut self) -> impl Iterator<Item = IoBuffer> {
        self.heads.clear();
        self.iovecs.clear();
        (self.length, self.sent) = (0, 0);
        self.pieces.drain(..).filter_map(|piece| match piece {
            Piece::Head(_) => None,
            Piece::Data { buffer, .. } => Some(buffer),
        })
    }

    /// Lists the unsent pieces for the kernel, at most [`PIECES_MAX`]. Returns the list's address,
    /// which is valid until the message changes, and the number of bytes in the list.
    fn prepare(&mut self) -> (*const msghdr, usize) {
        let Self { heads, pieces, sent, iovecs, header, .. } = self;
        iovecs.clear();
        let (mut skipped, mut listed) = (*sent, 0);
        for piece in pieces {
            let (address, length) = match piece {
                Piece::Head(range) => (heads[range.clone()].as_ptr().cast_mut(), range.len()),
                Piece::Data { buffer, length } => (buffer.address(), *length),
            };
            let skip = skipped.min(length);
            skipped -= skip;
            if skip < length && iovecs.len() < PIECES_MAX {
                let iov_base = address.wrapping_add(skip).cast::<c_void>();
                iovecs.push(iovec { iov_base, iov_len: length - skip });
                listed += length - skip;
            }
        }
        header.msg_iov = iovecs.as_mut_ptr();
        // At most PIECES_MAX; musl has a narrower type for it than glibc.
        header.msg_iovlen = iovecs.len() as _;
        (header, listed)
    }
}

/// Makes the entry of a receive operation.
///
/// # Panics
/// If the range is empty or exceeds the buffer.
pub(crate) fn receive(receive: &Receive) -> squeue::Entry {
    let Range { start, end } = receive.range;
    assert!(start < end && end <= receive.buffer.bytes().len(), "a receipt has memory");
    let length = u32::try_from(end - start).expect("a buffer of at most SIZE_MAX");
    let address = receive.buffer.address().wrapping_add(start);
    opcode::Recv::new(Fd(receive.socket.as_raw_fd()), address, length).build()
}

/// Makes the entry of a send. Also returns the number of the message's bytes if the send may be
/// silent: the kernel then reports a message sent in part as if it had failed, with the number of
/// bytes that were sent.
///
/// `has_silent` says whether the kernel can do that. Linux 5.19 and 6.0, and perhaps earlier
/// longterm kernels, accept `MSG_WAITALL` but report a message sent in part as `EAGAIN` without the
/// number of bytes sent, so the rest of the stream would be wrong. They must not see the flag.
///
/// # Panics
/// If nothing is left to send.
pub(crate) fn send(send: &mut Send, has_silent: bool) -> (squeue::Entry, Option<i32>) {
    let left = send.message.left();
    assert!(left > 0, "an empty message is not sent");
    let (header, listed) = send.message.prepare();
    let is_silent = has_silent && send.pace == Pace::Silent && listed == left;
    let whole = i32::try_from(left).ok().filter(|&bytes| is_silent && bytes <= SILENT_BYTES_MAX);
    let wait = match (send.pace, whole) {
        (Pace::Silent, Some(_)) => libc::MSG_DONTWAIT | libc::MSG_WAITALL,
        (Pace::Silent | Pace::Timed, _) => libc::MSG_DONTWAIT,
        (Pace::Patient, _) => 0,
    };
    let flags = (libc::MSG_NOSIGNAL | wait).cast_unsigned();
    let entry = opcode::SendMsg::new(Fd(send.socket.as_raw_fd()), header).flags(flags).build();
    (entry, whole)
}

/// Returns the number of bytes, or the error, of the kernel's result.
pub(crate) fn count(result: i32) -> Result<usize, Errno> {
    usize::try_from(result).map_err(|_| Errno::from_raw_os_error(-result))
}
