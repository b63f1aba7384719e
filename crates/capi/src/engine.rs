// SPDX-License-Identifier: Apache-2.0 OR MIT
//! An engine: a store, its exports, and the thread that executes their requests.

#![expect(unsafe_code, reason = "callers are written in C")]

use std::ffi::c_char;
use std::path::Path;
use std::ptr;

use tidegate_engine::control::ask;
use tidegate_engine::serve::{Prepared, ServeError};
use tidegate_engine::service::{Service, View};

use crate::fault::{Fault, given, given_out, guarded, place, taken, text};

/// Also serve exports whose contract is not proved, as best effort.
pub const TIDEGATE_FORCE: u32 = 1;

/// A store and its exports in service. Several threads may use it at once.
pub struct Engine {
    pub(crate) service: Service,
    view: View,
}

/// Reads a serve file (as `tidegate serve` does), proves its contracts, and starts to serve its
/// exports to this program. Keys about sockets are ignored. `flags`: 0 or TIDEGATE_FORCE.
///
/// Returns -EINVAL if the file is faulty or a contract is not proved; -ENOENT, -EACCES or another
/// system error if the file cannot be read; -EIO if the store cannot be used.
///
/// # Safety
/// `file` is a string; `engine` points to a variable for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidegate_open(
    file: *const c_char,
    flags: u32,
    engine: *mut *mut Engine,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (file, engine) = unsafe { (text(file, "file")?, place(engine, "engine")?) };
        *engine = ptr::null_mut();
        if flags & !TIDEGATE_FORCE != 0 {
            return Err(Fault::new(
                libc::EINVAL,
                format!("flags {flags:#x}: only 1 (TIDEGATE_FORCE) is known"),
            ));
        }
        let open = || Prepared::read(Path::new(file))?.open(flags & TIDEGATE_FORCE != 0);
        let service = open().map_err(|error| refusal(&error))?;
        let view = service.view();
        *engine = Box::into_raw(Box::new(Engine { service, view }));
        Ok(())
    })
}

fn refusal(error: &ServeError) -> Fault {
    let errno = match error {
        ServeError::Unreadable { source, .. } => source.raw_os_error().unwrap_or(libc::EIO),
        ServeError::Faulty { .. } | ServeError::NotProven { .. } => libc::EINVAL,
        _ => libc::EIO,
    };
    Fault::new(errno, error.to_string())
}

/// Completes all submitted requests, then ends the engine. Exports that were found stay valid until
/// they are freed; their calls return -ESHUTDOWN. NULL is ignored.
///
/// # Safety
/// `engine` was opened and not closed, and no other thread uses it any more; or it is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidegate_close(engine: *mut Engine) -> i32 {
    guarded(|| {
        // SAFETY: the caller's promise.
        let Some(engine) = (unsafe { taken(engine) }) else { return Ok(()) };
        let ended = engine.service.stop();
        ended.map_err(|error| Fault::new(libc::EIO, error.to_string()))
    })
}

/// Sends one JSON object, a request of a server's control socket, and gives the reply, also a JSON
/// object. The requests are "status", "statistics", "distributions", "check", "admit", "remove",
/// "missed" and "ended" (docs/reference/control-socket.md); "stop" is refused: use
/// `tidegate_close`. The reply's "ok" says whether the request succeeded; free the reply with
/// `tidegate_free_text`. If the call fails, `answer` is set to NULL.
///
/// # Safety
/// `request` is a string; `answer` points to a variable for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidegate_ask(
    engine: *const Engine,
    request: *const c_char,
    answer: *mut *mut c_char,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller's promise.
        let answer = unsafe { place(answer, "answer") }?;
        *answer = std::ptr::null_mut();
        // SAFETY: the caller's promise.
        let (engine, request) = unsafe { (given(engine, "engine")?, text(request, "request")?) };
        *answer = given_out(ask(&engine.view, request.as_bytes()));
        Ok(())
    })
}
