// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Follows the stream of events, and passes each request to whatever counts, compares or learns it.

use tidegate_model::{DriveLimits, Duration, Time};

use crate::accounts::Accounts;
use crate::bios::Bios;
use crate::declared::Declared;
use crate::event::{Event, EventKind, Extent};
use crate::learn::Learner;
use crate::on_device::OnDevice;
use crate::process::Processes;
use crate::served::Served;
use crate::streams::Streams;
use crate::yielding::yield_after;

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
    /// Sectors that were sent and belong to no request whose arrival was seen.
    pub foreign_sectors: u64,
    /// Requests that came and are not complete.
    pub pending: usize,
    /// Requests whose completion was not seen: events were lost, or they waited for minutes.
    pub unfinished: u64,
    /// Requests that the kernel ended without sending them.
    pub unsent: u64,
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
    /// The requests that completed since they were last taken; `None` if nobody takes them.
    served: Option<Vec<Served>>,
    lost: u64,
    foreign_sectors: u64,
    unfinished: u64,
    unsent: u64,
    began: Time,
    last: Time,
    /// Every event until this instant was seen.
    complete_until: Time,
    /// Requests that came until this instant are not followed: their later events may be lost.
    blind_until: Option<Time>,
}

impl<P: Processes> Watcher<P> {
    /// Begins at an instant. With `declared` it compares requests with a workload, with `limits`
    /// the device with its tables.
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
            served: None,
            lost: 0,
            foreign_sectors: 0,
            unfinished: 0,
            unsent: 0,
            began,
            last: began,
            complete_until: began,
            blind_until: None,
        }
    }

    /// Also learns a workload.
    #[must_use]
    pub fn learning(self) -> Self {
        Self { learner: Some(Learner::default()), ..self }
    }

    /// Also keeps each request that completes, for [`Self::take_served`].
    #[must_use]
    pub fn keeping_served(self) -> Self {
        Self { served: Some(Vec::new()), ..self }
    }

    /// Returns the requests that completed since the last call, in that order.
    pub fn take_served(&mut self) -> Vec<Served> {
        self.served.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Takes the next event; they come in the order of time.
    pub fn observe(&mut self, event: Event) {
        let Event { at, kind } = event;
        // An event can reach its buffer late; time does not run backwards for it.
        let at = at.max(self.last);
        match kind {
            EventKind::Queued { .. } if self.blind_until.is_some_and(|until| at <= until) => {}
            EventKind::Queued { extent, by, is_forced } => {
                let by = self.processes.look_up(at, &by);
                if let Some(declared) = &mut self.declared {
                    declared.come(at, extent, &by);
                }
                if let Some(learner) = &mut self.learner {
                    learner.come(at, extent, &by);
                }
                self.bios.queue(at, extent, by, is_forced);
                self.give_up_oldest(at);
            }
            EventKind::Issued { extent, class, is_forced } => {
                self.device.issue(at, extent);
                self.foreign_sectors += self.bios.issue(extent, class, is_forced);
            }
            EventKind::Requeued { extent } => {
                self.device.requeue(at, extent);
                self.bios.requeue(extent);
            }
            EventKind::Completed { extent, is_failed } => self.complete(at, extent, is_failed),
            EventKind::Ended { extent } => self.end(at, extent),
        }
        self.last = at;
    }

    /// Takes the events up to `horizon`, an instant up to which the streams have every event. If
    /// the kernel lost events, takes all that were read: the lost ones are newer.
    pub fn take(&mut self, streams: &mut Streams, lost: u64, horizon: Time) {
        let until = if lost > 0 { Time::MAX } else { horizon };
        for (index, event) in streams.up_to(until).into_iter().enumerate() {
            self.observe(event);
            yield_after(index);
        }
        if lost > 0 {
            self.lose(lost);
        }
        if horizon < Time::MAX {
            self.wait_until(horizon);
        }
    }

    /// Records that every event up to this instant was taken: requests that are not complete wait.
    pub fn wait_until(&mut self, at: Time) {
        self.give_up_oldest(at);
        self.complete_until = self.complete_until.max(at);
        if let Some(declared) = &mut self.declared {
            declared.wait(self.bios.waiting(at));
        }
    }

    fn complete(&mut self, at: Time, extent: Extent, is_failed: bool) {
        self.device.complete(at, extent);
        let Self { bios, accounts, declared, learner, served: kept, .. } = self;
        bios.complete(at, extent, is_failed, |served: Served| {
            accounts.record(&served);
            if let Some(declared) = declared {
                declared.serve(&served);
            }
            if let Some(learner) = learner {
                learner.serve(&served);
            }
            if let Some(kept) = kept {
                kept.push(served);
            }
        });
    }

    /// Records that a bio ended without a request, so that it no longer counts.
    fn end(&mut self, at: Time, extent: Extent) {
        let Some(bio) = self.bios.end(at, extent) else { return };
        self.unsent += 1;
        if let Some(declared) = &mut self.declared {
            declared.withdraw(&bio);
        }
        if let Some(learner) = &mut self.learner {
            learner.withdraw(&bio);
        }
    }

    fn give_up_oldest(&mut self, at: Time) {
        while let Some(bio) = self.bios.give_up_oldest(at) {
            self.unfinished += 1;
            if let Some(declared) = &mut self.declared {
                declared.give_up(&bio);
            }
            if let Some(learner) = &mut self.learner {
                learner.give_up(&bio);
            }
        }
    }

    /// Records that the kernel lost events: after `complete_until`, and before the next event.
    pub fn lose(&mut self, events: u64) {
        self.lost += events;
        self.blind_until = Some(self.last);
        let given_up = self.bios.give_up(self.complete_until);
        self.unfinished += given_up.len() as u64;
        self.device.give_up();
        if let Some(declared) = &mut self.declared {
            for bio in &given_up {
                declared.give_up(bio);
            }
            declared.wait(std::iter::empty());
        }
        if let Some(learner) = &mut self.learner {
            learner.lose();
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
            unfinished: self.unfinished,
            unsent: self.unsent,
        }
    }

    /// Returns what was learnt; `None` if nothing was to be learnt.
    pub const fn learner(&self) -> Option<&Learner> {
        self.learner.as_ref()
    }
}
