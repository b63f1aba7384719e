// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A load on one export, which keeps a fixed number of requests outstanding until its time is over.

use std::time::{Duration, Instant};

use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;

use std::io::{Read, Write};

use super::{Client, ClientError, Submission};
use crate::failure::Failure;
use crate::wire;

/// A load on one export.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    /// Whether the load writes random data instead of reading.
    pub is_write: bool,
    /// Whether each request begins where the last one ended, instead of at a random offset.
    pub is_sequential: bool,
    /// The size of each request in bytes; offsets are multiples of it.
    pub size: u32,
    /// The number of outstanding requests.
    pub depth: u32,
    /// The time after which no more requests are sent.
    pub time: Duration,
    /// The seed of offsets and data.
    pub seed: u64,
}

/// The totals of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loaded {
    /// The time from the start until the last reply.
    pub time: Duration,
    /// The number of requests that failed.
    pub failed: u64,
    /// The reason why the first of them failed; `None` if none failed.
    pub failure: Option<Failure>,
}

/// The offsets of requests, random or sequential.
struct Places {
    random: Pcg64,
    count: u64,
    next: Option<u64>,
}

impl Places {
    fn next(&mut self) -> u64 {
        match &mut self.next {
            None => self.random.random_range(0..self.count),
            Some(next) => {
                let place = *next;
                *next = (place + 1) % self.count;
                place
            }
        }
    }
}

impl<S: Read + Write> Client<S> {
    /// Runs a load on the export, and passes to `record` the response time of each request that
    /// succeeds: from its submission to the end of its reply, at this client.
    ///
    /// # Errors
    /// [`ClientError`] if the connection fails or the server breaks the protocol.
    ///
    /// # Panics
    /// If the export is smaller than a request, or the size or the depth is zero.
    pub fn load(
        &mut self,
        load: &Load,
        mut record: impl FnMut(Duration),
    ) -> Result<Loaded, ClientError> {
        let size = u64::from(load.size);
        let mut random = Pcg64::seed_from_u64(load.seed);
        let mut payload = vec![0; if load.is_write { load.size as usize } else { 0 }];
        random.fill(&mut payload[..]);
        let next = load.is_sequential.then_some(0);
        let mut places = Places { random, count: self.size() / size, next };
        let command = if load.is_write { wire::CMD_WRITE } else { wire::CMD_READ };
        let begun = Instant::now();
        // The submission instants of the outstanding requests, by the requests' numbers.
        let mut sent = std::collections::HashMap::new();
        let mut loaded = Loaded { time: Duration::ZERO, failed: 0, failure: None };
        loop {
            let now = Instant::now();
            loaded.time = now - begun;
            while loaded.time < load.time && sent.len() < load.depth as usize {
                let offset = places.next() * size;
                let (flags, length, payload) = (0, size, &payload[..]);
                let submission = Submission { command, flags, offset, length, payload };
                sent.insert(self.submit(&submission)?, Instant::now());
            }
            if sent.is_empty() {
                return Ok(loaded);
            }
            let reply = self.reply()?;
            let at = sent.remove(&reply.cookie).expect("a reply to an outstanding request");
            match reply.result {
                Ok(()) => record(at.elapsed()),
                Err(failure) => {
                    loaded.failed += 1;
                    loaded.failure.get_or_insert(failure);
                }
            }
            self.recycle(reply);
        }
    }
}
