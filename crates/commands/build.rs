// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds the commit and the date of the sources. A build outside of git has neither, unless
//! `SOURCE_DATE_EPOCH` states the date. An empty value counts as unset; any other value must be a
//! date.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

fn main() {
    // If these files are copied into another repository, that repository's commit does not count.
    let is_in_git = git(&["ls-files", "--error-unmatch", "build.rs"]).is_some();
    let of_head = |arguments: &[&str]| git(arguments).filter(|_| is_in_git);
    let commit = of_head(&["rev-parse", "--short=12", "HEAD"]);
    let stated = std::env::var("SOURCE_DATE_EPOCH").ok().filter(|seconds| !seconds.is_empty());
    if let Some(seconds) = stated.as_ref().filter(|seconds| date_of_epoch(seconds).is_none()) {
        println!("cargo::error=SOURCE_DATE_EPOCH={seconds}: write the seconds since 1970");
    }
    let seconds = stated.or_else(|| {
        of_head(&["show", "--no-patch", "--no-show-signature", "--format=%ct", "HEAD"])
    });
    let date = seconds.as_deref().and_then(date_of_epoch);
    let built = match (&commit, &date) {
        (Some(commit), Some(date)) => format!("{commit} {date}"),
        (None, Some(date)) => format!("built outside git, {date}"),
        (Some(commit), None) => commit.clone(),
        (None, None) => "built outside git".to_owned(),
    };
    let version = std::env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    println!("cargo::rustc-env=TIDEGATE_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
    println!("cargo::rustc-env=TIDEGATE_DATE={}", date.as_deref().unwrap_or_default());
    println!("cargo::rustc-env=TIDEGATE_BUILD={version} ({built})");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=SOURCE_DATE_EPOCH");
    // This log changes with every commit and checkout, and only then.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|_| is_in_git);
    if let Some(log) = log.filter(|log| Path::new(log).exists()) {
        println!("cargo::rerun-if-changed={log}");
    }
}

/// Converts seconds since 1970 to a date in UTC; `None` after the year 9999.
fn date_of_epoch(seconds: &str) -> Option<String> {
    const YEAR_10000: u64 = 253_402_300_800;
    let seconds = seconds.trim().parse().ok().filter(|&seconds| seconds < YEAR_10000)?;
    let time = UNIX_EPOCH + Duration::from_secs(seconds);
    let time = humantime::format_rfc3339_seconds(time).to_string();
    Some(time[.."2000-01-01".len()].to_owned())
}

/// Returns the line that git prints; `None` if it prints none. The sources can belong to another
/// user, for example under sudo. Git does not have to refuse them, because the build runs their
/// code anyway.
fn git(arguments: &[&str]) -> Option<String> {
    let trusting = ["-c", "safe.directory=*"];
    let output = Command::new("git").args(trusting).args(arguments).output().ok()?;
    let line = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !line.is_empty()).then_some(line)
}
