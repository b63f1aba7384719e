// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The command that serves: nbdkit with the plugin, threads, sockets and keys.

use std::ffi::OsString;
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fmt, fs, io};

use tidegate_engine::serve::{PLACES_PER_EXPORT, Prepared, outstanding_max};
use tidegate_model::FileError;
use tidegate_model::serve_file::{Listen, Tls};

use crate::arguments::ServeArguments;
use crate::command_line::quoted;
use crate::failure::Failure;

/// The number of requests of one connection that nbdkit reads at once if no contract needs more:
/// the usual depth of clients. A request that is not read cannot be stamped with its arrival.
const THREADS_BEST_EFFORT: u64 = 64;

/// The maximum number of threads for one connection: a contract that needs more is refused.
const THREADS_MAX: u64 = 1024;

/// The number of extra connections, in addition to [`PLACES_PER_EXPORT`] for each export: for
/// observers and for clients that need more.
const CONNECTIONS_MORE: usize = 16;

/// The margin of nbdkit's own limit over the plugin's, for connections that have not named their
/// export yet. Only the plugin knows a connection's export.
const CONNECTIONS_UNNAMED: usize = 16;

/// The number of exports that can be admitted later without taking the connections of others.
const EXPORTS_MORE: usize = 16;

/// The longest name of a socket, in bytes (`sun_path`).
const SOCKET_BYTES_MAX: usize = 107;

/// File names of the plugin: as installed, and as the compiler writes it.
const PLUGINS: [&str; 2] = ["nbdkit-tidegate-plugin.so", "libtidegate_nbdkit.so"];

/// The command line of nbdkit, its socket and its keys.
pub(super) struct ServerCommand {
    arguments: Vec<OsString>,
    /// The path of the socket.
    socket: Option<PathBuf>,
    /// The path of the TLS keys.
    keys: Option<PathBuf>,
}

impl ServerCommand {
    pub(super) fn of(prepared: &Prepared, options: &ServeArguments) -> Result<Self, Failure> {
        let file: &Path = &options.file;
        let mut arguments: Vec<OsString> = vec!["nbdkit".into(), "--foreground".into()];
        let (mut socket, mut keys) = (None, None);
        if !is_activated() {
            match &prepared.file().listen {
                Listen::Unix(named) => {
                    let path = match named {
                        Some(named) => prepared.resolve(named.get_ref()),
                        None => file.with_extension("sock"),
                    };
                    let path = absolute(&path)?;
                    check_control(prepared, file, &path)?;
                    arguments.extend(["--unix".into(), path.clone().into()]);
                    socket = Some(path);
                }
                Listen::Tcp { address, .. } => {
                    let (host, port) = address.get_ref().rsplit_once(':').expect("checked before");
                    let host = host.trim_start_matches('[').trim_end_matches(']');
                    arguments.extend(["--ipaddr", host, "--port", port].map(OsString::from));
                }
            }
        }
        if let Listen::Tcp { tls: Some(tls), .. } = &prepared.file().listen {
            let (option, named) = match tls {
                Tls::Psk(named) => ("--tls-psk", named),
                Tls::Certificates(named) => ("--tls-certificates", named),
            };
            let path = absolute(&prepared.resolve(named.get_ref()))?;
            keys = Some(path.clone());
            arguments.extend(["--tls=require".into(), option.into(), path.into()]);
            if matches!(tls, Tls::Certificates(_)) {
                // Without this option nbdkit encrypts, but accepts clients that have no
                // certificate.
                arguments.push("--tls-verify-peer".into());
            }
        }
        let threads = threads(prepared, file)?;
        arguments.extend(["--threads".into(), threads.to_string().into()]);
        arguments.push("--filter=limit".into());
        arguments.push(plugin()?.into());
        let mut config = OsString::from("config=");
        config.push(absolute(file)?);
        arguments.push(config);
        if options.force {
            arguments.push("force=1".into());
        }
        if let Some(margin) = options.margin {
            arguments.push(format!("margin={margin}").into());
        }
        // Exports that are admitted later must work with this number of threads.
        arguments.push(format!("threads={threads}").into());
        let is_told = prepared.file().control.is_some();
        let exports = prepared.file().export_count() + if is_told { EXPORTS_MORE } else { 0 };
        let connections = PLACES_PER_EXPORT * exports + CONNECTIONS_MORE;
        arguments.push(format!("connections={connections}").into());
        arguments.push(format!("limit={}", connections + CONNECTIONS_UNNAMED).into());
        Ok(Self { arguments, socket, keys })
    }

    /// Returns the path of the clients' socket, if it is one of a file system.
    pub(super) fn socket(&self) -> Option<&Path> {
        self.socket.as_deref()
    }

    pub(super) fn to_command(&self) -> Command {
        let (program, arguments) = self.arguments.split_first().expect("it begins with nbdkit");
        let mut command = Command::new(program);
        command.args(arguments);
        command
    }

    /// Returns the command for a supervised nbdkit, which ends when its supervisor does.
    pub(super) fn to_supervised(&self) -> Command {
        let mut command = self.to_command();
        command.arg("--exit-with-parent");
        command
    }

    /// Refuses errors that would end nbdkit, and removes the socket of a killed server.
    pub(super) fn prepare(&self) -> Result<(), Failure> {
        self.check()?;
        self.prepare_socket(true)
    }

    /// Refuses errors that would end nbdkit, and changes nothing.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if let Some(keys) = self.keys.as_ref().filter(|keys| !keys.exists()) {
            return Err(Failure::input(
                format!("[tls]: no keys exist at {}", keys.display()),
                "give the path of the keys: a file for psk, a folder for certificates",
            ));
        }
        self.prepare_socket(false)
    }

    /// Removes the socket of a killed server, if asked to; refuses a socket that is in use or cannot be created.
    /// Removes nothing else.
    fn prepare_socket(&self, is_removed: bool) -> Result<(), Failure> {
        let Some(path) = &self.socket else { return Ok(()) };
        let refused = |what: String| {
            let help = "write another socket = \"PATH\" into the serve file";
            Err(Failure::input(format!("the socket {} {what}", path.display()), help))
        };
        if path.as_os_str().len() > SOCKET_BYTES_MAX {
            return refused(format!("has a name of more than {SOCKET_BYTES_MAX} bytes"));
        }
        let folder = path.parent().unwrap_or(Path::new("/"));
        match (fs::symlink_metadata(path), UnixStream::connect(path)) {
            _ if !folder.is_dir() => refused("is in a folder that does not exist".to_owned()),
            (Ok(found), _) if !found.file_type().is_socket() => {
                refused("cannot be created: another file has this name".to_owned())
            }
            (_, Ok(_)) => Err(Failure::input(
                format!("a server already listens at {}", path.display()),
                "stop it first, or write another socket",
            )),
            (_, Err(error)) if is_removed && error.kind() == io::ErrorKind::ConnectionRefused => {
                // No process listens: a killed server left the socket.
                fs::remove_file(path).map_err(|error| Failure::environment(&error))
            }
            _ => Ok(()),
        }
    }

    /// Removes the socket of a server that ended; nbdkit leaves it.
    pub(super) fn remove_socket(&self) {
        // A socket on which another server listens is not removed, and a missing one needs no work.
        let _ = self.prepare_socket(true);
    }
}

/// Writes the command as a shell accepts it.
impl fmt::Display for ServerCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, argument) in self.arguments.iter().enumerate() {
            let separator = if index == 0 { "" } else { " " };
            write!(f, "{separator}{}", quoted(&argument.to_string_lossy()))?;
        }
        Ok(())
    }
}

/// Returns whether the service manager passes sockets (`sd_listen_fds`).
pub(super) fn is_activated() -> bool {
    let pid = std::env::var("LISTEN_PID").ok().and_then(|pid| pid.parse::<u32>().ok());
    pid == Some(std::process::id())
}

/// Refuses a control socket that is also the clients' socket.
fn check_control(prepared: &Prepared, file: &Path, socket: &Path) -> Result<(), Failure> {
    let Some(control) = &prepared.file().control else { return Ok(()) };
    if plain(&absolute(&prepared.resolve(control.get_ref()))?) != plain(socket) {
        return Ok(());
    }
    let help = "write for example control = \"serve.ctl\"";
    let fault = FileError::new(control.span(), "this is the clients' socket", help);
    Err(Failure::in_file(file, prepared.text().to_owned(), &fault))
}

/// Returns the path without `.` and double separators.
fn plain(path: &Path) -> PathBuf {
    path.components().collect()
}

/// Returns the number of threads with which no in-contract request waits unread.
fn threads(prepared: &Prepared, file: &Path) -> Result<u64, Failure> {
    if !prepared.is_proven() {
        // Every export is best effort.
        return Ok(THREADS_BEST_EFFORT);
    }
    let fault = prepared.file().fault_of_contract(
        |contract| outstanding_max(contract) > THREADS_MAX,
        |name, contract| {
            format!(
                "the client of `{name}` can have {} outstanding requests, but a server reads at \
                 most {THREADS_MAX} at once from a connection: a request that is not read cannot \
                 be stamped with its arrival",
                outstanding_max(contract)
            )
        },
        "write fewer requests per period or a deadline of fewer periods, or split the export into \
         several",
    );
    if let Some(fault) = fault {
        return Err(Failure::in_file(file, prepared.text().to_owned(), &fault));
    }
    let needed = prepared.file().contracts().map(outstanding_max);
    Ok(needed.chain([THREADS_BEST_EFFORT]).max().unwrap_or(THREADS_BEST_EFFORT))
}

/// Finds the plugin: at the path in the environment, beside this program, or in `../lib/tidegate`.
fn plugin() -> Result<PathBuf, Failure> {
    // An empty variable counts as unset.
    if let Some(path) = std::env::var_os("TIDEGATE_PLUGIN").filter(|path| !path.is_empty()) {
        return absolute(Path::new(&path));
    }
    let program = std::env::current_exe().map_err(|error| Failure::environment(&error))?;
    let folder = program.parent().unwrap_or(Path::new("/"));
    let places = [folder.to_owned(), folder.join("../lib/tidegate")];
    let candidates = places.iter().flat_map(|place| PLUGINS.map(|name| place.join(name)));
    candidates.into_iter().find(|path| path.is_file()).ok_or_else(|| {
        Failure::input(
            format!("the plugin {} was not found", PLUGINS[0]),
            "build it with `make build`, put it beside this program or in ../lib/tidegate, or set \
             TIDEGATE_PLUGIN to its path",
        )
    })
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| Failure::environment(&error))
}

/// nbdkit could not be started.
#[derive(Debug, thiserror::Error)]
#[error("cannot run nbdkit ({error}): install it (Debian: `apt-get install nbdkit`)")]
pub(super) struct ExecError {
    error: String,
}

impl ExecError {
    pub(super) fn of(error: &std::io::Error) -> Self {
        Self { error: error.to_string() }
    }
}
