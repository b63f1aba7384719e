// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The arguments of `tidegate nbd`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use tidegate_model::{Bytes, Duration};

use crate::arguments::form::FormArguments;
use crate::values::{OpArgument, length, quantity};

#[derive(Debug, Args)]
pub(crate) struct NbdArguments {
    #[command(subcommand)]
    pub(crate) command: NbdCommand,
}

const EXAMPLE: &str = "An address is the line that `tidegate serve` prints, for example\n  \
                       nbd+unix:///camera?socket=/run/tidegate/serve/cameras.sock\n  \
                       nbd://127.0.0.1:10809/camera";

#[derive(Debug, Subcommand)]
pub(crate) enum NbdCommand {
    /// List the exports of a server.
    #[command(after_help = EXAMPLE)]
    List(AddressArguments),
    /// Show an export: its size, its blocks, and what it can do.
    #[command(after_help = EXAMPLE)]
    Info(AddressArguments),
    /// Read a range of an export.
    Read(ReadArguments),
    /// Overwrite a range of an export, and make it durable.
    Write(WriteArguments),
    /// Measure response times and throughput at a depth.
    ///
    /// The times are those of this client: they include the way through sockets and threads, which
    /// the proved bounds of a service do not.
    #[command(after_help = "Exit codes: 0 measured, 1 requests failed, 2 wrong input, 3 the \
                            environment failed.")]
    Measure(MeasureArguments),
}

/// A server or an export, and the form of the answer.
#[derive(Debug, Args)]
pub(crate) struct AddressArguments {
    /// The address of the export; without a name, the server's default export.
    #[arg(value_name = "URI")]
    pub(crate) uri: String,
    #[command(flatten)]
    pub(crate) form: FormArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ReadArguments {
    #[command(flatten)]
    pub(crate) address: AddressArguments,
    /// The first byte, for example 4KiB.
    #[arg(long, value_name = "SIZE", value_parser = quantity::<Bytes>, default_value = "0B")]
    pub(crate) offset: Bytes,
    /// The number of bytes; all up to the end of the export if left out.
    #[arg(long, value_name = "SIZE", value_parser = quantity::<Bytes>)]
    pub(crate) size: Option<Bytes>,
    /// The file to create or replace; standard output if left out.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct WriteArguments {
    #[command(flatten)]
    pub(crate) address: AddressArguments,
    /// The first byte, for example 4KiB.
    #[arg(long, value_name = "SIZE", value_parser = quantity::<Bytes>, default_value = "0B")]
    pub(crate) offset: Bytes,
    /// The file with the data; standard input if left out.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// Permit writing: the data in this range of the export is lost.
    #[arg(long)]
    pub(crate) allow_writes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MeasureArguments {
    #[command(flatten)]
    pub(crate) address: AddressArguments,
    /// The size of each request.
    #[arg(long, value_name = "SIZE", value_parser = quantity::<Bytes>, default_value = "4KiB")]
    pub(crate) size: Bytes,
    /// The number of requests outstanding.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) depth: u32,
    /// Reads or writes.
    #[arg(long, value_name = "OP", default_value = "read")]
    pub(crate) op: OpArgument,
    /// Where the requests are: at random places, or one after the other.
    #[arg(long, value_name = "PLACE", default_value = "random")]
    pub(crate) place: PlaceArgument,
    /// Send requests for this long.
    #[arg(long, value_name = "TIME", value_parser = length, default_value = "5s")]
    pub(crate) duration: Duration,
    /// The seed for places and data.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Permit writing: the data of the export is lost.
    #[arg(long)]
    pub(crate) allow_writes: bool,
}

/// The places of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlaceArgument {
    Random,
    Sequential,
}
