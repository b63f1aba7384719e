// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One export: what was agreed, and what its client says of its service.

#![expect(unsafe_code, reason = "callers are written in C")]

use std::ffi::c_char;
use std::ptr;

use tidegate_engine::service::{Duration, NoticeKind};

use crate::engine::Engine;
use crate::fault::{Fault, given, guarded, place, taken, text};

/// A client's access to one export. May be used by several threads at once.
pub struct Export {
    pub(crate) inner: tidegate_engine::service::Export,
    bound_ns: u64,
}

/// What was agreed about an export.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct ExportFacts {
    /// How much it holds.
    pub size_bytes: u64,
    /// Every offset and length is a multiple of this.
    pub alignment_bytes: u64,
    /// The largest request that is not cut; each part of a larger one counts as one.
    pub request_bytes_max: u64,
    /// Requests in each period that the contract allows; 0: best effort.
    pub requests: u64,
    /// The contract's period; 0: best effort.
    pub period_ns: u64,
    /// Its deadline, from when the contract allows a request; 0: best effort.
    pub deadline_ns: u64,
    /// What was proved: the longest response, from when the contract allows a request; 0: nothing.
    pub bound_ns: u64,
    /// Whether it is only read.
    pub is_read_only: bool,
}

/// The export of that name; free it with `tidegate_export_free`. -ENOENT where there is none.
///
/// # Safety
/// `name` is a string, `found` a place for the answer.
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

/// Frees what `tidegate_export_find` gave. NULL is nothing.
///
/// # Safety
/// An export that was found and not freed, used by no other thread any more; or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidegate_export_free(export: *mut Export) {
    guarded(|| {
        // SAFETY: the caller's promise.
        drop(unsafe { taken(export) });
        Ok(())
    });
}

/// What was agreed about it when it was found.
///
/// # Safety
/// `facts` is a place for the answer.
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

/// Its client missed a deadline.
pub const TIDEGATE_DEADLINE_MISSED: u32 = 1;

/// Its stream came to its end.
pub const TIDEGATE_STREAM_ENDED: u32 = 2;

/// Says something about the service that the export got: TIDEGATE_DEADLINE_MISSED or
/// TIDEGATE_STREAM_ENDED. Only policies that notices steer act on it.
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
            _ => return Err(Fault::new(libc::EINVAL, format!("there is no notice {notice}"))),
        };
        export.inner.notice(kind);
        Ok(())
    })
}
