// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The instants at which the kernel got a TCP client's bytes.
//!
//! A receive operation ends when its thread runs, which can be long after the bytes came: the thread
//! may be busy, or wait for a processor. The kernel stamps each segment when the network hands it
//! over, by the machine's wall clock. Unix sockets have no such stamps.

use std::time::{Duration, SystemTime};

use libc::{c_void, iovec, msghdr, timespec};
use rustix::net::{AddressFamily, sockopt};

use crate::socket::Socket;

/// The space for the kernel's stamp and its header, in words.
const CONTROL_WORDS: usize = 8;

/// The size of an option's value.
const INT_BYTES: libc::socklen_t = 4;
const _: () = assert!(size_of::<libc::c_int>() == INT_BYTES as usize);

/// Makes the kernel stamp the bytes that a socket receives. Returns whether it does: not for Unix
/// sockets.
#[expect(unsafe_code, reason = "rustix does not know this option")]
pub fn stamp_arrivals(socket: &Socket) -> bool {
    let is_tcp =
        matches!(sockopt::socket_domain(socket), Ok(AddressFamily::INET | AddressFamily::INET6));
    let on: libc::c_int = 1;
    let descriptor = std::os::fd::AsRawFd::as_raw_fd(socket);
    // SAFETY: the descriptor is open, and the option's value is an integer of this size.
    let set = || unsafe {
        let value = (&raw const on).cast::<c_void>();
        libc::setsockopt(descriptor, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, value, INT_BYTES)
    };
    is_tcp && set() == 0
}

/// What the kernel needs to receive bytes together with their stamp. It must stay where it is until
/// the receive operation ends.
pub(crate) struct StampedReceipt {
    memory: iovec,
    header: msghdr,
    control: [u64; CONTROL_WORDS],
}

impl StampedReceipt {
    #[expect(unsafe_code, reason = "structures of the kernel")]
    pub(crate) fn new() -> Box<Self> {
        // SAFETY: they consist of integers and pointers, for which zero is valid.
        let (memory, header) = unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
        Box::new(Self { memory, header, control: [0; CONTROL_WORDS] })
    }

    /// Prepares a receive operation into this memory, and returns the header's address.
    pub(crate) fn prepare(&mut self, address: *mut u8, length: usize) -> *mut msghdr {
        let Self { memory, header, control } = self;
        *memory = iovec { iov_base: address.cast(), iov_len: length };
        *control = [0; CONTROL_WORDS];
        (header.msg_iov, header.msg_iovlen) = (memory, 1);
        header.msg_control = control.as_mut_ptr().cast();
        header.msg_controllen = size_of_val(control);
        header
    }

    /// Returns when the kernel got the last of the bytes, if it says so. The operation must have
    /// ended with bytes.
    #[expect(unsafe_code, reason = "the kernel's list of control messages")]
    pub(crate) fn arrived(&self) -> Option<SystemTime> {
        // SAFETY: the header points to `control`, where the kernel wrote `msg_controllen` bytes of
        // messages, and the macros stay within them. A stamp's message holds a `timespec`, which may
        // be unaligned.
        let stamp = unsafe {
            let message = libc::CMSG_FIRSTHDR(&raw const self.header);
            let is_stamp = !message.is_null()
                && (*message).cmsg_level == libc::SOL_SOCKET
                && (*message).cmsg_type == libc::SCM_TIMESTAMPNS;
            is_stamp.then(|| libc::CMSG_DATA(message).cast::<timespec>().read_unaligned())
        }?;
        let seconds = u64::try_from(stamp.tv_sec).ok()?;
        let nanoseconds = u32::try_from(stamp.tv_nsec).ok()?;
        SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds))
    }
}
