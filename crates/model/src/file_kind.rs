// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The kind of a file, for the advice to a user who names a file of the wrong kind.

/// The kinds of files that people write or name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A disk's or a processor's workload.
    Workload,
    /// The exports of a service.
    Serve,
    /// A measured or simulated drive.
    Drive,
    /// A processor profile: the time that other work takes from a thread.
    Processor,
}

impl FileKind {
    /// Each kind with tables and keys that only its files have.
    const MARKS: [(Self, &'static [&'static str]); 4] = [
        (Self::Serve, &["export", "backing", "simulate"]),
        (Self::Drive, &["batch", "mechanics", "ssd", "identity", "premise"]),
        (Self::Processor, &["stolen", "conditions"]),
        (Self::Workload, &["task", "best_effort", "cpu_task", "cpu_server"]),
    ];

    /// Returns the kind of a file with this text; `None` if its tables and keys do not show the
    /// kind.
    pub fn of(text: &str) -> Option<Self> {
        let table: toml::Table = toml::from_str(text).ok()?;
        let has = |marks: &&[&str]| marks.iter().any(|mark| table.contains_key(*mark));
        Self::MARKS.iter().find(|(_, marks)| has(marks)).map(|(kind, _)| *kind)
    }

    /// Returns the name of the kind, with its article.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Workload => "a workload file",
            Self::Serve => "a serve file",
            Self::Drive => "a drive file",
            Self::Processor => "a processor profile",
        }
    }

    /// Returns a clause that says how to read a file of this kind. `path` must be in a form that a
    /// shell takes as it is.
    pub fn advice(self, path: &str) -> String {
        let command = match self {
            Self::Workload => format!("tidegate check {path}"),
            Self::Serve => format!("tidegate serve {path} --print"),
            Self::Drive => format!("tidegate drive show {path}"),
            // No command reads a profile alone.
            Self::Processor => {
                return "name it as `file` of a [[cpu_interference]] in a workload file, for \
                        `tidegate cpu check`"
                    .to_owned();
            }
        };
        format!("read it with `{command}`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_tables() {
        let kinds = [
            ("drive = \"d\"\n[[task]]\nname = \"a\"", Some(FileKind::Workload)),
            ("simulate = \"d\"\n[[export]]", Some(FileKind::Serve)),
            ("name = \"d\"\n[[batch]]", Some(FileKind::Drive)),
            ("name = \"d\"\n[stolen]\nns_max = []", Some(FileKind::Processor)),
            ("drive = \"d\"", None),
            ("{", None),
        ];
        for (text, kind) in kinds {
            assert_eq!(FileKind::of(text), kind, "{text}");
        }
    }
}
