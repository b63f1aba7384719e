// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Prints throughput against deadline on the disk of RTAS 2008, for every policy that proves the
//! deadline, and draws the figure if a file is named. `rtio-slots` proves nothing: its points are
//! the deadlines at which no job of its four tasks was late, for comparison with `gated-drain` with
//! four tasks.
//!
//! ```text
//! cargo run --release -p tidegate-soundness --example throttling -- 2000 throughput.svg
//! ```

use std::fmt::Write as _;

use tidegate_analysis::Answer;
use tidegate_model::{Duration, PolicyName};
use tidegate_soundness::throttling::run;

/// The policies, each with its number of tasks.
const SUBJECTS: [(PolicyName, u32); 10] = [
    (PolicyName::Das, 1),
    (PolicyName::Rtio, 1),
    (PolicyName::AdaptiveDrain, 1),
    (PolicyName::GatedDrain, 1),
    (PolicyName::RtioLimit, 1),
    (PolicyName::RtioDrain, 1),
    (PolicyName::Dqf, 1),
    (PolicyName::Edf, 1),
    (PolicyName::GatedDrain, 4),
    (PolicyName::RtioSlots, 4),
];
/// The colour of each policy's curve.
const COLOURS: [&str; 10] = [
    "#1f6feb", "#8b929e", "#1a7f37", "#6fbf73", "#bf8700", "#cf222e", "#8250df", "#0598bc",
    "#6fbf73", "#e85aad",
];

/// The curve of one policy: deadlines in ms, each with the throughput in kB/s.
type Curve = Vec<(u64, u64)>;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let jobs = arguments.next().map_or(2_000, |jobs| jobs.parse().expect("a number of jobs"));
    let deadlines: Vec<u64> = (20..=200).step_by(10).collect();
    let curves: Vec<Curve> =
        SUBJECTS.iter().map(|&subject| curve(subject, &deadlines, jobs)).collect();
    print_table(&deadlines, &curves);
    if let Some(path) = arguments.next() {
        std::fs::write(&path, picture(&curves)).expect("the file can be written");
    }
}

/// Returns the curve of a policy. `rtio` is the reference and is shown with and without a proof.
fn curve((policy, count): (PolicyName, u32), deadlines_ms: &[u64], jobs: u64) -> Curve {
    let mut curve = Curve::new();
    for &deadline_ms in deadlines_ms {
        let deadline = Duration::from_ms(deadline_ms);
        let outcome = run(policy, deadline, count, jobs / u64::from(count));
        assert_eq!(outcome.excess(), None, "{policy} at {deadline_ms} ms");
        let is_shown = match policy {
            PolicyName::Rtio => true,
            PolicyName::RtioSlots => outcome.misses == 0,
            _ => outcome.assessment.answer == Answer::Proven,
        };
        if is_shown {
            curve.push((deadline_ms, outcome.throughput_bytes_per_s / 1_000));
        }
    }
    curve
}

/// Returns the policy's name, and the number of tasks if there are several.
fn label((policy, count): (PolicyName, u32)) -> String {
    if count == 1 { policy.to_string() } else { format!("{policy}, {count} tasks") }
}

fn print_table(deadlines_ms: &[u64], curves: &[Curve]) {
    print!("| deadline, ms |");
    for subject in SUBJECTS {
        print!(" {} |", label(subject));
    }
    println!("\n|---|{}", "---|".repeat(SUBJECTS.len()));
    for &deadline_ms in deadlines_ms {
        print!("| {deadline_ms} |");
        for curve in curves {
            let point = curve.iter().find(|point| point.0 == deadline_ms);
            print!(" {} |", point.map_or("-".to_owned(), |(_, rate)| tenths(*rate)));
        }
        println!();
    }
}

/// Formats megabytes per second with one decimal.
fn tenths(kilobytes: u64) -> String {
    format!("{}.{}", kilobytes / 1_000, kilobytes / 100 % 10)
}

const WIDTH: u64 = 820;
const HEIGHT: u64 = 440;
/// The left edge of the area in which curves are drawn.
const LEFT: u64 = 60;
/// The right edge of that area.
const RIGHT: u64 = 660;
/// The upper edge of that area.
const TOP: u64 = 40;
/// The lower edge of that area.
const BOTTOM: u64 = 390;
/// The rate at the upper edge, in thousandths of the unit on the axis.
const RATE_MAX: u64 = 70_000;

fn x(deadline_ms: u64) -> u64 {
    LEFT + (RIGHT - LEFT) * deadline_ms / 200
}

fn y(rate: u64) -> u64 {
    BOTTOM - (BOTTOM - TOP) * rate / RATE_MAX
}

fn picture(curves: &[Curve]) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         font-family=\"system-ui, Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#5b626d\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"22\" font-size=\"15\" fill=\"#2b2f36\">Throughput while one read of \
         256 KiB (dashed: each of four) keeps its deadline, MB/s</text>\n"
    );
    for rate in (0..=RATE_MAX).step_by(10_000) {
        let (at, label) = (y(rate), rate / 1_000);
        draw(&mut svg, format_args!("<path d=\"M{LEFT} {at}H{RIGHT}\" stroke=\"#e4e7ec\"/>"));
        let place = format!("x=\"{}\" y=\"{}\" text-anchor=\"end\"", LEFT - 8, at + 4);
        draw(&mut svg, format_args!("<text {place}>{label}</text>"));
    }
    for deadline_ms in (0..=200).step_by(40) {
        let place =
            format!("x=\"{}\" y=\"{}\" text-anchor=\"middle\"", x(deadline_ms), BOTTOM + 18);
        draw(&mut svg, format_args!("<text {place}>{deadline_ms} ms</text>"));
    }
    for (index, (curve, subject)) in curves.iter().zip(SUBJECTS).enumerate() {
        let points: Vec<String> =
            curve.iter().map(|&(at, rate)| format!("{},{}", x(at), y(rate))).collect();
        let (points, colour) = (points.join(" "), COLOURS[index]);
        let dashes = if subject.1 == 1 { "none" } else { "6 3" };
        draw(
            &mut svg,
            format_args!(
                "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" \
                 stroke-dasharray=\"{dashes}\"/>"
            ),
        );
        let at = TOP + 20 + 22 * index as u64;
        let place = format!("x=\"{}\" y=\"{at}\" fill=\"{colour}\"", RIGHT + 16);
        draw(&mut svg, format_args!("<text {place}>{}</text>", label(subject)));
    }
    svg + "</svg>\n"
}

fn draw(svg: &mut String, element: std::fmt::Arguments<'_>) {
    writeln!(svg, "{element}").expect("writing to a string cannot fail");
}
