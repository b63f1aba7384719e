// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: a service survives drives that fail, hang and vanish, and a log that is not read. Method:
//! faults are injected into the drive and the log of a server.
//!
//! The drive is a file in user space (`nbdfuse`) that another nbdkit keeps in memory: its filter
//! `error` fails the requests that a control file selects, SIGSTOP makes the drive hang, and
//! SIGKILL makes it vanish.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::common::Folder;
use crate::nbd::Client;
use crate::server::{PATIENCE, Server, has, tool, until, uri};

const EIO: u32 = 5;
const ENOSPC: u32 = 28;

/// A file on a drive that can be made to fail; it is removed with its processes when the test ends.
pub(crate) struct Frail {
    inner: Child,
    fuse: Child,
    file: PathBuf,
    trigger: PathBuf,
}

impl Frail {
    /// Creates `disk.img` of 32 MiB in `folder`; `None`, after printing the reason, if that is
    /// impossible.
    pub(crate) fn make(folder: &Folder, error: &str) -> Option<Self> {
        let has_fuse = std::fs::File::options().write(true).open("/dev/fuse").is_ok();
        if !has_fuse || !has(&["nbdkit", "nbdfuse", "fusermount3", "nbdinfo"]) {
            println!("skipped: no /dev/fuse, or no nbdfuse");
            return None;
        }
        let path = |name: &str| folder.path().join(name);
        let (socket, trigger, file) = (path("inner.sock"), path("trigger"), path("disk.img"));
        let inner = Command::new("nbdkit")
            .args(["-f", "-U", &socket.display().to_string(), "--filter=error", "memory", "32M"])
            .args([&format!("error={error}"), "error-rate=100%"])
            .arg(format!("error-file={}", trigger.display()))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let uri = uri(&socket, "");
        let is_up = until(|| tool("nbdinfo", &["--size", &uri]).0 == Some(0));
        std::fs::write(&file, "").unwrap();
        let fuse = Command::new("nbdfuse").arg(&file).arg(&uri).stderr(Stdio::null()).spawn();
        let mut frail = Self { inner, fuse: fuse.unwrap(), file, trigger };
        let is_there = || std::fs::metadata(&frail.file).is_ok_and(|it| it.len() == 32 << 20);
        if !is_up || !until(is_there) {
            println!("skipped: nbdfuse cannot mount here");
            let _ = frail.fuse.kill();
            return None;
        }
        Some(frail)
    }

    fn fail(&self, is_failing: bool) {
        if is_failing {
            std::fs::write(&self.trigger, "").unwrap();
        } else {
            std::fs::remove_file(&self.trigger).unwrap();
        }
    }

    fn signal(&self, signal: &str) {
        let pid = self.inner.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    /// Makes the drive hang. One thread handles the signal and stops the others, so until it has
    /// run they can still serve a request.
    fn hang(&self) {
        self.signal("-STOP");
        assert!(until(|| self.is_stopped()), "the drive goes on");
    }

    fn is_stopped(&self) -> bool {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.inner.id())).unwrap();
        let mut states = threads.map(|thread| {
            let status = std::fs::read_to_string(thread.unwrap().path().join("status"));
            status.unwrap_or_default().lines().any(|line| line.starts_with("State:\tT"))
        });
        states.all(|is_stopped| is_stopped)
    }
}

impl Drop for Frail {
    fn drop(&mut self) {
        // A hanging drive would keep its file in use.
        let _ = Command::new("kill").args(["-CONT", &self.inner.id().to_string()]).status();
        let _ = self.inner.kill();
        let _ = Command::new("fusermount3").args(["-u", "-z"]).arg(&self.file).status();
        let _ = self.fuse.kill();
        let _ = (self.inner.wait(), self.fuse.wait());
    }
}

const STORE: &str = "backing = \"disk.img\"\ncontrol = \"s.ctl\"\n\
    [[export]]\nname = \"a\"\nsize = \"8MiB\"\nbest_effort = true\n\
    [[export]]\nname = \"b\"\nsize = \"8MiB\"\nbest_effort = true\n";

fn client(server: &Server, export: &str) -> Client {
    Client::connect(&server.socket(), export).unwrap()
}

#[test]
fn a_drive_that_fails_is_said_and_nothing_acknowledged_is_lost() {
    for (name, number) in [("EIO", EIO), ("ENOSPC", ENOSPC)] {
        let folder = Folder::new();
        let Some(drive) = Frail::make(&folder, name) else { return };
        let Some(server) = Server::start(&folder, STORE, &[]) else { return };
        let (mut a, mut b) = (client(&server, "a"), client(&server, "b"));
        assert_eq!(a.write(0, &[1; 4096], true).unwrap(), 0);
        assert_eq!(b.write(0, &[2; 4096], false).unwrap(), 0);
        drive.fail(true);
        // The kernel converts ENOSPC from FUSE to either of these errors.
        let failed = [EIO, ENOSPC];
        assert!(failed.contains(&a.write(0, &[3; 4096], false).unwrap()), "{number}");
        assert_eq!(a.read(0, 4096).unwrap(), Err(number));
        drive.fail(false);
        // `b`, whose requests did not fail, has noticed nothing, and the connection of `a`
        // continues.
        assert_eq!(b.read(0, 4096).unwrap().unwrap(), vec![2; 4096]);
        assert_eq!(a.read(0, 4096).unwrap().unwrap(), vec![1; 4096]);
        assert_eq!(b.flush().unwrap(), 0);
        let (_, seen) = folder.json(&["ctl", "s.ctl", "statistics"]);
        assert!(seen["exports"][0]["failed"].as_u64() >= Some(2), "{seen}");
        let (code, said) = server.stop();
        assert_eq!(code, Some(0), "{said}");
        let line = "export `a`: a read of 4096 bytes at 0: the device reported: ";
        assert!(said.contains(line), "{said}");
        // The error message recommends this restart.
        let Some(server) = Server::start(&folder, STORE, &[]) else { panic!("it served before") };
        let mut a = client(&server, "a");
        assert_eq!(a.read(0, 4096).unwrap().unwrap(), vec![1; 4096]);
        assert_eq!(a.flush().unwrap(), 0);
    }
}

#[test]
fn a_drive_that_hangs_is_said_once_and_waited_for_and_one_that_vanished_fails() {
    let folder = Folder::new();
    let Some(drive) = Frail::make(&folder, "EIO") else { return };
    let Some(server) = Server::start(&folder, STORE, &[]) else { return };
    let (mut a, mut b) = (client(&server, "a"), client(&server, "b"));
    drive.hang();
    a.ask_write(1, 0, &[1; 4096], true);
    assert!(until(|| server.said().contains("requests in flight for 5")), "{}", server.said());
    // The control socket still works, and the service still accepts requests.
    let (_, status) = folder.json(&["ctl", "s.ctl", "statistics"]);
    assert_eq!(status["drive"]["stalls"], 1, "{status}");
    b.ask_write(2, 0, &[2; 4096], true);
    drive.signal("-CONT");
    assert_eq!((a.answer().unwrap(), b.answer().unwrap()), ((1, 0), (2, 0)));
    assert_eq!(server.said().matches("completed none of").count(), 1, "{}", server.said());
    drive.signal("-KILL");
    assert_eq!(a.read(0, 4096).unwrap(), Err(EIO));
    assert_eq!(b.write(0, &[3; 4096], true).unwrap(), EIO);
    assert_eq!(b.read(0, 4096).unwrap(), Err(EIO));
    for client in [&mut a, &mut b] {
        assert_eq!(client.flush().unwrap(), EIO);
    }
    let (code, said) = server.stop();
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(said.matches("error: 20").count(), 1, "{said}");
    for line in
        ["a flush failed", "an earlier flush failed", "check the drive, then restart", "b: "]
    {
        assert!(said.contains(line), "{line}: {said}");
    }
}

/// Starts a server with `log` as its standard error.
fn with_log(folder: &Folder, log: Stdio) -> Option<Server> {
    const SERVE: &str = "simulate = \"slow.drive.toml\"\ncontrol = \"s.ctl\"\n\
        [[export]]\nname = \"a\"\nsize = \"1MiB\"\nbest_effort = true\n";
    folder.file(
        "slow.drive.toml",
        "name = \"slow\"\nkind = \"pseudo\"\ndepth = 1\nflush_ns_max = 0\n\
         [[batch]]\nop = \"read\"\nsize = \"4KiB\"\nns_max = [1]\n\
         [[batch]]\nop = \"write\"\nsize = \"4KiB\"\nns_max = [1]\n",
    );
    let is_possible = Server::is_possible(folder, SERVE, &[]);
    let mut command = folder.command(&["serve", "s.toml"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    is_possible.then(|| Server::spawn(folder, &mut command))
}

/// Goal: a blocked log does not stop the service. Method: a drive that always exceeds its table, so
/// that the service logs messages while it runs, and its results at the end.
#[test]
fn a_log_that_takes_nothing_stops_nobody() {
    let full = || Stdio::from(std::fs::File::options().write(true).open("/dev/full").unwrap());
    let (reader, closed) = std::io::pipe().unwrap();
    drop(reader);
    let (_asleep, mut stuck) = std::io::pipe().unwrap();
    fill(&mut stuck);
    for log in [full(), closed.into(), stuck.into()] {
        let folder = Folder::new();
        let Some(server) = with_log(&folder, log) else { return };
        let mut client = client(&server, "a");
        for block in 0..50 {
            assert_eq!(client.write(block * 4096, &[1; 4096], true).unwrap(), 0);
        }
        std::fs::remove_file(folder.path().join("s.ctl")).unwrap();
        // The socket is created again, although the message about it cannot be written.
        assert!(until(|| folder.path().join("s.ctl").exists()), "not within {PATIENCE:?}");
        let (code, seen) = folder.json(&["ctl", "s.ctl", "statistics"]);
        assert_eq!((code, &seen["exports"][0]["requests"]), (0, &50.into()));
        assert_eq!(client.read(0, 4096).unwrap().unwrap(), vec![1; 4096]);
        assert_eq!(server.stop().0, Some(0));
    }
}

/// Fills the pipe until it accepts no more data.
fn fill(pipe: &mut std::io::PipeWriter) {
    use std::io::Write;

    // The default capacity of a pipe.
    pipe.write_all(&vec![b'\n'; 64 << 10]).unwrap();
}

#[test]
fn a_control_socket_that_is_removed_comes_back() {
    let folder = Folder::new();
    let text = "simulate = \"sata-ssd\"\ncontrol = \"s.ctl\"\n\
        [[export]]\nname = \"a\"\nsize = \"1MiB\"\nbest_effort = true\n";
    let Some(server) = Server::start(&folder, text, &[]) else { return };
    let path = folder.path().join("s.ctl");
    std::fs::remove_file(&path).unwrap();
    let mut a = client(&server, "a");
    assert_eq!(a.write(0, &[1; 4096], true).unwrap(), 0);
    assert!(until(|| path.exists() && server.said().contains("it was created again")));
    assert_eq!(folder.run(&["ctl", "s.ctl", "stop"]).0, 0);
    let (code, said) = server.ended();
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(said.matches("was removed").count(), 1, "{said}");
    assert!(!path.exists());
}
