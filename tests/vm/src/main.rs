// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate-vm 6.1|6.12 DEPTH < TRACE` exits with 1 at the first dispatch that the model does not
//! make. `tidegate-vm table LEVEL < WORKLOAD` prints the plan for the kernel target, with its first
//! task at this level.

use std::io::Read;
use std::process::ExitCode;

use tidegate_vm::Kernel;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let mut input = String::new();
    if std::io::stdin().read_to_string(&mut input).is_err() {
        return usage();
    }
    match arguments.as_slice() {
        [word, level] if word == "table" => {
            level.parse().map_or_else(|_| usage(), |level| table(&input, level))
        }
        _ => {
            subject(&arguments).map_or_else(usage, |(kernel, depth)| compare(&input, kernel, depth))
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: tidegate-vm 6.1|6.12 DEPTH < TRACE, or tidegate-vm table LEVEL < WORKLOAD");
    ExitCode::from(2)
}

fn table(workload: &str, level: u32) -> ExitCode {
    match tidegate_vm::table::table_line(workload, level) {
        Ok(line) => println!("{line}"),
        Err(reason) => {
            eprintln!("{reason}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn compare(trace: &str, kernel: Kernel, depth: u32) -> ExitCode {
    match tidegate_vm::compare(trace, kernel, depth) {
        Err(malformed) => {
            eprintln!("line {} is no event", malformed.line);
            ExitCode::from(2)
        }
        Ok(comparison) => {
            println!("{}", comparison.equal);
            let Some((line, sentence)) = comparison.difference else { return ExitCode::SUCCESS };
            println!("line {line}: {sentence}");
            ExitCode::FAILURE
        }
    }
}

fn subject(arguments: &[String]) -> Option<(Kernel, u32)> {
    let [series, depth] = arguments else { return None };
    let kernel = match series.as_str() {
        "6.1" => Kernel::Linux6_1,
        "6.12" => Kernel::Linux6_12,
        _ => return None,
    };
    Some((kernel, depth.parse().ok()?))
}
