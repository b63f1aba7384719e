// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How failure crosses the border: a number as the kernel has them, and words for a person.

#![expect(unsafe_code, reason = "callers are written in C")]

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use tidegate_engine::service::CallError;

/// Why a call failed.
pub(crate) struct Fault {
    errno: i32,
    text: String,
}

impl Fault {
    pub(crate) fn new(errno: i32, text: impl Into<String>) -> Self {
        Self { errno, text: text.into() }
    }
}

impl From<CallError> for Fault {
    fn from(error: CallError) -> Self {
        Self::new(error.raw_os_error(), error.to_string())
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Runs a call: 0, or a negative number and words for it. No panic leaves it.
pub(crate) fn guarded(act: impl FnOnce() -> Result<(), Fault>) -> i32 {
    let panicked = |_| Err(Fault::new(libc::EIO, "a fault in tidegate: see what it wrote"));
    match catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(panicked) {
        Ok(()) => 0,
        Err(Fault { errno, text }) => {
            let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
            LAST.with(|last| last.replace(text));
            -errno
        }
    }
}

/// What is behind a pointer of the caller.
///
/// # Safety
/// Null, or what this library gave out and did not take back.
pub(crate) unsafe fn given<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Fault> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_ref() }.ok_or_else(|| null(what))
}

/// Where the caller wants something.
///
/// # Safety
/// Null, or a place that may be written.
pub(crate) unsafe fn place<'a, T>(pointer: *mut T, what: &str) -> Result<&'a mut T, Fault> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_mut() }.ok_or_else(|| null(what))
}

/// A text of the caller.
///
/// # Safety
/// Null, or a string that ends with 0.
pub(crate) unsafe fn text<'a>(pointer: *const c_char, what: &str) -> Result<&'a str, Fault> {
    if pointer.is_null() {
        return Err(null(what));
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| Fault::new(libc::EINVAL, format!("{what} is not UTF-8")))
}

pub(crate) fn null(what: &str) -> Fault {
    Fault::new(libc::EINVAL, format!("{what} is NULL"))
}

/// Takes back what was given out.
///
/// # Safety
/// Null, or a pointer that this library made of a box and that was not taken back.
pub(crate) unsafe fn taken<T>(pointer: *mut T) -> Option<Box<T>> {
    // SAFETY: the caller's promise.
    (!pointer.is_null()).then(|| unsafe { Box::from_raw(pointer) })
}

/// Why the last call of this thread that failed did, in words. Valid until the next call of
/// this thread fails; empty if none did.
#[unsafe(no_mangle)]
pub extern "C" fn tidegate_error() -> *const c_char {
    LAST.with_borrow(|last| last.as_ptr())
}

/// The version of the library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn tidegate_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Frees a text that this library gave out. NULL is nothing.
///
/// # Safety
/// A text of `tidegate_ask` that was not freed, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidegate_free_text(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: the caller's promise; `given_out` made it.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// A text for the caller to keep.
pub(crate) fn given_out(text: String) -> *mut c_char {
    CString::new(text).map_or(ptr::null_mut(), CString::into_raw)
}
