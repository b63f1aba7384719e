// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Follows the stream of events, and passes each request to the parts that count, compare and
//! learn.

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
use crate::yielding::Pacer;

/// The observations up to a point in time.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// The duration of the watch.
    pub duration: Duration,
    /// The number of events that the kernel lost for lack of room.
    pub lost: u64,
    /// The counts of requests by program.
    pub accounts: &'a Accounts,
    /// The declared entries, if there is a workload.
    pub declared: Option<&'a Declared>,
    /// The requests on the device.
    pub device: &'a OnDevice,
    /// The number of sectors that were sent but belong to no request whose arrival was observed.
    pub foreign_sectors: u64,
    /// The number of requests that arrived and are not complete.
    pub pending: usize,
    /// The number of requests whose completion was not observed, because events were lost or the
    /// requests waited for minutes.
    pub unfinished: u64,
    /// The number of requests that the kernel ended without sending them.
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
    /// The requests that completed since they were last taken; `None` if they are not kept.
    served: Option<Vec<Served>>,
    lost: u64,
    foreign_sectors: u64,
    unfinished: u64,
    unsent: u64,
    began: Time,
    last: Time,
    /// The time up to which every event was observed.
    complete_until: Time,
    /// Requests that arrived up to this time are not followed, because later events of them may be
    /// lost.
    blind_until: Option<Time>,
}

impl<P: Processes> Watcher<P> {
    /// Creates a watcher that begins at `began`. With `declared`, it compares requests with a
    /// workload; with `limits`, it compares the device with its tables.
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

    /// Makes the watcher also learn a workload.
    #[must_use]
    pub fn learning(self) -> Self {
        Self { learner: Some(Learner::default()), ..self }
    }

    /// Makes the watcher also keep each completed request, for [`Self::take_served`].
    #[must_use]
    pub fn keeping_served(self) -> Self {
        Self { served: Some(Vec::new()), ..self }
    }

    /// Returns the requests that completed since the last call, in order of completion.
    pub fn take_served(&mut self) -> Vec<Served> {
        self.served.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Processes the next event. Events must come in order of time.
    pub fn observe(&mut self, event: Event) {
        let Event { at, kind } = event;
        // An event can reach its buffer late. Its time then counts as the last event's, so that
        // time never runs backwards.
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

    /// Processes the events up to `horizon`, the time up to which the streams have every event. If
    /// the kernel lost events, processes all that were read, because the lost ones are newer.
    pub fn take(&mut self, streams: &mut Streams, lost: u64, horizon: Time, pacer: &mut Pacer) {
        let until = if lost > 0 { Time::MAX } else { horizon };
        for event in streams.up_to(until) {
            self.observe(event);
            pacer.pace();
        }
        if lost > 0 {
            self.lose(lost);
        }
        if horizon < Time::MAX {
            self.wait_until(horizon);
        }
    }

    /// Records that every event up to this time was processed, so that incomplete requests are
    /// known to wait.
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

    /// Records that a bio ended without a request, and removes it from the counts.
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

    /// Records that the kernel lost events between `complete_until` and the next event.
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

    /// Returns the observations up to this time.
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

    /// Returns the learner; `None` if the watcher does not learn.
    pub const fn learner(&self) -> Option<&Learner> {
        self.learner.as_ref()
    }
}
