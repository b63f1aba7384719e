// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The socket at which clients connect: in the file system, at an address, or given by the service
//! manager.

use std::fs;
use std::io;
use std::net::{TcpListener, ToSocketAddrs as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::net::sockopt::{
    set_socket_recv_buffer_size, set_socket_send_buffer_size, set_tcp_nodelay, socket_peercred,
};
use rustix::net::{SocketFlags, acceptfrom_with};

use super::bound::TCP_BUFFER_BYTES;

/// The longest name of a socket, in bytes (`sun_path`).
const SOCKET_BYTES_MAX: usize = 107;

/// The reason why clients cannot connect to a socket.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// The socket's path cannot be used.
    #[error("the socket {} {what}", path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// The reason.
        what: String,
    },
    /// Another server has the socket.
    #[error("a server already listens at {}", path.display())]
    InUse {
        /// The path.
        path: PathBuf,
    },
    /// A system call failed.
    #[error("cannot listen at {place}: {source}")]
    System {
        /// The path or address of the socket.
        place: String,
        /// The system's error.
        source: io::Error,
    },
}

/// A socket at which clients connect; dropping it removes the file that it made.
#[derive(Debug)]
pub struct Listener {
    socket: OwnedFd,
    /// The file that this value made, with its device and inode numbers.
    made: Option<(PathBuf, (u64, u64))>,
}

impl Listener {
    /// Makes a socket in the file system. Replaces the socket of a killed server, and nothing else.
    ///
    /// # Errors
    /// [`ListenError`].
    pub fn at_path(path: &Path) -> Result<Self, ListenError> {
        remove_stale_socket(path)?;
        let system = |source| ListenError::System { place: path.display().to_string(), source };
        let listener = UnixListener::bind(path).map_err(system)?;
        let found = fs::symlink_metadata(path).map_err(system)?;
        let made = Some((path.to_owned(), (found.dev(), found.ino())));
        listener.set_nonblocking(true).map_err(system)?;
        Ok(Self { socket: listener.into(), made })
    }

    /// Refuses a path at which [`Self::at_path`] could not make a socket. It does not change
    /// anything.
    ///
    /// # Errors
    /// [`ListenError`].
    pub fn check_path(path: &Path) -> Result<(), ListenError> {
        is_left_behind(path).map(drop)
    }

    /// Makes a socket at `HOST:PORT`.
    ///
    /// # Errors
    /// [`ListenError`].
    pub fn at_address(address: &str) -> Result<Self, ListenError> {
        let system = |source| ListenError::System { place: address.to_owned(), source };
        let addresses: Vec<_> = address.to_socket_addrs().map_err(system)?.collect();
        let listener = TcpListener::bind(&addresses[..]).map_err(system)?;
        listener.set_nonblocking(true).map_err(system)?;
        Ok(Self { socket: listener.into(), made: None })
    }

    /// Uses a listening socket that another process made.
    ///
    /// # Errors
    /// [`ListenError`].
    pub fn given(socket: OwnedFd) -> Result<Self, ListenError> {
        let place = "the service manager's socket".to_owned();
        let set = rustix::io::ioctl_fionbio(&socket, true);
        set.map_err(|error| ListenError::System { place, source: error.into() })?;
        Ok(Self { socket, made: None })
    }

    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Accepts a waiting client; returns its socket and its address or process.
    pub(super) fn accept(&self) -> io::Result<(OwnedFd, String)> {
        let (socket, address) = acceptfrom_with(&self.socket, SocketFlags::CLOEXEC)?;
        let address = address.and_then(|it| std::net::SocketAddr::try_from(it).ok());
        let source = match address {
            Some(address) => {
                // Replies are sent when they are ready. Fixed buffers bound the kernel's memory.
                set_tcp_nodelay(&socket, true)?;
                set_socket_send_buffer_size(&socket, TCP_BUFFER_BYTES)?;
                set_socket_recv_buffer_size(&socket, TCP_BUFFER_BYTES)?;
                address.ip().to_string()
            }
            None => match socket_peercred(&socket) {
                Ok(peer) => format!("process {}", peer.pid.as_raw_nonzero()),
                Err(_) => "a process".to_owned(),
            },
        };
        Ok((socket, source))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some((path, identity)) = &self.made {
            let found = fs::symlink_metadata(path);
            if found.is_ok_and(|found| (found.dev(), found.ino()) == *identity) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// Removes the socket of a killed server; refuses a socket that is in use or cannot be made.
/// Removes nothing else.
fn remove_stale_socket(path: &Path) -> Result<(), ListenError> {
    if !is_left_behind(path)? {
        return Ok(());
    }
    let place = path.display().to_string();
    fs::remove_file(path).map_err(|source| ListenError::System { place, source })
}

/// Returns whether the path has the socket of a killed server; refuses a socket that is in use or
/// cannot be made.
fn is_left_behind(path: &Path) -> Result<bool, ListenError> {
    let refused = |what: String| Err(ListenError::Path { path: path.to_owned(), what });
    if path.as_os_str().len() > SOCKET_BYTES_MAX {
        return refused(format!("has a name of more than {SOCKET_BYTES_MAX} bytes"));
    }
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    match (fs::symlink_metadata(path), UnixStream::connect(path)) {
        _ if !folder.is_none_or(Path::is_dir) => {
            refused("is in a folder that does not exist".to_owned())
        }
        (Ok(found), _) if !found.file_type().is_socket() => {
            refused("cannot be created: another file has this name".to_owned())
        }
        (_, Ok(_)) => Err(ListenError::InUse { path: path.to_owned() }),
        // No process listens: a killed server left the socket.
        (_, Err(error)) => Ok(error.kind() == io::ErrorKind::ConnectionRefused),
    }
}
