// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Shows the progress and the errors of every measurement.

use std::io::{self, IsTerminal as _};
use std::time::{SystemTime, UNIX_EPOCH};

use indicatif::{ProgressBar, ProgressStyle};
use tidegate_device::RingError;
use tidegate_measure::{Kind, ProfileError, ProfileParams, Progress, TimeLeft};
use tidegate_model::{Bytes, count};
use tidegate_report::plan;

use crate::failure::Failure;
use crate::show;

/// Returns a seed that differs from run to run, so that a second profile uses other positions.
pub(crate) fn seed_of_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |age| age.as_secs())
}

/// Prints what is measured, and how.
pub(crate) fn print_measuring(what: &str, params: &ProfileParams) {
    show::say("Target", what);
    let names: Vec<_> = params.experiments.iter().map(|it| it.name()).collect();
    let kinds: Vec<_> = params.measured_kinds().iter().map(Kind::to_string).collect();
    let (names, kinds) = (names.join(", "), kinds.join(", "));
    let ProfileParams { depth, samples, seed, .. } = params;
    show::say(
        "Measuring",
        format!(
            "{names}: {kinds}, 1 to {depth} at once, {} of each, seed {seed}",
            count(samples, "sample")
        ),
    );
}

/// The template of a measurement's bar. The bar has room even on a terminal of 40 columns.
pub(crate) const OF_MEASURING: &str = "{wide_bar} {percent:>3} %  {msg}";
/// The template of the bar for a file that is being written.
const OF_WRITING: &str = "{wide_bar} {percent:>3} % of {total_bytes}, {eta} left";
/// The template of the bar for runs; its message precedes the bar.
pub(crate) const OF_RUNNING: &str = "{msg} {wide_bar} {percent:>3} %, {eta} left";

pub(crate) const OF_WORK: &str = "{spinner} {msg}, {elapsed}";

/// Returns a progress bar as wide as the terminal; it is hidden if standard error is not a
/// terminal.
pub(crate) fn bar(template: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::no_length();
    let style = ProgressStyle::with_template(template).expect("the template is fixed");
    bar.set_style(style.progress_chars("=> "));
    bar
}

/// Returns a bar that counts written bytes.
pub(crate) fn bar_of_bytes(all: Bytes) -> ProgressBar {
    let bar = bar(OF_WRITING);
    bar.set_length(all.get());
    bar
}

/// Shows the progress of the measurement.
pub(crate) fn show_progress(bar: &ProgressBar, progress: Progress, left: &mut TimeLeft) {
    let left = plan::long(left.after(progress));
    bar.set_message(format!("{}, {left} left", progress.experiment.name()));
    bar.set_length(progress.total);
    bar.set_position(progress.done);
}

/// Distinguishes the user's errors from those of the environment.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes the error by value")]
pub(crate) fn profile_failure(error: ProfileError) -> Failure {
    match error {
        ProfileError::Ring(
            RingError::SizeOutOfRange { .. } | RingError::SlotsOutOfRange { .. },
        ) => Failure::unusable(&error),
        ProfileError::Ring(_) | ProfileError::Subject(_) => Failure::environment(&error),
        ProfileError::NothingMeasured => Failure::incomplete(error.to_string()),
        _ => Failure::unusable(&error),
    }
}
