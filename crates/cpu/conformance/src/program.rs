// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs a program under test: starts it, connects to it, and ends it after a time limit even if it
//! does not respond.

use std::ffi::OsString;
use std::io::{self, BufReader};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use tidegate_model::Duration;

use crate::external::External;

/// A program that is running.
pub struct Program {
    child: Arc<Mutex<Child>>,
    /// The sender that tells the watching thread that the tests are over.
    over: Sender<()>,
    watch: JoinHandle<bool>,
}

impl Program {
    /// Starts a program, which is ended after the time limit.
    ///
    /// # Errors
    /// If the program cannot be started.
    ///
    /// # Panics
    /// If the command has no name.
    pub fn start(
        command: &[OsString],
        time_limit: Duration,
    ) -> io::Result<(Self, External<BufReader<ChildStdout>, ChildStdin>)> {
        let (name, arguments) = command.split_first().expect("a command has a name");
        let mut child = Command::new(name)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (stdin, stdout) = stdin.zip(stdout).expect("both are pipes");
        let child = Arc::new(Mutex::new(child));
        let (over, is_over) = mpsc::channel();
        let watched = Arc::clone(&child);
        let watch = thread::spawn(move || {
            let limit = std::time::Duration::from_nanos(time_limit.ns());
            let is_late = is_over.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
            end(&watched);
            is_late
        });
        Ok((Self { child, over, watch }, External::new(BufReader::new(stdout), stdin)))
    }

    /// Ends the program; returns whether its time limit was reached first.
    pub fn end(self) -> bool {
        // The watching thread may have ended already; then nothing receives this message.
        let _ = self.over.send(());
        let is_late = self.watch.join().unwrap_or(false);
        end(&self.child);
        is_late
    }
}

/// Kills a child that is still running, and reaps it.
fn end(child: &Mutex<Child>) {
    let mut child = child.lock().unwrap_or_else(PoisonError::into_inner);
    // Both calls fail only if the child is already gone.
    let _ = child.kill();
    let _ = child.wait();
}
