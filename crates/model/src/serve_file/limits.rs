// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Limits on clients, and the placement of the thread that serves them.

use serde::Deserialize;
use toml::Spanned;

use crate::file_error::FileError;
use crate::units::Duration;

/// The limits on the clients of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerLimits {
    /// The largest number of connections of each export.
    pub connections: usize,
    /// The largest number of connections that have not named their export yet.
    pub handshakes: usize,
    /// The longest time of a handshake.
    pub handshake_time: Duration,
    /// The longest time that a client may take to finish sending a request, or to accept any of the
    /// replies that wait for it.
    pub patience: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            connections: 16,
            handshakes: 64,
            handshake_time: Duration::from_ms(10_000),
            patience: Duration::from_ms(30_000),
        }
    }
}

/// The placement of the thread that serves requests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Placement {
    /// The `SCHED_FIFO` priority; `None` for the default.
    pub priority: Option<u8>,
    /// The processors on which it may run; all if empty.
    pub processors: Vec<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawLimits {
    connections: Option<Spanned<usize>>,
    handshakes: Option<Spanned<usize>>,
    handshake_time: Option<Spanned<Duration>>,
    patience: Option<Spanned<Duration>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPlacement {
    priority: Option<Spanned<u8>>,
    processors: Option<Spanned<Vec<u32>>>,
}

/// The largest number of connections of one kind.
const CONNECTIONS_MAX: usize = 1024;

/// The shortest and the longest time limit.
const TIMES: [Duration; 2] = [Duration::from_ms(1_000), Duration::from_ms(3_600_000)];

fn number(value: Option<Spanned<usize>>, default: usize) -> Result<usize, FileError> {
    let Some(value) = value else { return Ok(default) };
    if (1..=CONNECTIONS_MAX).contains(value.get_ref()) {
        return Ok(value.into_inner());
    }
    let help = format!("write 1 to {CONNECTIONS_MAX}; the default is {default}");
    Err(FileError::new(value.span(), "a server cannot have that many connections", help))
}

fn time(value: Option<Spanned<Duration>>, default: Duration) -> Result<Duration, FileError> {
    let Some(value) = value else { return Ok(default) };
    let [least, most] = TIMES;
    if (least..=most).contains(value.get_ref()) {
        return Ok(value.into_inner());
    }
    let help = format!("write {least} to {most}; the default is {default}");
    Err(FileError::new(value.span(), "clients need a time limit within reason", help))
}

pub(super) fn read_limits(raw: Option<RawLimits>) -> Result<ServerLimits, FileError> {
    let default = ServerLimits::default();
    let Some(raw) = raw else { return Ok(default) };
    Ok(ServerLimits {
        connections: number(raw.connections, default.connections)?,
        handshakes: number(raw.handshakes, default.handshakes)?,
        handshake_time: time(raw.handshake_time, default.handshake_time)?,
        patience: time(raw.patience, default.patience)?,
    })
}

pub(super) fn read_placement(raw: Option<RawPlacement>) -> Result<Placement, FileError> {
    let Some(raw) = raw else { return Ok(Placement::default()) };
    if let Some(priority) = raw.priority.as_ref().filter(|it| !(1..=99).contains(it.get_ref())) {
        let help = "write 1 to 99; the default is 40, below the kernel's interrupt threads";
        return Err(FileError::new(priority.span(), "there is no such real-time priority", help));
    }
    if let Some(processors) = raw.processors.as_ref().filter(|it| it.get_ref().is_empty()) {
        let help = "name processors, for example processors = [2], or delete the line";
        return Err(FileError::new(processors.span(), "the thread needs a processor", help));
    }
    let processors = raw.processors.map(Spanned::into_inner).unwrap_or_default();
    Ok(Placement { priority: raw.priority.map(Spanned::into_inner), processors })
}
