// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The command that measures the times that a proof or a simulation lacks.

use std::fmt;

use crate::{Bytes, Op};

/// A measurement to add to a drive file, as a command for `tidegate`.
///
/// A library knows neither the device nor the file: it writes `TARGET` and `FILE`, and the command
/// line replaces both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measurement {
    experiments: String,
    ops: Vec<Op>,
    sizes: Vec<Bytes>,
    depth: Option<usize>,
}

impl Measurement {
    /// Creates a measurement with these experiments (names separated by commas) for requests of any
    /// kind.
    pub fn of(experiments: impl Into<String>) -> Self {
        Self { experiments: experiments.into(), ops: Vec::new(), sizes: Vec::new(), depth: None }
    }

    /// Sets the kinds of request that are measured.
    #[must_use]
    pub fn with(mut self, kinds: impl IntoIterator<Item = (Op, Bytes)>) -> Self {
        let (ops, sizes): (Vec<Op>, Vec<Bytes>) = kinds.into_iter().unzip();
        self.ops = [Op::Read, Op::Write].into_iter().filter(|op| ops.contains(op)).collect();
        self.sizes = sizes;
        self.sizes.sort_unstable();
        self.sizes.dedup();
        self
    }

    /// Sets the number of requests that are sent together.
    #[must_use]
    pub fn at_once(self, depth: usize) -> Self {
        Self { depth: Some(depth), ..self }
    }
}

/// Returns the advice for a store whose drive was not measured: the command, which the command line
/// completes with the store's path, and the line to add to the serve file.
pub fn of_store(size: Bytes, is_written: bool) -> String {
    let (what, destroys) = if is_written {
        let kinds = [(Op::Read, size), (Op::Write, size)];
        (Measurement::of("batch,mixed,flush").with(kinds), ", which destroys the data there,")
    } else {
        (Measurement::of("batch").with([(Op::Read, size)]), "")
    };
    let command = what.to_string().replace("--add -o FILE", "-o NEW.drive.toml");
    format!("measure it with `{command}`{destroys} and add drive = \"NEW.drive.toml\"")
}

impl fmt::Display for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { experiments, ops, sizes, depth } = self;
        write!(f, "tidegate profile TARGET --only {experiments}")?;
        if !ops.is_empty() {
            let ops: Vec<&str> = ops.iter().map(|op| op.name()).collect();
            let sizes: Vec<String> = sizes.iter().map(Bytes::to_string).collect();
            write!(f, " --op {} --size {}", ops.join(","), sizes.join(","))?;
        }
        if let Some(depth) = depth {
            write!(f, " --depth {depth}")?;
        }
        if ops.contains(&Op::Write) {
            f.write_str(" --allow-writes")?;
        }
        f.write_str(" --add -o FILE")
    }
}
