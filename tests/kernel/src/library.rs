// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compiles the kernel's decisions into a shared library, and loads it.

use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::transmute;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::faults::Fault;

/// The directory with the sources.
pub const KERNEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernel");

/// The sources of the decisions, which need no kernel headers.
pub const SOURCES: [&str; 10] = [
    "adaptive_drain.c",
    "decide.c",
    "dqf.c",
    "gated_drain.c",
    "heap.c",
    "plan.c",
    "queues.c",
    "rtio_limit.c",
    "signs.c",
    "tokens.c",
];

/// The compiler's flags, with which undefined behaviour in C traps.
const FLAGS: [&str; 11] = [
    "-std=gnu11",
    "-O1",
    "-fPIC",
    "-fvisibility=hidden",
    "-fsanitize=undefined",
    "-fsanitize-undefined-trap-on-error",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wdeclaration-after-statement",
    "-Wswitch-enum",
];

/// The plan in the form that the C shim takes; see `c/shim.c`.
#[repr(C)]
pub(crate) struct ShimPlan {
    pub(crate) policy: u32,
    pub(crate) order: u32,
    pub(crate) has_tokens: u32,
    pub(crate) depth: u32,
    pub(crate) batch_max: u32,
    pub(crate) fill: u32,
    pub(crate) best_effort_depth: u32,
    pub(crate) batch_count: u32,
    pub(crate) drain_count: u32,
    pub(crate) task_count: u32,
    pub(crate) batch: *const u64,
    pub(crate) drain: *const u64,
    pub(crate) tasks: *const u64,
}

/// A request in the form that the shim takes.
#[repr(C)]
pub(crate) struct ShimRequest {
    pub(crate) id: u64,
    pub(crate) released: u64,
    pub(crate) eligible: u64,
    pub(crate) due: u64,
    pub(crate) position: u64,
    pub(crate) task: u32,
    pub(crate) class: u32,
}

/// A sign in the form that the shim takes.
#[repr(C)]
pub(crate) struct ShimSign {
    pub(crate) kind: u32,
    pub(crate) task: u32,
    pub(crate) path: *const c_char,
    pub(crate) first: u64,
    pub(crate) count: u64,
}

/// A pointer to memory of the library.
pub(crate) type Handle = *mut c_void;

type Make = unsafe extern "C" fn(*const ShimPlan, *mut *const c_char) -> Handle;
type Insert = unsafe extern "C" fn(Handle, *const ShimRequest, u64) -> Handle;
type Complete = unsafe extern "C" fn(Handle, Handle, u64);
type Cancel = unsafe extern "C" fn(Handle, Handle) -> i32;
type Decide = unsafe extern "C" fn(Handle, u64, *mut u64) -> u32;
type Serves = unsafe extern "C" fn(Handle) -> i32;
type Free = unsafe extern "C" fn(Handle);
type Owner =
    unsafe extern "C" fn(*const ShimSign, u32, *const c_char, u64, u32, *mut *const c_char) -> u32;

/// The functions of a loaded library, which is never unloaded.
#[derive(Debug, Clone, Copy)]
pub struct Library {
    pub(crate) make: Make,
    pub(crate) insert: Insert,
    pub(crate) complete: Complete,
    pub(crate) cancel: Cancel,
    pub(crate) decide: Decide,
    pub(crate) serves_best_effort: Serves,
    /// The function that frees a request.
    pub(crate) discard: Free,
    /// The function that frees a policy.
    pub(crate) free: Free,
    pub(crate) owner: Owner,
}

/// The compiled sources. A source can be compiled again with a fault.
pub struct Objects {
    folder: tempfile::TempDir,
}

impl Objects {
    /// Compiles all sources; `None` if there is no C compiler.
    ///
    /// # Panics
    /// If a source does not compile, or the directory for temporary files is not writable.
    pub fn compile() -> Option<Self> {
        Command::new("cc").arg("--version").output().ok()?;
        let objects = Self { folder: tempfile::tempdir().expect("a temporary directory") };
        for source in SOURCES {
            compile(&Path::new(KERNEL).join(source), &objects.of(source), &["-Werror"]);
        }
        let shim = concat!(env!("CARGO_MANIFEST_DIR"), "/c/shim.c");
        compile(Path::new(shim), &objects.of("shim.c"), &["-Werror"]);
        Some(objects)
    }

    /// Loads the unchanged sources.
    ///
    /// # Panics
    /// The same as [`Self::compile`].
    pub fn load(&self) -> Library {
        self.link("right", |source| self.of(source))
    }

    /// Loads the sources with a fault; `number` must be different for each fault.
    ///
    /// # Panics
    /// If the text to replace does not occur exactly once in the source, or the result does not
    /// compile.
    pub fn load_faulty(&self, number: usize, fault: &Fault) -> Library {
        let path = Path::new(KERNEL).join(fault.source);
        let text = std::fs::read_to_string(&path).expect("the source can be read");
        assert_eq!(text.matches(fault.right).count(), 1, "occurrences of {fault}");
        let name = format!("fault-{number}");
        let wrong = self.folder.path().join(format!("{name}.c"));
        std::fs::write(&wrong, text.replacen(fault.right, fault.wrong, 1)).expect("writable");
        let object = wrong.with_extension("o");
        compile(&wrong, &object, &["-w"]);
        self.link(
            &name,
            |source| {
                if source == fault.source { object.clone() } else { self.of(source) }
            },
        )
    }

    fn of(&self, source: &str) -> PathBuf {
        self.folder.path().join(source).with_extension("o")
    }

    fn link(&self, name: &str, object_of: impl Fn(&str) -> PathBuf) -> Library {
        let library = self.folder.path().join(format!("{name}.so"));
        let objects = SOURCES.iter().chain(&["shim.c"]).map(|source| object_of(source));
        run(Command::new("cc").arg("-shared").args(objects).arg("-o").arg(&library));
        load(&library)
    }
}

fn compile(source: &Path, object: &Path, flags: &[&str]) {
    let mut command = Command::new("cc");
    command.args(FLAGS).args(flags).arg("-I").arg(KERNEL).arg("-c").arg(source);
    run(command.arg("-o").arg(object));
}

fn run(command: &mut Command) {
    let done = command.output().expect("the compiler starts");
    assert!(done.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&done.stderr));
}

#[expect(unsafe_code, reason = "loads a library and types its functions")]
fn load(path: &Path) -> Library {
    let name = CString::new(path.as_os_str().as_bytes()).expect("a path without NUL");
    // SAFETY: the name is a C string; the library has no initialiser.
    let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!library.is_null(), "{} does not load", path.display());
    let find = |name: &CStr| {
        // SAFETY: the library is loaded, and never unloaded.
        let symbol = unsafe { libc::dlsym(library, name.as_ptr()) };
        assert!(!symbol.is_null(), "{name:?} is missing");
        symbol
    };
    // SAFETY: shim.c defines these functions with these types.
    unsafe {
        Library {
            make: transmute::<Handle, Make>(find(c"shim_new")),
            insert: transmute::<Handle, Insert>(find(c"shim_insert")),
            complete: transmute::<Handle, Complete>(find(c"shim_complete")),
            cancel: transmute::<Handle, Cancel>(find(c"shim_cancel")),
            decide: transmute::<Handle, Decide>(find(c"shim_decide")),
            serves_best_effort: transmute::<Handle, Serves>(find(c"shim_serves_best_effort")),
            discard: transmute::<Handle, Free>(find(c"shim_drop")),
            free: transmute::<Handle, Free>(find(c"shim_free")),
            owner: transmute::<Handle, Owner>(find(c"shim_owner")),
        }
    }
}
