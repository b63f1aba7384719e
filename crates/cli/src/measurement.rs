// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs a measurement of a device or a simulated drive: shows its progress, keeps its samples, and
//! publishes its result.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use tidegate_measure::{Measurable, OutputFile, ProfileParams, Progress, Step, TimeLeft};
use tidegate_model::Duration;

use crate::answer::Answer;
use crate::arguments::ProfileArguments;
use crate::failure::Failure;
use crate::profile_output::Output;
use crate::progress::{OF_MEASURING, bar, show_progress};

/// A measurement that is about to begin.
pub(crate) struct Measurement<'a> {
    pub(crate) arguments: &'a ProfileArguments,
    pub(crate) params: ProfileParams,
    pub(crate) steps: Vec<Step>,
    pub(crate) output: Output,
    pub(crate) interrupted: &'a AtomicBool,
}

impl Measurement<'_> {
    /// Measures until the measurement is done, stopped or out of time, and publishes the result. It
    /// calls `is_begun` after each trial.
    pub(crate) fn make(
        self,
        target: &mut impl Measurable,
        is_begun: &mut dyn FnMut(),
    ) -> Result<Answer, Failure> {
        let Self { arguments, params, steps, output, interrupted } = self;
        let device = (&target.identity(), target.origin());
        let mut journal = output.journal(device, &target.same(&params))?;
        let mut left = TimeLeft::of(steps);
        let bar = bar(OF_MEASURING);
        let begun = Instant::now();
        let is_over =
            |limit: Duration| begun.elapsed() >= std::time::Duration::from_nanos(limit.ns());
        let mut progress = |progress: Progress| {
            if progress.done > 0 {
                is_begun();
            }
            show_progress(&bar, progress, &mut left);
            if arguments.time_limit.is_some_and(is_over) {
                interrupted.store(true, Ordering::Relaxed);
            }
        };
        let measured = target.measure(&params, &mut progress, interrupted, journal.as_mut());
        bar.finish_and_clear();
        let mut measured = output.after(measured)?;
        let is_added = output.file.as_ref().is_some_and(OutputFile::is_added_to);
        let whole = target.conclude(&mut measured, is_added);
        output.publish(&whole, &measured)?;
        Ok(Answer::of(!measured.is_cancelled))
    }
}
