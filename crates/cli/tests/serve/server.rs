// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Starts servers for tests, and the tools that connect to them.
//!
//! A wait ends as soon as its condition holds. If that takes minutes, as on an overloaded host, the
//! server is killed and its output is printed.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::Folder;

/// The longest wait of a test.
pub(crate) const PATIENCE: Duration = Duration::from_mins(3);

/// A running server; killed when the test ends.
pub(crate) struct Server {
    child: Child,
    folder: PathBuf,
}

/// Waits until `is_so` returns true; returns whether it did in time.
pub(crate) fn until(mut is_so: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while !is_so() {
        if begun.elapsed() > PATIENCE {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

/// Returns whether all of these programs are installed; prints the first missing one.
pub(crate) fn has(programs: &[&str]) -> bool {
    let is_there = |program: &&&str| {
        let sought = format!("command -v {program}");
        let path = "PATH=\"$PATH:/usr/sbin:/sbin\"";
        Command::new("sh")
            .args(["-c", &format!("{path} {sought}")])
            .stdout(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    match programs.iter().find(|program| !is_there(program)) {
        Some(missing) => {
            println!("skipped: {missing} is not installed");
            false
        }
        None => true,
    }
}

/// Returns the exit code, standard output and standard error of a program, which is killed after
/// minutes.
pub(crate) fn tool(name: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let seconds = PATIENCE.as_secs().to_string();
    let Output { status, stdout, stderr } = Command::new("timeout")
        .args(["--kill-after=5", &seconds, name])
        .args(arguments)
        .env("PATH", path_with_sbin())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (status.code(), text(stdout), text(stderr))
}

/// Runs a program that must succeed; returns its output.
pub(crate) fn done(name: &str, arguments: &[&str]) -> String {
    let (code, stdout, stderr) = tool(name, arguments);
    assert_eq!(code, Some(0), "{name} {arguments:?}: {stdout}{stderr}");
    stdout
}

/// Returns the search path with the folders for administration programs added.
pub(crate) fn path_with_sbin() -> String {
    format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default())
}

impl Server {
    /// Serves the serve file `text` from `folder`, with the socket `s.sock` and the log `log`
    /// there. `None`, after printing the reason, if one of `programs` is missing.
    pub(crate) fn start(folder: &Folder, text: &str, programs: &[&str]) -> Option<Self> {
        if !Self::is_possible(folder, text, programs) {
            return None;
        }
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        let mut command = folder.command(&["serve", "s.toml"]);
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        Some(Self::spawn(folder, &mut command))
    }

    /// Writes the serve file; returns whether it can be served.
    pub(crate) fn is_possible(folder: &Folder, text: &str, programs: &[&str]) -> bool {
        folder.file("s.toml", text);
        if !has(programs) {
            return false;
        }
        let (code, _, stderr) = folder.run(&["serve", "s.toml", "--print"]);
        assert_eq!(code, 0, "{stderr}");
        true
    }

    /// Runs a command that serves at `s.sock`; returns once clients can connect.
    pub(crate) fn spawn(folder: &Folder, command: &mut Command) -> Self {
        let mut server = Self::begin(folder, command);
        let socket = server.socket();
        server.wait_for("its socket", || {
            let Ok(mut stream) = UnixStream::connect(&socket) else { return false };
            let mut greeting = [0; 8];
            stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
            stream.read_exact(&mut greeting).is_ok() && greeting == *b"NBDMAGIC"
        });
        server
    }

    /// Runs the command without waiting for anything.
    pub(crate) fn begin(folder: &Folder, command: &mut Command) -> Self {
        Self { child: command.spawn().unwrap(), folder: folder.path().to_owned() }
    }

    /// Waits for a condition that must become true while the server runs.
    pub(crate) fn wait_for(&mut self, what: &str, mut is_so: impl FnMut() -> bool) {
        let mut ended = None;
        let came = until(|| {
            ended = self.child.try_wait().unwrap();
            ended.is_some() || is_so()
        });
        if !came || ended.is_some() {
            let _ = self.child.kill();
            panic!("no {what} ({ended:?}); it said:\n{}", self.said());
        }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.join("s.sock")
    }

    pub(crate) fn uri(&self, export: &str) -> String {
        uri(&self.socket(), export)
    }

    /// Returns the server's output so far.
    pub(crate) fn said(&self) -> String {
        let bytes = std::fs::read(self.folder.join("log")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Returns a figure of the server's memory in KiB: the kernel's figure called `what`.
    pub(crate) fn memory_kib(&self, what: &str) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).unwrap();
        let line =
            status.lines().find(|line| line.starts_with(what)).expect("the kernel reports it");
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// Returns the largest memory that the server has used so far, and the limit that it printed,
    /// both in KiB.
    pub(crate) fn memory_kib_and_limit(&self) -> (u64, u64) {
        let said = self.said();
        let limit =
            said.split("the server takes at most ").nth(1).and_then(|it| it.split(' ').next());
        let mib: u64 = limit.unwrap_or_else(|| panic!("{said}")).parse().unwrap();
        (self.memory_kib("VmHWM:"), mib << 10)
    }

    pub(crate) fn process(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(&self.child)
    }

    pub(crate) fn signal(&self, signal: &str) {
        Self::send(signal, self.child.id());
    }

    fn send(signal: &str, pid: u32) {
        let pid = pid.to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    /// Stops the server as a service manager would; returns the exit code and the output.
    pub(crate) fn stop(self) -> (Option<i32>, String) {
        self.signal("-TERM");
        self.ended()
    }

    /// Waits until the server ends; returns the exit code and the output.
    pub(crate) fn ended(mut self) -> (Option<i32>, String) {
        let mut ended: Option<ExitStatus> = None;
        let in_time = until(|| {
            ended = self.child.try_wait().unwrap();
            ended.is_some()
        });
        assert!(in_time, "it does not end; it said:\n{}", self.said());
        (ended.and_then(|status| status.code()), self.said())
    }

    /// Kills the server, as a failing host would.
    pub(crate) fn kill(mut self) {
        self.signal("-KILL");
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the URI of an export. Paths of the build output contain no character that a URI would
/// have to escape.
pub(crate) fn uri(socket: &Path, export: &str) -> String {
    format!("nbd+unix:///{export}?socket={}", socket.display())
}

/// Creates a file without holes for a store, if direct I/O is available; otherwise prints the
/// reason.
pub(crate) fn image(folder: &Folder, name: &str, mib: usize) -> Option<PathBuf> {
    let path = folder.path().join(name);
    std::fs::write(&path, vec![0_u8; mib << 20]).unwrap();
    // The server refuses a file that still has unwritten data in the page cache.
    std::fs::File::open(&path).unwrap().sync_all().unwrap();
    let probe = ["profile", name, "--only=batch", "--samples=1", "--size=4KiB", "--depth=1"];
    let (code, _, stderr) = folder.run(&probe);
    if code != 0 {
        println!("skipped: {stderr}");
        return None;
    }
    Some(path)
}
