// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Follows the stream of events: who asks for what, when it is complete, and what that means.

use tidegate_model::{DriveLimits, Duration, Time};

use crate::accounts::Accounts;
use crate::bios::{Bios, Served};
use crate::declared::Declared;
use crate::event::{Event, EventKind, Extent};
use crate::learn::Learner;
use crate::on_device::OnDevice;
use crate::process::Processes;

/// What was seen by an instant.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// The length of the watch.
    pub duration: Duration,
    /// Events that the kernel had no room for.
    pub lost: u64,
    /// Requests by program.
    pub accounts: &'a Accounts,
    /// The declared entries, if there is a workload.
    pub declared: Option<&'a Declared>,
    /// The requests on the device.
    pub device: &'a OnDevice,
    /// Sectors that were sent and belong to no request that was seen to come.
    pub foreign_sectors: u64,
    /// Requests that came and are not complete.
    pub pending: usize,
    /// Requests whose completion was not seen, because events were lost.
    pub unfinished: u64,
}

/// Follows the stream of events.
#[derive(Debug)]
pub struct Watcher<P> {
    processes: P,
    bios: Bios,
    device: OnDevice,
    accounts: Accounts,
    declared: Option<Declared>,
    learner: Option<Learner>,
    lost: u64,
    foreign_sectors: u64,
    began: Time,
    last: Time,
}

impl<P: Processes> Watcher<P> {
    /// Begins at an instant. With `declared` it compares requests with a workload, with `limits` the
    /// device with its tables.
    pub fn new(
        began: Time,
        processes: P,
        declared: Option<Declared>,
        limits: Option<&DriveLimits>,
    ) -> Self {
        Self {
            processes,
            bios: Bios::default(),
            device: OnDevice::new(limits),
            accounts: Accounts::default(),
            declared,
            learner: None,
            lost: 0,
            foreign_sectors: 0,
            began,
            last: began,
        }
    }

    /// Also learns a workload.
    #[must_use]
    pub fn learning(self) -> Self {
        Self { learner: Some(Learner::default()), ..self }
    }

    /// Takes the next event; they come in the order of time.
    pub fn observe(&mut self, event: Event) {
        let Event { at, kind } = event;
        // An event can reach its buffer late; time does not run backwards for it.
        let at = at.max(self.last);
        match kind {
            EventKind::Queued { extent, by } => {
                let by = self.processes.look_up(at, &by);
                if let Some(declared) = &mut self.declared {
                    declared.come(at, extent, &by);
                }
                if let Some(learner) = &mut self.learner {
                    learner.come(at, extent, &by);
                }
                self.bios.queue(at, extent, by);
            }
            EventKind::Issued { extent, class } => {
                self.device.issue(at, extent);
                self.foreign_sectors += self.bios.issue(extent, class);
            }
            EventKind::Requeued { extent } => {
                self.device.requeue(at, extent);
                self.bios.requeue(extent);
            }
            EventKind::Completed { extent, is_failed } => self.complete(at, extent, is_failed),
        }
        self.last = at;
    }

    fn complete(&mut self, at: Time, extent: Extent, is_failed: bool) {
        self.device.complete(at, extent);
        let Self { bios, accounts, declared, learner, .. } = self;
        bios.complete(at, extent, is_failed, |served: Served| {
            accounts.record(&served);
            if let Some(declared) = declared {
                declared.serve(&served);
            }
            if let Some(learner) = learner {
                learner.serve(&served);
            }
        });
    }

    /// Records that the kernel lost events before the next one.
    pub fn lose(&mut self, events: u64) {
        self.lost += events;
        self.bios.give_up();
        self.device.give_up();
        if let Some(declared) = &mut self.declared {
            declared.give_up();
        }
        if let Some(learner) = &mut self.learner {
            learner.give_up();
        }
    }

    /// Returns what was seen by this instant.
    pub fn seen(&self, now: Time) -> Seen<'_> {
        Seen {
            duration: now.max(self.last).since(self.began),
            lost: self.lost,
            accounts: &self.accounts,
            declared: self.declared.as_ref(),
            device: &self.device,
            foreign_sectors: self.foreign_sectors,
            pending: self.bios.pending(),
            unfinished: self.bios.unfinished(),
        }
    }

    /// Returns what was learnt; `None` if nothing was to be learnt.
    pub const fn learner(&self) -> Option<&Learner> {
        self.learner.as_ref()
    }
}
