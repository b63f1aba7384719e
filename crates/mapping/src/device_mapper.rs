// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The device mapper, through the program `dmsetup`. Decision 0053 states the reasons.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::{Command, Output, Stdio};

use serde::Serialize;

/// The program that talks to the device mapper.
#[derive(Debug, Clone)]
pub struct DeviceMapper {
    program: OsString,
}

/// A change: one run of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step<'a> {
    /// The program's arguments.
    pub arguments: Vec<&'a str>,
    /// The table that the program reads from its input.
    pub table: Option<&'a str>,
}

impl Step<'_> {
    /// Returns the step as a shell command.
    pub fn command(&self, program: &str) -> String {
        let arguments: Vec<_> = self.arguments.iter().map(|word| quoted(word)).collect();
        let command = format!("{program} {}", arguments.join(" "));
        let Some(table) = self.table else { return command };
        let words: Vec<_> = table.split(' ').map(quoted).collect();
        format!("printf '%s ' {} | {command}", words.join(" "))
    }
}

/// Returns a word, quoted for a shell where necessary.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A failed change or query.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceMapperError {
    /// The program did not run.
    #[error("cannot run `{program}`")]
    NotRun {
        /// The program.
        program: String,
        /// The kernel's reason.
        source: io::Error,
    },
    /// A mapping with the name belongs to another disk.
    #[error("`/dev/mapper/{name}` is not a mapping of this disk: choose another name with --name")]
    OtherDisk {
        /// The name.
        name: String,
    },
    /// The program refused.
    #[error("`{command}` failed: {said}{}", hint(command))]
    Failed {
        /// The program's name and its verb.
        command: String,
        /// The program's output.
        said: String,
    },
}

/// Returns a hint about the place of the kernel's reason if the command gives the kernel a table;
/// otherwise an empty text.
fn hint(command: &str) -> &'static str {
    let has_table = command.ends_with("create") || command.ends_with("load");
    if has_table { "; `dmesg` has the kernel's reason" } else { "" }
}

/// The figures of a mapping since the last reset, for its whole disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Figures {
    /// Requests that wait in the target.
    pub queued: u64,
    /// Requests on the disk.
    pub in_flight: u64,
    /// Batches that were sent.
    pub rounds: u64,
    /// The longest time from an event until the worker had sent the requests that the event
    /// allowed.
    #[serde(rename = "worker_ns_max")]
    pub worker_max_ns: u64,
    /// Completed real-time requests.
    pub real_time: u64,
    /// The longest response time of these requests.
    #[serde(rename = "real_time_response_ns_max")]
    pub real_time_max_ns: u64,
    /// Completed best-effort requests.
    pub best_effort: u64,
    /// The longest response time of these requests.
    #[serde(rename = "best_effort_response_ns_max")]
    pub best_effort_max_ns: u64,
}

impl Figures {
    /// Reads the target's status: `0 SECTORS tidegate QUEUED IN_FLIGHT ..`; `None` if the status
    /// has another form. `docs/reference/kernel-target.md` describes the fields.
    pub fn read(status: &str) -> Option<Self> {
        let fields: Vec<&str> = status.split_whitespace().skip(3).collect();
        let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
        let nanoseconds = |index| number(index)?.checked_mul(1_000);
        let place = |kind| fields.iter().position(|&field| field == kind);
        let (real_time, best_effort) = (place("rt")?, place("be")?);
        Some(Self {
            queued: number(0)?,
            in_flight: number(1)?,
            rounds: number(2)?,
            worker_max_ns: nanoseconds(4)?,
            real_time: number(real_time + 1)?,
            real_time_max_ns: nanoseconds(real_time + 2)?,
            best_effort: number(best_effort + 1)?,
            best_effort_max_ns: nanoseconds(best_effort + 2)?,
        })
    }
}

impl DeviceMapper {
    /// Returns the device mapper that this program controls.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self { program: program.into() }
    }

    /// Returns the program's name or path.
    pub fn program(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }

    /// Returns whether the program can be run.
    pub fn is_there(&self) -> bool {
        self.run(&["version"], None).is_ok()
    }

    /// Carries out a change.
    ///
    /// # Errors
    /// If the program does not run, or fails.
    pub fn change(&self, step: &Step<'_>) -> Result<(), DeviceMapperError> {
        let output = self.run(&step.arguments, step.table)?;
        if output.status.success() {
            return Ok(());
        }
        Err(self.failed(&step.arguments, &output))
    }

    /// Returns the table that the kernel uses for a mapping of the target; `None` if no mapping has
    /// this name, or if the mapping uses another target.
    ///
    /// # Errors
    /// If the program does not run, or fails for another reason.
    pub fn table(&self, name: &str) -> Result<Option<String>, DeviceMapperError> {
        let is_ours = |table: &String| table.split_whitespace().nth(2) == Some("tidegate");
        Ok(self.ask(&["table", name])?.filter(is_ours))
    }

    /// Returns a mapping's figures; `None` if no mapping has this name, or its status has another
    /// form.
    ///
    /// # Errors
    /// As for [`DeviceMapper::table`].
    pub fn figures(&self, name: &str) -> Result<Option<Figures>, DeviceMapperError> {
        Ok(self.ask(&["status", name])?.and_then(|status| Figures::read(&status)))
    }

    /// Returns the device-mapper UUID of a mapping, which may be empty; `None` if no mapping has
    /// this name.
    ///
    /// # Errors
    /// As for [`DeviceMapper::table`].
    pub fn uuid(&self, name: &str) -> Result<Option<String>, DeviceMapperError> {
        self.ask(&["info", "-c", "--noheadings", "-o", "uuid", name])
    }

    fn ask(&self, arguments: &[&str]) -> Result<Option<String>, DeviceMapperError> {
        let output = self.run(arguments, None)?;
        if output.status.success() {
            return Ok(Some(String::from_utf8_lossy(&output.stdout).trim().to_owned()));
        }
        let is_missing = String::from_utf8_lossy(&output.stderr).contains("does not exist");
        if is_missing { Ok(None) } else { Err(self.failed(arguments, &output)) }
    }

    fn run(&self, arguments: &[&str], table: Option<&str>) -> Result<Output, DeviceMapperError> {
        // The locale is fixed, because `ask` searches the messages for English words.
        let mut command = Command::new(&self.program);
        command.args(arguments).env("LC_ALL", "C").stdin(Stdio::piped());
        let output =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().and_then(|mut child| {
                let mut input = child.stdin.take().expect("it is piped");
                // If the program ends without reading its input, its own message says why.
                let _ = input.write_all(table.unwrap_or_default().as_bytes());
                drop(input);
                child.wait_with_output()
            });
        output.map_err(|source| DeviceMapperError::NotRun { program: self.program(), source })
    }

    fn failed(&self, arguments: &[&str], output: &Output) -> DeviceMapperError {
        let verb = arguments.first().copied().unwrap_or_default();
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        DeviceMapperError::Failed { command: format!("{} {verb}", self.program()), said }
    }
}
