// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The text that is printed before a service starts, which is also the output of `--print`: the
//! proof of the contracts, where clients connect, and upper bounds on the server's resources.

use serde::Serialize;
use tidegate_engine::serve::Footprint;
use tidegate_report::{Answer, CheckReport, Page, Report};

/// The facts about a service before it starts: its proof, and where clients connect.
#[derive(Debug, Serialize)]
pub(super) struct Printed<'a> {
    /// The proof; `None` if no contract is a promise.
    pub(super) proof: Option<CheckReport<'a>>,
    /// The names of soft exports.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) soft: Vec<&'a str>,
    /// The command that serves the exports although their contracts are not proved.
    pub(super) to_do: Option<String>,
    /// The socket and the resources; `None` if the file is refused before these are known.
    #[serde(flatten)]
    pub(super) place: Option<Place>,
}

/// The address where clients connect, and upper bounds on the server's resources.
#[derive(Debug, Serialize)]
pub(super) struct Place {
    clients: String,
    memory_bytes_max: u64,
    requests_bytes: u64,
    later_bytes: u64,
    connections_bytes: u64,
    rest_bytes: u64,
    connections_max: usize,
    descriptors_max: usize,
    #[serde(skip)]
    footprint: Footprint,
}

impl Place {
    pub(super) fn new(clients: String, footprint: Footprint) -> Self {
        Self {
            clients,
            memory_bytes_max: footprint.total().get(),
            requests_bytes: footprint.requests.get(),
            later_bytes: footprint.later.get(),
            connections_bytes: footprint.connections.get(),
            rest_bytes: footprint.rest.get(),
            connections_max: footprint.connection_count,
            descriptors_max: footprint.descriptors,
            footprint,
        }
    }
}

impl Report for Printed<'_> {
    fn answer(&self) -> Option<Answer> {
        let none = || {
            Answer::doubtful(match &self.soft[..] {
                [] => "NO CONTRACT: all exports are served as best effort.".to_owned(),
                soft => {
                    format!("NO PROMISE: nothing is proved; soft exports: `{}`.", soft.join("`, `"))
                }
            })
        };
        Some(self.proof.as_ref().and_then(Report::answer).unwrap_or_else(none))
    }

    fn write(&self, page: &mut Page) {
        if let Some(proof) = &self.proof {
            proof.write(page);
        }
        if let Some(command) = &self.to_do {
            writeln!(page);
            page.paragraph("Nothing is served. To serve all as best effort, without any promise:");
            page.command("To do", command);
        }
        if let Some(place) = &self.place {
            writeln!(page);
            page.labelled("Clients", format!("connect at {}", place.clients));
            page.labelled("Takes", place.footprint);
        }
    }
}
