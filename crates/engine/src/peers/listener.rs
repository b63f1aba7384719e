// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Listeners for peers: a Unix socket that only its owner can use, or a TCP port.

use std::fs;
use std::io::{self, Error, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, fchmod};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with,
};

use super::PEERS_MAX;

/// A listening socket.
pub(crate) trait Listener: AsFd + Send + 'static {
    /// The connection to one peer.
    type Stream: Read + Write + AsFd + Send;

    /// Accepts a waiting peer; neither this call nor the stream ever blocks.
    fn accept(&self) -> io::Result<Self::Stream>;

    /// Checks the listener's state; called at intervals.
    fn look(&mut self, _say: &dyn Fn(&str)) {}
}

/// A TCP port.
#[derive(Debug)]
pub(crate) struct PortListener(TcpListener);

impl PortListener {
    pub(crate) fn open(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self(listener))
    }

    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

impl AsFd for PortListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Listener for PortListener {
    type Stream = TcpStream;

    fn accept(&self) -> io::Result<TcpStream> {
        let (stream, _) = self.0.accept()?;
        stream.set_nonblocking(true)?;
        Ok(stream)
    }
}

/// A Unix socket; dropping it removes its file.
#[derive(Debug)]
pub(crate) struct PathListener {
    listener: UnixListener,
    path: PathBuf,
    /// The device and inode numbers of the file that this value created.
    identity: (u64, u64),
    is_lost: bool,
}

impl PathListener {
    /// Creates a socket of mode 0600 at `path`; replaces a socket that no process listens on.
    ///
    /// Linux creates a socket's file with the socket's own mode, less the umask. The mode is set
    /// before `bind`, so it holds from the instant at which the file exists, and no temporary umask
    /// affects other threads' files.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        remove_stale_socket(path)?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
        bind(&socket, &SocketAddrUnix::new(path)?)?;
        let metadata = fs::symlink_metadata(path)?;
        let identity = (metadata.dev(), metadata.ino());
        let listener =
            Self { listener: socket.into(), path: path.to_owned(), identity, is_lost: false };
        // If a kernel behaves differently, the error comes before any peer is accepted.
        if metadata.mode() & 0o177 != 0 {
            return Err(Error::other("the file system does not restrict a socket to its owner"));
        }
        listen(&listener.listener, i32::try_from(PEERS_MAX).expect("a few"))?;
        Ok(listener)
    }

    /// Refuses a path at which [`Self::open`] could not make a socket; changes nothing.
    pub(crate) fn check(path: &Path) -> io::Result<()> {
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
        folder.map_or(Ok(()), |folder| fs::metadata(folder).map(drop))?;
        SocketAddrUnix::new(path)?;
        is_left_behind(path).map(drop)
    }

    fn is_there(&self) -> bool {
        let found = fs::symlink_metadata(&self.path);
        found.is_ok_and(|found| (found.dev(), found.ino()) == self.identity)
    }
}

/// Removes a leftover socket; refuses to remove anything else.
fn remove_stale_socket(path: &Path) -> io::Result<()> {
    if is_left_behind(path)? { fs::remove_file(path) } else { Ok(()) }
}

/// Returns whether a killed service left the socket behind; refuses a path that is in use.
fn is_left_behind(path: &Path) -> io::Result<bool> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(false) };
    if !metadata.file_type().is_socket() {
        return Err(Error::new(ErrorKind::AlreadyExists, "the path exists and is not a socket"));
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => Ok(true),
        Err(error) => Err(error),
        Ok(_) => Err(Error::new(ErrorKind::AddrInUse, "another service listens there")),
    }
}

impl Drop for PathListener {
    fn drop(&mut self) {
        if self.is_there() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl AsFd for PathListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

impl Listener for PathListener {
    type Stream = UnixStream;

    fn accept(&self) -> io::Result<UnixStream> {
        let (stream, _) = self.listener.accept()?;
        stream.set_nonblocking(true)?;
        Ok(stream)
    }

    fn look(&mut self, say: &dyn Fn(&str)) {
        if self.is_there() {
            return;
        }
        let is_removed = fs::symlink_metadata(&self.path)
            .is_err_and(|error| error.kind() == ErrorKind::NotFound);
        // A file that has replaced the socket is not ours and is not removed.
        let made =
            if is_removed { Self::open(&self.path) } else { Err(ErrorKind::AlreadyExists.into()) };
        match made {
            Ok(listener) => {
                // Existing connections stay open; dropping the old listener removes no file.
                *self = listener;
                say(&format!(
                    "warning: the control socket {} was removed; it was created again",
                    self.path.display()
                ));
            }
            Err(error) if !self.is_lost => {
                self.is_lost = true;
                say(&format!(
                    "warning: the control socket {} was removed and cannot be created again \
                     ({error}): remove what is at that path; until then the service continues \
                     without it",
                    self.path.display()
                ));
            }
            Err(_) => {}
        }
    }
}
