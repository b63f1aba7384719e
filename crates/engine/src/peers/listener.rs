// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Listeners for peers: a socket in the file system that only its owner may use, or a port.

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

/// A socket that listens.
pub(crate) trait Listener: AsFd + Send + 'static {
    /// One peer.
    type Stream: Read + Write + AsFd + Send;

    /// Whoever waits, if anybody; neither this nor the stream ever blocks.
    fn accept(&self) -> io::Result<Self::Stream>;

    /// Whether all is well with it, from time to time.
    fn look(&mut self, _say: &dyn Fn(&str)) {}
}

/// A port.
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

/// A socket in the file system; its file goes with it.
#[derive(Debug)]
pub(crate) struct PathListener {
    listener: UnixListener,
    path: PathBuf,
    /// Device and number of the file that we made.
    identity: (u64, u64),
    is_lost: bool,
}

impl PathListener {
    /// A socket of mode 0600 at `path`, in the place of one that nobody listens at.
    ///
    /// Linux makes the file of a socket with the socket's own mode, less the umask: set before
    /// `bind`, it holds from the instant at which the file exists, and no other thread's files
    /// are touched by a umask that is changed for a moment.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        make_way(path)?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
        bind(&socket, &SocketAddrUnix::new(path)?)?;
        let metadata = fs::symlink_metadata(path)?;
        let identity = (metadata.dev(), metadata.ino());
        let listener =
            Self { listener: socket.into(), path: path.to_owned(), identity, is_lost: false };
        // Were a kernel to do otherwise, nobody has been let in yet.
        if metadata.mode() & 0o177 != 0 {
            return Err(Error::other("the file system does not keep others out of a socket"));
        }
        listen(&listener.listener, i32::try_from(PEERS_MAX).expect("a few"))?;
        Ok(listener)
    }

    fn is_there(&self) -> bool {
        let found = fs::symlink_metadata(&self.path);
        found.is_ok_and(|found| (found.dev(), found.ino()) == self.identity)
    }
}

/// Removes a socket that was left behind, and nothing else.
fn make_way(path: &Path) -> io::Result<()> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(()) };
    if !metadata.file_type().is_socket() {
        return Err(Error::new(ErrorKind::AlreadyExists, "something else is there"));
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => fs::remove_file(path),
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
        // What is in its place is somebody's, and is waited for until it goes.
        let made =
            if is_removed { Self::open(&self.path) } else { Err(ErrorKind::AlreadyExists.into()) };
        match made {
            Ok(listener) => {
                // Those inside stay; the old one goes without its file.
                *self = listener;
                say(&format!(
                    "warning: the control socket {} was removed: serving goes on, and it was made \
                     again",
                    self.path.display()
                ));
            }
            Err(error) if !self.is_lost => {
                self.is_lost = true;
                say(&format!(
                    "warning: the control socket {} was removed: serving goes on, and nobody can \
                     reach it there ({error}): make room for it, and it is made again",
                    self.path.display()
                ));
            }
            Err(_) => {}
        }
    }
}
