// SPDX-License-Identifier: Apache-2.0 OR MIT
//! An engine: a store, its exports, and the thread that carries out what is asked of them.

#![expect(unsafe_code, reason = "callers are written in C")]

use std::ffi::c_char;
use std::path::Path;
use std::ptr;

use tidegate_engine::control::ask;
use tidegate_engine::serve::{Prepared, ServeError};
use tidegate_engine::service::{Service, View};

use crate::fault::{Fault, given, given_out, guarded, place, taken, text};

/// Serve what is not proved too, as best effort.
pub const TIDEGATE_FORCE: u32 = 1;

/// A store with its exports at work. May be used by several threads at once.
pub struct Engine {
    pub(crate) service: Service,
    view: View,
}

/// Reads a serve file (as `tidegate serve` does), proves what it promises, and begins to serve it
/// to this program. Keys about sockets are not used. `flags`: 0 or TIDEGATE_FORCE.
///
/// -EINVAL where the file is faulty or does not prove what it promises; -ENOENT, -EACCES or another
/// error of the system where it cannot be read; -EIO where the store cannot be used.
///
/// # Safety
/// `file` is a string, `engine` a place for the answer.
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
            return Err(Fault::new(libc::EINVAL, format!("flags {flags:#x}: there is 1, force")));
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

/// Answers everything that was asked, then ends. Exports that were found stay valid until they are
/// freed, and answer -ESHUTDOWN. NULL is nothing.
///
/// # Safety
/// An engine that was opened and not closed, used by no other thread any more; or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidegate_close(engine: *mut Engine) -> i32 {
    guarded(|| {
        // SAFETY: the caller's promise.
        let Some(engine) = (unsafe { taken(engine) }) else { return Ok(()) };
        let ended = engine.service.stop();
        ended.map_err(|error| Fault::new(libc::EIO, error.to_string()))
    })
}

/// Asks what the control socket of a server answers: one JSON object there, one back, with
/// "status", "statistics", "check", "admit", "remove", "missed" and "ended" as docs/reference/control-socket.md has
/// them; "stop" is refused: that is `tidegate_close`.
/// The answer says in "ok" whether it was done; free it with `tidegate_free_text`.
/// Where the call fails, it is NULL.
///
/// # Safety
/// `request` is a string, `answer` a place for the answer.
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
