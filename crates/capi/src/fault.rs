// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Errors in the form that C callers get: a negative errno and a text.

#![expect(unsafe_code, reason = "callers are written in C")]

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use tidegate_engine::service::CallError;

/// An error: its number and its text.
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

/// Runs a call and returns 0, or a negative errno after storing the text. Catches panics.
pub(crate) fn guarded(act: impl FnOnce() -> Result<(), Fault>) -> i32 {
    let panicked = |_| {
        Err(Fault::new(libc::EIO, "internal error in tidegate; standard error has the details"))
    };
    match catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(panicked) {
        Ok(()) => 0,
        Err(Fault { errno, text }) => {
            let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
            LAST.with(|last| last.replace(text));
            -errno
        }
    }
}

/// Returns a reference to the value behind the caller's pointer.
///
/// # Safety
/// `pointer` is null, or this library gave it out and has not taken it back.
pub(crate) unsafe fn given<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Fault> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_ref() }.ok_or_else(|| null(what))
}

/// Returns the caller's variable for a result.
///
/// # Safety
/// `pointer` is null, or the caller's variable may be written.
pub(crate) unsafe fn place<'a, T>(pointer: *mut T, what: &str) -> Result<&'a mut T, Fault> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_mut() }.ok_or_else(|| null(what))
}

/// Returns the caller's string.
///
/// # Safety
/// `pointer` is null, or it is a string that ends with 0.
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

/// Takes back a value that was given out.
///
/// # Safety
/// `pointer` is null, or this library made it from a box and has not taken it back.
pub(crate) unsafe fn taken<T>(pointer: *mut T) -> Option<Box<T>> {
    // SAFETY: the caller's promise.
    (!pointer.is_null()).then(|| unsafe { Box::from_raw(pointer) })
}

/// Describes why this thread's last failed call failed. The text is valid until another call of
/// this thread fails; it is empty if none has failed.
#[unsafe(no_mangle)]
pub extern "C" fn tidegate_error() -> *const c_char {
    LAST.with_borrow(|last| last.as_ptr())
}

/// Returns the library's version, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn tidegate_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Frees a text that this library gave out. NULL is ignored.
///
/// # Safety
/// `text` is from `tidegate_ask` and was not freed, or it is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidegate_free_text(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: the caller's promise; `given_out` made the text.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// Gives a text to the caller, which must free it.
pub(crate) fn given_out(text: String) -> *mut c_char {
    CString::new(text).map_or(ptr::null_mut(), CString::into_raw)
}
