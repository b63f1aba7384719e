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

use crate::failure::Failure;

/// Requests of one connection that nbdkit reads at once where no contract needs more: as deep as
/// clients usually go. What it has not read cannot be stamped with its arrival.
const THREADS_BEST_EFFORT: u64 = 64;

/// More threads than this for one connection are not asked for: a contract that needs more is
/// refused.
const THREADS_MAX: u64 = 1024;

/// Connections at once beyond those of each export, for whoever looks or needs more.
const CONNECTIONS_MORE: usize = 16;

/// By how much nbdkit's own limit is higher than the plugin's, which knows whose a connection is:
/// for those that have not said yet which export they want.
const CONNECTIONS_UNNAMED: usize = 16;

/// Exports that may be admitted while it runs without crowding the connections of others.
const EXPORTS_MORE: usize = 16;

/// What the name of a socket may take (`sun_path`).
const SOCKET_BYTES_MAX: usize = 107;

/// File names of the plugin: as installed, and as the compiler leaves it.
const PLUGINS: [&str; 2] = ["nbdkit-tidegate-plugin.so", "libtidegate_nbdkit.so"];

/// See the module's text.
pub(super) struct ServerCommand {
    arguments: Vec<OsString>,
    /// Where a socket will be.
    socket: Option<PathBuf>,
    /// Where the keys of TLS are.
    keys: Option<PathBuf>,
}

impl ServerCommand {
    pub(super) fn of(prepared: &Prepared, file: &Path, is_forced: bool) -> Result<Self, Failure> {
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
                // Without it nbdkit encrypts, and lets in who has no certificate.
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
        if is_forced {
            arguments.push("force=1".into());
        }
        // What may be admitted later has to get along with them.
        arguments.push(format!("threads={threads}").into());
        let is_told = prepared.file().control.is_some();
        let exports = prepared.file().export_count() + if is_told { EXPORTS_MORE } else { 0 };
        let connections = PLACES_PER_EXPORT * exports + CONNECTIONS_MORE;
        arguments.push(format!("connections={connections}").into());
        arguments.push(format!("limit={}", connections + CONNECTIONS_UNNAMED).into());
        Ok(Self { arguments, socket, keys })
    }

    pub(super) fn to_command(&self) -> Command {
        let (program, arguments) = self.arguments.split_first().expect("it begins with nbdkit");
        let mut command = Command::new(program);
        command.args(arguments);
        command
    }

    /// The same for whoever watches over it: it ends when they do.
    pub(super) fn to_supervised(&self) -> Command {
        let mut command = self.to_command();
        command.arg("--exit-with-parent");
        command
    }

    /// Refuses what nbdkit would end for, and removes a socket that a killed server left behind.
    pub(super) fn prepare(&self) -> Result<(), Failure> {
        if let Some(keys) = self.keys.as_ref().filter(|keys| !keys.exists()) {
            return Err(Failure::input(
                format!("[tls]: there are no keys at {}", keys.display()),
                "name what is there: a file for psk, a folder for certificates",
            ));
        }
        self.prepare_socket()
    }

    /// Removes a socket that a killed server left behind; refuses one that is in use, or cannot be
    /// made. Nothing else is removed.
    fn prepare_socket(&self) -> Result<(), Failure> {
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
            _ if !folder.is_dir() => refused("has no folder to be in".to_owned()),
            (Ok(found), _) if !found.file_type().is_socket() => {
                refused("cannot be made: something else is there, and stays".to_owned())
            }
            (_, Ok(_)) => Err(Failure::input(
                format!("a server listens at {} already", path.display()),
                "stop it first, or write another socket",
            )),
            (_, Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => {
                // Nobody listens: what is left of a server that was killed.
                fs::remove_file(path).map_err(|error| Failure::environment(&error))
            }
            _ => Ok(()),
        }
    }

    /// Removes the socket of a server that ended, which nbdkit leaves.
    pub(super) fn remove_socket(&self) {
        // Where another one listens already, it is theirs; where it is gone, nothing is left to do.
        let _ = self.prepare_socket();
    }
}

/// As a shell would take it.
impl fmt::Display for ServerCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, argument) in self.arguments.iter().enumerate() {
            let separator = if index == 0 { "" } else { " " };
            let text = argument.to_string_lossy();
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,@%+".contains(c);
            if !text.is_empty() && text.chars().all(is_plain) {
                write!(f, "{separator}{text}")?;
            } else {
                write!(f, "{separator}'{}'", text.replace('\'', r"'\''"))?;
            }
        }
        Ok(())
    }
}

/// Whether the service manager brings the sockets along (`sd_listen_fds`).
pub(super) fn is_activated() -> bool {
    let pid = std::env::var("LISTEN_PID").ok().and_then(|pid| pid.parse::<u32>().ok());
    pid == Some(std::process::id())
}

/// Clients come in elsewhere than whoever controls it.
fn check_control(prepared: &Prepared, file: &Path, socket: &Path) -> Result<(), Failure> {
    let Some(control) = &prepared.file().control else { return Ok(()) };
    if plain(&absolute(&prepared.resolve(control.get_ref()))?) != plain(socket) {
        return Ok(());
    }
    let help = "write for example control = \"serve.ctl\"";
    let fault = FileError::new(control.span(), "this is the socket of its clients", help);
    Err(Failure::in_file(file, prepared.text().to_owned(), &fault))
}

/// Without what leads nowhere: `.` and double separators.
fn plain(path: &Path) -> PathBuf {
    path.components().collect()
}

/// So many that no request within its contract waits unread.
fn threads(prepared: &Prepared, file: &Path) -> Result<u64, Failure> {
    if !prepared.is_proven() {
        // All of it is best effort.
        return Ok(THREADS_BEST_EFFORT);
    }
    let fault = prepared.file().fault_of_contract(
        |contract| outstanding_max(contract) > THREADS_MAX,
        |name, contract| {
            format!(
                "the client of `{name}` may have {} requests outstanding, and a server reads at \
                 most {THREADS_MAX} of a connection at once: what is not read cannot be stamped \
                 with its arrival",
                outstanding_max(contract)
            )
        },
        "ask for fewer requests a period, or a deadline of fewer periods; or make several exports \
         of it",
    );
    if let Some(fault) = fault {
        return Err(Failure::in_file(file, prepared.text().to_owned(), &fault));
    }
    let needed = prepared.file().contracts().map(outstanding_max);
    Ok(needed.chain([THREADS_BEST_EFFORT]).max().unwrap_or(THREADS_BEST_EFFORT))
}

/// The plugin: where the environment says, beside this program, or in `../lib/tidegate`.
fn plugin() -> Result<PathBuf, Failure> {
    // Set to nothing it is as if it were not set.
    if let Some(path) = std::env::var_os("TIDEGATE_PLUGIN").filter(|path| !path.is_empty()) {
        return absolute(Path::new(&path));
    }
    let program = std::env::current_exe().map_err(|error| Failure::environment(&error))?;
    let folder = program.parent().unwrap_or(Path::new("/"));
    let places = [folder.to_owned(), folder.join("../lib/tidegate")];
    let candidates = places.iter().flat_map(|place| PLUGINS.map(|name| place.join(name)));
    candidates.into_iter().find(|path| path.is_file()).ok_or_else(|| {
        Failure::input(
            format!("the plugin {} is not where it belongs", PLUGINS[0]),
            "put it beside this program or in ../lib/tidegate, build it with `make build`, or set \
             TIDEGATE_PLUGIN to its path",
        )
    })
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| Failure::environment(&error))
}

/// nbdkit did not begin.
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
