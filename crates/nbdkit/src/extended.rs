// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Callbacks that the server calls and the crate `nbdkit` lacks: the list of exports, their
//! descriptions, block sizes, and the shutdown.
//!
//! nbdkit's plugin structure grows only at its end and states its own size. The structure here
//! begins with the crate's structure and continues with the fields that nbdkit 1.32 has after it,
//! in nbdkit's order (`nbdkit-plugin.h`).

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;

use nbdkit::Builder;
use tidegate_engine::service::{ExportContract, ExportSpec, Service};

use crate::Connection;
use crate::ending::end;
use crate::state::service;

/// nbdkit's plugin structure, with all fields up to version 1.32.
#[repr(C)]
pub(crate) struct ExtendedPlugin {
    base: nbdkit::Plugin,
    list_exports: extern "C" fn(c_int, c_int, *mut c_void) -> c_int,
    default_export: extern "C" fn(c_int, c_int) -> *const c_char,
    export_description: extern "C" fn(*mut c_void) -> *const c_char,
    cleanup: extern "C" fn(),
    block_size: extern "C" fn(*mut c_void, *mut u32, *mut u32, *mut u32) -> c_int,
}

#[expect(unsafe_code, reason = "functions of the server")]
unsafe extern "C" {
    fn nbdkit_add_export(
        exports: *mut c_void,
        name: *const c_char,
        description: *const c_char,
    ) -> c_int;
    fn nbdkit_strdup_intern(text: *const c_char) -> *const c_char;
}

/// The largest request, in bytes, that the protocol's clients may send.
const REQUEST_BYTES_MAX: u32 = 32 << 20;

/// The entry point that the server calls first; returns the plugin's callbacks.
#[expect(unsafe_code, reason = "the name by which the server finds it")]
#[unsafe(no_mangle)]
pub(crate) extern "C" fn plugin_init() -> *const ExtendedPlugin {
    let mut builder = Builder::new();
    builder.config = true;
    builder.config_complete = true;
    builder.config_help = true;
    builder.after_fork = true;
    builder.can_write = true;
    builder.can_flush = true;
    builder.can_fua = true;
    builder.can_multi_conn = true;
    builder.can_trim = true;
    builder.can_zero = true;
    builder.can_fast_zero = true;
    builder.is_rotational = true;
    builder.trim = true;
    builder.write_at = true;
    builder.zero = true;
    builder.flush = true;
    let base = builder.into_ptr::<Connection>().cast_mut();
    // SAFETY: the crate leaked a box for the server to keep, and no other code has the pointer.
    let mut base = *unsafe { Box::from_raw(base) };
    base._struct_size = size_of::<ExtendedPlugin>() as u64;
    let plugin = ExtendedPlugin {
        base,
        list_exports,
        default_export,
        export_description,
        cleanup,
        block_size,
    };
    Box::into_raw(Box::new(plugin))
}

/// Returns a copy of the text that lives as long as the server; null if it contains a zero byte.
#[expect(unsafe_code, reason = "the server keeps the text")]
fn interned(text: &str) -> *const c_char {
    let Ok(text) = CString::new(text) else { return ptr::null() };
    // SAFETY: the text ends with a zero, and the server copies it.
    unsafe { nbdkit_strdup_intern(text.as_ptr()) }
}

/// Describes the export's guarantee, in one line.
fn description(export: &ExportSpec) -> String {
    let access = if export.is_read_only { "read-only, " } else { "" };
    match &export.contract {
        None => format!("{access}best effort"),
        Some(ExportContract { requests, period, deadline, size_max, op, .. }) => {
            let plural = if *requests == 1 { "" } else { "s" };
            let what = op.map_or(format!("read{plural} or write"), |op| op.name().to_owned());
            format!(
                "{access}{requests} {what}{plural} of {size_max} each {period}, within {deadline}"
            )
        }
    }
}

extern "C" fn list_exports(_readonly: c_int, _is_tls: c_int, exports: *mut c_void) -> c_int {
    let Some(service) = service() else { return -1 };
    service.exports().iter().map(|export| add_export(exports, export)).min().unwrap_or(0)
}

#[expect(unsafe_code, reason = "a function of the server")]
fn add_export(exports: *mut c_void, export: &ExportSpec) -> c_int {
    let name = CString::new(export.name.as_str());
    let (Ok(name), Ok(description)) = (name, CString::new(description(export))) else { return -1 };
    // SAFETY: the server passed in this list, and it copies both texts.
    unsafe { nbdkit_add_export(exports, name.as_ptr(), description.as_ptr()) }
}

/// Returns the only export's name for a client that names none; an empty name if there are several
/// exports.
extern "C" fn default_export(_readonly: c_int, _is_tls: c_int) -> *const c_char {
    match service().as_deref().map(Service::exports).as_deref() {
        Some([only]) => interned(&only.name),
        _ => interned(""),
    }
}

extern "C" fn export_description(_connection: *mut c_void) -> *const c_char {
    match of_client() {
        Some(export) => interned(&description(export.spec())),
        None => ptr::null(),
    }
}

/// Returns the export of the connection whose thread calls this.
fn of_client() -> Option<tidegate_engine::service::Export> {
    let name = nbdkit::export_name().ok()?;
    service()?.export(&name)
}

extern "C" fn cleanup() {
    if !end() {
        // The thread that watches for the end was first to end the service; it ends the process
        // when it is done.
        loop {
            std::thread::park();
        }
    }
}

#[expect(unsafe_code, reason = "the server's variables")]
extern "C" fn block_size(
    _connection: *mut c_void,
    minimum: *mut u32,
    preferred: *mut u32,
    maximum: *mut u32,
) -> c_int {
    let Some(export) = of_client() else { return -1 };
    let bytes = |size: u64| u32::try_from(size).unwrap_or(REQUEST_BYTES_MAX);
    let smallest = bytes(export.alignment().get());
    // The protocol requires a power of two, at least 512.
    let largest = bytes(export.size_max().get()).min(REQUEST_BYTES_MAX);
    let best = (1 << largest.max(4096).ilog2()).max(smallest);
    // SAFETY: the server passes in three variables of its own.
    unsafe {
        minimum.write(smallest);
        preferred.write(best);
        maximum.write(REQUEST_BYTES_MAX);
    }
    0
}
