// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Carries out the steps of garbage collection; `collector.rs` determines their order.

use super::agenda::{Event, Stream};
use super::collector::{self, CollectStep};
use super::die::Job;
use super::geometry::Stripe;
use super::{Die, SsdDrive, WriteState};

impl SsdDrive {
    /// Begins to collect a block of a die if the die has few free blocks.
    pub(super) fn collect_if_needed(&mut self, die: u32) {
        let Die { blocks, collector, .. } = &mut self.dies[die as usize];
        let free = blocks.free_count();
        if collector.victim().is_some() || free > self.params.background_blocks {
            return;
        }
        if let Some(victim) = blocks.take_victim(&self.mapping, &self.params.geometry) {
            let valid_count = self.mapping.valid_count(self.params.geometry.block(die, victim));
            collector.begin(die, victim, valid_count, &self.params.geometry);
            self.collect(die);
        } else if free <= self.params.foreground_blocks && !self.stuck.contains(&die) {
            self.stuck.push(die);
        }
    }

    /// Retries dies that had no block worth collecting: later writes may have changed that.
    pub(super) fn retry_stuck(&mut self) {
        for die in std::mem::take(&mut self.stuck) {
            self.collect_if_needed(die);
        }
    }

    /// Starts the next step.
    fn collect(&mut self, die: u32) {
        let Die { queue, collector, .. } = &mut self.dies[die as usize];
        match collector.next_step(&self.mapping, &self.params.geometry) {
            CollectStep::Read(stripe) => queue.push_work(Job::Collect(stripe), &self.params.timing),
            CollectStep::Erase => queue.push_work(Job::Erase, &self.params.timing),
            CollectStep::Write => return self.begin_copies(die),
        }
        self.start(die);
    }

    /// Sends a stripe's valid units over the channel to the controller, which checks them.
    pub(super) fn fetch_valid(&mut self, die: u32, stripe: Stripe) {
        let geometry = &self.params.geometry;
        let units = collector::valid_count(stripe, &self.mapping, geometry);
        let at = self.cross_channel(die, units * geometry.unit_bytes);
        self.agenda.plan(at, Event::Gathered { die });
    }

    pub(super) fn take_gathered(&mut self, die: u32) {
        let target = &mut self.dies[die as usize];
        target.collector.gather(&self.mapping, &self.params.geometry);
        self.collect(die);
    }

    fn begin_copies(&mut self, die: u32) {
        let geometry = &self.params.geometry;
        let Die { blocks, collector, .. } = &mut self.dies[die as usize];
        let start = blocks.begin_row(Stream::Copy, geometry);
        collector.fill_row(start, geometry);
        self.load_page(die, Stream::Copy);
    }

    /// Records that a row of copies is in flash.
    pub(super) fn end_copies(&mut self, die: u32) {
        let Die { blocks, collector, .. } = &mut self.dies[die as usize];
        self.counters.units_copied += collector::commit(&collector.row, &mut self.mapping);
        blocks.end_row(Stream::Copy, &self.params.geometry);
        collector.pace().note_copies();
        self.collect(die);
        self.offer_again(die);
    }

    /// Frees the erased block.
    pub(super) fn end_erase(&mut self, die: u32) {
        let Die { blocks, collector, .. } = &mut self.dies[die as usize];
        blocks.give_back(collector.end());
        self.counters.blocks_erased += 1;
        self.collect_if_needed(die);
        self.offer_again(die);
    }

    /// Queues a die for host data if it had no room and now has some.
    fn offer_again(&mut self, die: u32) {
        if self.dies[die as usize].write_state == WriteState::Closed {
            self.offer(die);
            self.write_rows();
        }
    }
}
