// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Writes the corrected server's behaviour into the stream files of the suite:
//! `cargo run -p tidegate-cpu-conformance --example record_streams`. Review the result before
//! committing it, because authors of other implementations compare them with these lines.

use std::fs;
use std::path::Path;

use tidegate_cpu_conformance::{Stream, check};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("streams");
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let text = fs::read_to_string(&path)?;
        let stream = Stream::parse(&text)?;
        let outcome = check(&stream.case, tidegate_cpu_servers::build(stream.case.params()), true);
        let is_given = |line: &&str| !line.starts_with("{\"expect\"");
        let mut lines: Vec<String> = text.lines().filter(is_given).map(str::to_owned).collect();
        for line in &outcome.trace {
            lines.push(format!("{{\"expect\":{}}}", serde_json::to_string(line)?));
        }
        fs::write(&path, lines.join("\n") + "\n")?;
        println!("{}\n{}", stream.name, tidegate_cpu_conformance::diagram(&stream.case, &outcome));
    }
    Ok(())
}
