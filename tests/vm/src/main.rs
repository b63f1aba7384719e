// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate-vm 6.1|6.12 DEPTH < TRACE`: exits with 1 at the first dispatch that the model does not make.

use std::io::Read;
use std::process::ExitCode;

use tidegate_vm::Kernel;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let mut trace = String::new();
    let (Some((kernel, depth)), Ok(_)) =
        (subject(&arguments), std::io::stdin().read_to_string(&mut trace))
    else {
        eprintln!("usage: tidegate-vm 6.1|6.12 DEPTH < TRACE");
        return ExitCode::from(2);
    };
    match tidegate_vm::compare(&trace, kernel, depth) {
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
