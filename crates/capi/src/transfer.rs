// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Data there and back: calls that block, and calls that are submitted and awaited.

#![expect(unsafe_code, reason = "callers are written in C")]

use std::ffi::c_void;
use std::ptr;
use std::slice;

use tidegate_engine::service::{Answered, PendingRead};

use crate::export::Export;
use crate::fault::{Fault, given, guarded, null, place, taken};

/// On the medium before it is answered.
pub const TIDEGATE_DURABLE: u32 = 1;

/// What was submitted and not awaited.
pub enum Pending {
    /// A read, and how long it is.
    Read(PendingRead, usize),
    /// A write or a flush.
    Other(tidegate_engine::service::Pending),
}

/// How a call was served.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Answer {
    /// From when the contract allowed it, without one from arrival, to the answer; what a bound
    /// speaks of.
    pub response_ns: u64,
    /// Whether the contract allowed all of it when it came.
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

/// Data of the caller.
///
/// # Safety
/// `length` bytes that may be read, or NULL.
unsafe fn data<'a>(data: *const c_void, length: usize) -> Result<&'a [u8], Fault> {
    match length {
        0 => Ok(&[]),
        _ if data.is_null() => Err(null("data")),
        // SAFETY: the caller's promise; no object is larger than `isize::MAX`.
        _ => Ok(unsafe { slice::from_raw_parts(data.cast(), length) }),
    }
}

/// Memory of the caller.
///
/// # Safety
/// `length` bytes that may be written and that nobody else uses meanwhile, or NULL.
unsafe fn memory<'a>(data: *mut c_void, length: usize) -> Result<&'a mut [u8], Fault> {
    match length {
        0 => Ok(&mut []),
        _ if data.is_null() => Err(null("data")),
        // SAFETY: the caller's promise; a program in C gives initialised memory or does not look
        // at it before it is filled, and so do we.
        _ => Ok(unsafe { slice::from_raw_parts_mut(data.cast(), length) }),
    }
}

fn is_durable(flags: u32) -> Result<bool, Fault> {
    match flags {
        0 => Ok(false),
        TIDEGATE_DURABLE => Ok(true),
        _ => Err(Fault::new(libc::EINVAL, format!("flags {flags:#x}: there is 1, durable"))),
    }
}

/// Fills `data` with `length` bytes from `offset` on, and waits for them.
///
/// # Safety
/// `data` holds `length` bytes.
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

/// Writes `length` bytes from `offset` on, and waits until they are written. `flags`: 0 or
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

/// Writes `length` zeroes from `offset` on, at the cost of any other write. `flags`: 0 or
/// TIDEGATE_DURABLE.
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

/// Makes everything durable that was answered before, of any export, and waits for it.
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

/// Begins to read `length` bytes from `offset` on: `tidegate_await` fills in the data.
///
/// # Safety
/// `pending` is a place for the answer.
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

/// Begins to write `length` bytes from `offset` on. They are copied: the memory may be used again
/// as soon as this returns. `flags`: 0 or TIDEGATE_DURABLE.
///
/// # Safety
/// `bytes` holds `length` bytes, `pending` is a place for the answer.
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

/// Begins to make everything durable that was answered before, of any export.
///
/// # Safety
/// `pending` is a place for the answer.
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

/// 1: `tidegate_await` returns at once; 0: it would block.
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

/// Blocks until it is answered, and frees it, whatever comes of it. A read fills `data`, which
/// holds the `length` bytes that were asked for; for others both are NULL and 0. `answer` may be
/// NULL.
///
/// # Safety
/// `pending` was submitted and not awaited; `data` holds `length` bytes.
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
                let text = format!("{asked} bytes were asked for, and there is room for {length}");
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
