// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds the commit and the date that the tool is built from. A build outside git has neither,
//! unless `SOURCE_DATE_EPOCH` states the date.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

fn main() {
    // A copy of these files inside another repository is not that repository's commit.
    let is_in_git = git(&["ls-files", "--error-unmatch", "build.rs"]).is_some();
    let of_head = |format: &str| git(&["show", "--no-patch", format, "HEAD"]).filter(|_| is_in_git);
    let commit = of_head("--format=%H").map(|hash| hash[..12].to_owned());
    let date = date_of_epoch(std::env::var("SOURCE_DATE_EPOCH").ok().or(of_head("--format=%ct")));
    let built = match (&commit, &date) {
        (Some(commit), Some(date)) => format!("{commit} {date}"),
        (None, Some(date)) => format!("built outside git, {date}"),
        (_, None) => "built outside git".to_owned(),
    };
    let version = std::env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    println!("cargo::rustc-env=TIDEGATE_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
    println!("cargo::rustc-env=TIDEGATE_BUILD={version} ({built})");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=SOURCE_DATE_EPOCH");
    // This log grows with every commit and every checkout, and with nothing else.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|_| is_in_git);
    if let Some(log) = log.filter(|log| Path::new(log).exists()) {
        println!("cargo::rerun-if-changed={log}");
    }
}

/// Returns the date of these seconds since 1970, in UTC.
fn date_of_epoch(seconds: Option<String>) -> Option<String> {
    let since = Duration::from_secs(seconds?.trim().parse().ok()?);
    let time = humantime::format_rfc3339_seconds(UNIX_EPOCH + since).to_string();
    Some(time[.."2000-01-01".len()].to_owned())
}

/// Returns the line that git prints; `None` if it prints none.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let line = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !line.is_empty()).then_some(line)
}
