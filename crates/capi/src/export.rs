// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One export: its contract, and its client's notices about the service.

#![expect(unsafe_code, reason = "callers are written in C")]

use std::ffi::c_char;
use std::ptr;

use tidegate_engine::service::{Duration, NoticeKind};

use crate::engine::Engine;
use crate::fault::{Fault, given, guarded, place, taken, text};

/// A client's access to one export. Several threads may use it at once.
pub struct Export {
    pub(crate) inner: tidegate_engine::service::Export,
    bound_ns: u64,
}

/// The size, alignment and contract of an export.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct ExportFacts {
    /// The export's size in bytes.
    pub size_bytes: u64,
    /// Every offset and length must be a multiple of this number of bytes.
    pub alignment_bytes: u64,
    /// The largest request, in bytes, that is not split; each part of a larger one counts as a
    /// request.
    pub request_bytes_max: u64,
    /// Requests that the contract allows per period; 0: best effort.
    pub requests: u64,
    /// The contract's period in nanoseconds; 0: best effort.
    pub period_ns: u64,
    /// The contract's deadline in nanoseconds, from the time when the contract allows the request;
    /// 0: best effort.
    pub deadline_ns: u64,
    /// The proved bound on the response time in nanoseconds, from the time when the contract allows
    /// the request; 0: no bound is proved.
    pub bound_ns: u64,
    /// Whether the export is read-only.
    pub is_read_only: bool,
}

/// Finds the export of that name; free it with `tidegate_export_free`. Returns -ENOENT if there is
/// none.
///
/// # Safety
/// `name` is a string; `found` points to a variable for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidegate_export_find(
    engine: *const Engine,
    name: *const c_char,
    found: *mut *mut Export,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (engine, name, found) =
            unsafe { (given(engine, "engine")?, text(name, "name")?, place(found, "found")?) };
        *found = ptr::null_mut();
        let offer = engine.service.offer();
        let index = offer.exports().iter().position(|export| export.name == name);
        let (Some(index), Some(inner)) = (index, engine.service.export(name)) else {
            return Err(Fault::new(libc::ENOENT, format!("there is no export `{name}`")));
        };
        let bound_ns = offer.bounds()[index].map_or(0, Duration::ns);
        *found = Box::into_raw(Box::new(Export { inner, bound_ns }));
        Ok(())
    })
}

/// Frees an export that `tidegate_export_find` returned. NULL is ignored.
///
/// # Safety
/// `export` was found and not freed, and no other thread uses it any more; or it is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidegate_export_free(export: *mut Export) {
    guarded(|| {
        // SAFETY: the caller's promise.
        drop(unsafe { taken(export) });
        Ok(())
    });
}

/// Gives the export's size, alignment and contract as they were when the export was found.
///
/// # Safety
/// `facts` points to a variable for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidegate_export_describe(
    export: *const Export,
    facts: *mut ExportFacts,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (export, facts) = unsafe { (given(export, "export")?, place(facts, "facts")?) };
        let spec = export.inner.spec();
        *facts = ExportFacts {
            size_bytes: spec.size.get(),
            alignment_bytes: export.inner.alignment().get(),
            request_bytes_max: export.inner.size_max().get(),
            bound_ns: export.bound_ns,
            is_read_only: spec.is_read_only,
            ..ExportFacts::default()
        };
        if let Some(contract) = &spec.contract {
            facts.requests = u64::from(contract.requests);
            facts.period_ns = contract.period.ns();
            facts.deadline_ns = contract.deadline.ns();
        }
        Ok(())
    })
}

/// The export's client missed a deadline.
pub const TIDEGATE_DEADLINE_MISSED: u32 = 1;

/// The export's stream ended.
pub const TIDEGATE_STREAM_ENDED: u32 = 2;

/// Tells the service how the export's client is served: TIDEGATE_DEADLINE_MISSED or
/// TIDEGATE_STREAM_ENDED. Only policies that react to notices use it, and only for exports with
/// `soft = true` in the serve file.
///
/// # Safety
/// `export` was found and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidegate_notice(export: *const Export, notice: u32) -> i32 {
    guarded(|| {
        // SAFETY: the caller's promise.
        let export = unsafe { given(export, "export")? };
        let kind = match notice {
            TIDEGATE_DEADLINE_MISSED => NoticeKind::DeadlineMissed,
            TIDEGATE_STREAM_ENDED => NoticeKind::StreamEnded,
            _ => {
                return Err(Fault::new(
                    libc::EINVAL,
                    format!("unknown notice {notice}: use 1 (missed) or 2 (ended)"),
                ));
            }
        };
        export.inner.notice(kind);
        Ok(())
    })
}
