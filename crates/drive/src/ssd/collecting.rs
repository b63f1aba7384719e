// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The steps of collecting, carried out: see `collector.rs` for their order.

use super::agenda::{Event, Stream};
use super::collector::{self, Step};
use super::die::Job;
use super::geometry::Stripe;
use super::{Die, Lane, SsdDrive};

impl SsdDrive {
    /// Begins to collect a block of a die if it has few free ones.
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

    /// Looks again at dies that had nothing to gain: what was written since may have changed
    /// that.
    pub(super) fn retry_stuck(&mut self) {
        for die in std::mem::take(&mut self.stuck) {
            self.collect_if_needed(die);
        }
    }

    /// Does the next step.
    fn collect(&mut self, die: u32) {
        let Die { queue, collector, .. } = &mut self.dies[die as usize];
        match collector.next_step(&self.mapping, &self.params.geometry) {
            Step::Read(stripe) => queue.push_work(Job::Collect(stripe), &self.params.timing),
            Step::Erase => queue.push_work(Job::Erase, &self.params.timing),
            Step::Write => return self.begin_copies(die),
        }
        self.start(die);
    }

    /// A stripe was read: what is valid of it goes to the controller, which checks it.
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

    /// A row of copies is in flash.
    pub(super) fn end_copies(&mut self, die: u32) {
        let Die { blocks, collector, .. } = &mut self.dies[die as usize];
        self.counters.units_copied += collector::commit(&collector.row, &mut self.mapping);
        blocks.end_row(Stream::Copy, &self.params.geometry);
        collector.pace().note_copies();
        self.collect(die);
        self.offer_again(die);
    }

    /// The victim is free again.
    pub(super) fn end_erase(&mut self, die: u32) {
        let Die { blocks, collector, .. } = &mut self.dies[die as usize];
        blocks.give_back(collector.end());
        self.counters.blocks_erased += 1;
        self.collect_if_needed(die);
        self.offer_again(die);
    }

    /// Puts a die in line for data of the host's, if it had no room for them and now has.
    fn offer_again(&mut self, die: u32) {
        if self.dies[die as usize].lane == Lane::Closed {
            self.offer(die);
            self.write_rows();
        }
    }
}
