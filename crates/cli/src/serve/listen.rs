// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Opens the socket where clients connect: the serve file's socket or address, or the socket that
//! the service manager passes.

use std::path::{Path, PathBuf};

use listenfd::ListenFd;
use tidegate_engine::serve::{ListenError, Listener, Prepared};
use tidegate_model::FileError;
use tidegate_model::serve_file::Listen;

use crate::failure::Failure;

/// Opens the listening socket.
pub(super) fn open(prepared: &Prepared, file: &Path) -> Result<Listener, Failure> {
    let mut passed = ListenFd::from_env();
    if passed.len() > 0 {
        let taken = passed.take_unix_listener(0).map(|it| it.map(Into::into));
        let taken = taken.or_else(|_| passed.take_tcp_listener(0).map(|it| it.map(Into::into)));
        let socket = taken.map_err(|error| Failure::environment(&error))?;
        let socket = socket.expect("one was passed");
        return Listener::given(socket).map_err(|error| failure(&error));
    }
    match &prepared.file().listen {
        Listen::Unix(_) => {
            Listener::at_path(&socket_path(prepared, file)?).map_err(|error| failure(&error))
        }
        Listen::Tcp { address, .. } => {
            Listener::at_address(address.get_ref()).map_err(|error| failure(&error))
        }
    }
}

/// Describes the socket or address where clients connect.
pub(super) fn place(prepared: &Prepared, file: &Path) -> Result<String, Failure> {
    match &prepared.file().listen {
        Listen::Unix(_) => Ok(socket_path(prepared, file)?.display().to_string()),
        Listen::Tcp { address, tls } => {
            let how = if tls.is_some() { ", encrypted" } else { "" };
            Ok(format!("{}{how}", address.get_ref()))
        }
    }
}

/// Refuses a socket at which [`open`] could not listen; changes nothing.
pub(super) fn check(prepared: &Prepared, file: &Path) -> Result<(), Failure> {
    match &prepared.file().listen {
        // A socket that the service manager passes replaces the file's.
        _ if std::env::var_os("LISTEN_FDS").is_some() => Ok(()),
        Listen::Unix(_) => {
            Listener::check_path(&socket_path(prepared, file)?).map_err(|error| failure(&error))
        }
        Listen::Tcp { address, .. } => {
            Listener::at_address(address.get_ref()).map(drop).map_err(|error| failure(&error))
        }
    }
}

/// Refuses a control socket that is also the clients' socket.
pub(super) fn check_control(prepared: &Prepared, file: &Path) -> Result<(), Failure> {
    let (Some(control), Listen::Unix(_)) = (&prepared.file().control, &prepared.file().listen)
    else {
        return Ok(());
    };
    let control_path = absolute(&prepared.resolve(control.get_ref()))?;
    if plain(&control_path) != plain(&socket_path(prepared, file)?) {
        return Ok(());
    }
    let help = "write for example control = \"serve.ctl\"";
    let fault = FileError::new(control.span(), "this is the clients' socket", help);
    Err(Failure::in_file(file, prepared.text(), &fault))
}

/// Returns the path of the socket: the path in the serve file, or else a path beside that file.
pub(super) fn socket_path(prepared: &Prepared, file: &Path) -> Result<PathBuf, Failure> {
    match &prepared.file().listen {
        Listen::Unix(Some(named)) => absolute(&prepared.resolve(named.get_ref())),
        Listen::Unix(None) | Listen::Tcp { .. } => absolute(&file.with_extension("sock")),
    }
}

fn failure(error: &ListenError) -> Failure {
    let help = match error {
        ListenError::Path { .. } => "write another socket = \"PATH\" into the serve file",
        ListenError::InUse { .. } => "stop it first, or write another socket",
        _ => return Failure::environment(error),
    };
    Failure::input(error.to_string(), help)
}

/// Returns the path without `.` and repeated separators.
fn plain(path: &Path) -> PathBuf {
    path.components().collect()
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| Failure::environment(&error))
}
