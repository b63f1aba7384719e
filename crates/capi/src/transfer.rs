// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Data transfer: calls that block, and calls that are submitted and awaited.

#![expect(unsafe_code, reason = "callers are written in C")]

use std::ffi::c_void;
use std::ptr;
use std::slice;

use tidegate_engine::service::{Answered, PendingRead};

use crate::export::Export;
use crate::fault::{Fault, given, guarded, null, place, taken};

/// The write is on the medium before the call completes.
pub const TIDEGATE_DURABLE: u32 = 1;

/// A request that was submitted and not awaited.
pub enum Pending {
    /// A read, and its length in bytes.
    Read(PendingRead, usize),
    /// A write or a flush.
    Other(tidegate_engine::service::Pending),
}

/// The response time of a completed call, and whether the contract covers it.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Answer {
    /// The response time in nanoseconds: from the time when the contract allowed the request
    /// (without a contract: from its arrival) to its completion. The proved bound limits this
    /// value.
    pub response_ns: u64,
    /// Whether the contract allowed the whole request when it arrived.
    pub is_within_contract: bool,
}

impl From<Answered> for Answer {
    fn from(answered: Answered) -> Self {
        Self {
            response_ns: answered.response.ns(),
            is_within_contract: answered.is_within_contract,
        }
    }
}

/// Returns the caller's data.
///
/// # Safety
/// `length` bytes may be read from `data`, or it is NULL.
unsafe fn data<'a>(data: *const c_void, length: usize) -> Result<&'a [u8], Fault> {
    match length {
        0 => Ok(&[]),
        _ if data.is_null() => Err(null("data")),
        // SAFETY: the caller's promise; no object is larger than `isize::MAX`.
        _ => Ok(unsafe { slice::from_raw_parts(data.cast(), length) }),
    }
}

/// Returns the caller's memory.
///
/// # Safety
/// `length` bytes at `data` may be written and no other thread uses them meanwhile, or it is NULL.
unsafe fn memory<'a>(data: *mut c_void, length: usize) -> Result<&'a mut [u8], Fault> {
    match length {
        0 => Ok(&mut []),
        _ if data.is_null() => Err(null("data")),
        // SAFETY: the caller's promise. A C program passes initialised memory or does not read it
        // before it is filled; this library does not read it either.
        _ => Ok(unsafe { slice::from_raw_parts_mut(data.cast(), length) }),
    }
}

fn is_durable(flags: u32) -> Result<bool, Fault> {
    match flags {
        0 => Ok(false),
        TIDEGATE_DURABLE => Ok(true),
        _ => Err(Fault::new(
            libc::EINVAL,
            format!("flags {flags:#x}: only 1 (TIDEGATE_DURABLE) is known"),
        )),
    }
}

/// Reads `length` bytes from `offset` on into `data`; blocks until the read is complete.
///
/// # Safety
/// `data` has room for `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidegate_read(
    export: *const Export,
    data: *mut c_void,
    length: usize,
    offset: u64,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (export, data) = unsafe { (given(export, "export")?, memory(data, length)?) };
        export.inner.read(offset, data)?;
        Ok(())
    })
}

/// Writes `length` bytes from `offset` on; blocks until the write is complete. `flags`: 0 or
/// TIDEGATE_DURABLE.
///
/// # Safety
/// `bytes` holds `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidegate_write(
    export: *const Export,
    bytes: *const c_void,
    length: usize,
    offset: u64,
    flags: u32,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (export, bytes) = unsafe { (given(export, "export")?, data(bytes, length)?) };
        export.inner.write(offset, bytes, is_durable(flags)?)?;
        Ok(())
    })
}

/// Writes `length` zeroes from `offset` on, at the cost of any other write; blocks until the write
/// is complete. `flags`: 0 or TIDEGATE_DURABLE.
///
/// # Safety
/// `export` was found and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidegate_zero(
    export: *const Export,
    length: usize,
    offset: u64,
    flags: u32,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller's promise.
        let export = unsafe { given(export, "export")? };
        export.inner.zero(offset, length, is_durable(flags)?)?;
        Ok(())
    })
}

/// Makes durable all writes of all exports that completed before this call; blocks until they are
/// durable.
///
/// # Safety
/// `export` was found and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidegate_flush(export: *const Export) -> i32 {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { given(export, "export")? }.inner.flush()?;
        Ok(())
    })
}

/// Submits a read of `length` bytes from `offset` on; `tidegate_await` delivers the data.
///
/// # Safety
/// `pending` points to a variable for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidegate_submit_read(
    export: *const Export,
    length: usize,
    offset: u64,
    pending: *mut *mut Pending,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (export, pending) = unsafe { (given(export, "export")?, place(pending, "pending")?) };
        *pending = ptr::null_mut();
        let read = export.inner.submit_read(offset, length)?;
        *pending = Box::into_raw(Box::new(Pending::Read(read, length)));
        Ok(())
    })
}

/// Submits a write of `length` bytes from `offset` on. The bytes are copied, so the caller may
/// reuse the memory as soon as this function returns. `flags`: 0 or TIDEGATE_DURABLE.
///
/// # Safety
/// `bytes` holds `length` bytes; `pending` points to a variable for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidegate_submit_write(
    export: *const Export,
    bytes: *const c_void,
    length: usize,
    offset: u64,
    flags: u32,
    pending: *mut *mut Pending,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (export, bytes, pending) =
            unsafe { (given(export, "export")?, data(bytes, length)?, place(pending, "pending")?) };
        *pending = ptr::null_mut();
        let write = export.inner.submit_write(offset, bytes, is_durable(flags)?)?;
        *pending = Box::into_raw(Box::new(Pending::Other(write)));
        Ok(())
    })
}

/// Submits a flush, which makes durable all writes of all exports that completed before this call.
///
/// # Safety
/// `pending` points to a variable for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidegate_submit_flush(
    export: *const Export,
    pending: *mut *mut Pending,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (export, pending) = unsafe { (given(export, "export")?, place(pending, "pending")?) };
        *pending = Box::into_raw(Box::new(Pending::Other(export.inner.submit_flush())));
        Ok(())
    })
}

/// Returns 1 if `tidegate_await` would return immediately, 0 if it would block.
///
/// # Safety
/// `pending` was submitted and not awaited.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidegate_is_answered(pending: *const Pending) -> i32 {
    let mut is_answered = false;
    let failed = guarded(|| {
        // SAFETY: the caller's promise.
        is_answered = match unsafe { given(pending, "pending")? } {
            Pending::Read(read, _) => read.is_answered(),
            Pending::Other(other) => other.is_answered(),
        };
        Ok(())
    });
    if failed == 0 { i32::from(is_answered) } else { failed }
}

/// Blocks until the request is complete, then frees `pending`, also on failure. A read copies its
/// data to `data`; `length` must be the submitted length. For other requests, pass NULL and 0.
/// `answer` may be NULL.
///
/// # Safety
/// `pending` was submitted and not awaited; `data` has room for `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidegate_await(
    pending: *mut Pending,
    data: *mut c_void,
    length: usize,
    answer: *mut Answer,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller's promise.
        let pending = unsafe { taken(pending) }.ok_or_else(|| null("pending"))?;
        let answered = match *pending {
            Pending::Read(read, asked) if asked == length => {
                // SAFETY: the caller's promise.
                read.wait(unsafe { memory(data, length)? })?
            }
            Pending::Read(_, asked) => {
                let text = format!("a read of {asked} bytes was submitted; length is {length}");
                return Err(Fault::new(libc::EINVAL, text));
            }
            Pending::Other(other) => other.wait()?,
        };
        // SAFETY: the caller's promise.
        if let Some(answer) = unsafe { answer.as_mut() } {
            *answer = answered.into();
        }
        Ok(())
    })
}
