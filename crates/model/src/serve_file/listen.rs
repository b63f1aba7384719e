// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads the location of the data and the address at which clients connect.

use std::net::{IpAddr, SocketAddr};
use std::ops::Range;

use toml::Spanned;

use super::raw::RawTls;
use crate::file_error::FileError;
use crate::units::Duration;

/// A text with its position in the file.
pub type Named = Spanned<String>;

/// The location of the data.
#[derive(Debug, Clone, PartialEq)]
pub enum BackingReference {
    /// A block device or file.
    Path(Named),
    /// A drive that is simulated in real time; its data are in memory, or in the file `store`.
    Simulated {
        /// The simulated drive.
        drive: Named,
        /// The data file; `None` keeps the data in memory.
        store: Option<Named>,
    },
}

/// The address at which clients connect.
#[derive(Debug, Clone, PartialEq)]
pub enum Listen {
    /// A socket in the file system; `None` puts it beside the serve file.
    Unix(Option<Named>),
    /// Address and port.
    Tcp {
        /// The address as written.
        address: Named,
        /// Encryption and authentication of clients; `None` for neither.
        tls: Option<Tls>,
    },
}

/// Encryption of connections; a client without a key or certificate is refused.
#[derive(Debug, Clone, PartialEq)]
pub enum Tls {
    /// A file of names and keys.
    Psk(Named),
    /// A folder with the server's certificate and the certificate of the authority that signed the
    /// clients' certificates.
    Certificates(Named),
}

/// Reads the location of the data.
pub(super) fn read_backing(
    backing: Option<Named>,
    simulate: Option<Named>,
    store: Option<Named>,
) -> Result<BackingReference, FileError> {
    match (backing, simulate, store) {
        (Some(path), None, None) => Ok(BackingReference::Path(path)),
        (None, Some(drive), store) => {
            let store = store.filter(|store| store.get_ref() != "memory");
            Ok(BackingReference::Simulated { drive, store })
        }
        (Some(_), None, Some(store)) => Err(FileError::new(
            store.span(),
            "`store` needs a simulated drive; `backing` holds its own data",
            "delete the line, or write simulate = \"DRIVE\" instead of backing",
        )),
        (Some(backing), Some(_), _) => Err(FileError::new(
            backing.span(),
            "the file has both a backing and a simulated drive",
            "delete one of the two",
        )),
        (None, None, _) => Err(FileError::new(
            0..0,
            "the file names no data to serve",
            "add backing = \"/dev/sdX\" (or a file), or simulate = \"DRIVE\"",
        )),
    }
}

/// The longest time for which the service may poll before it blocks; more would waste a processor.
const BUSY_POLL_MAX: Duration = Duration::from_ms(1);

/// Reads how long the service polls before it blocks.
pub(super) fn read_busy_poll(
    backing: &BackingReference,
    busy_poll: Option<Spanned<Duration>>,
) -> Result<Duration, FileError> {
    let Some(busy_poll) = busy_poll else { return Ok(Duration::ZERO) };
    let (fault, help) = match (backing, *busy_poll.get_ref()) {
        (BackingReference::Simulated { .. }, _) => {
            ("a simulated drive has no completions to poll for", "delete the line")
        }
        (_, time) if time > BUSY_POLL_MAX => (
            "polling longer than 1 ms each time would occupy a whole processor",
            "write at most \"1ms\": a little more than a read takes on the drive is enough",
        ),
        (_, time) => return Ok(time),
    };
    Err(FileError::new(busy_poll.span(), fault, help))
}

/// Checks that a simulated drive is also the drive of the proof, because it behaves as its own file
/// says.
pub(super) fn check_drive(
    backing: &BackingReference,
    named: Option<&Named>,
) -> Result<(), FileError> {
    match (backing, named) {
        (BackingReference::Simulated { drive, .. }, Some(named))
            if drive.get_ref() != named.get_ref() =>
        {
            let message = format!(
                "the file simulates `{}`, but the proof would be for `{}`",
                drive.get_ref(),
                named.get_ref()
            );
            let help = "delete `drive`: the proof is for the simulated drive";
            Err(FileError::new(named.span(), message, help))
        }
        _ => Ok(()),
    }
}

/// Reads the address at which clients connect.
pub(super) fn read_listen(
    socket: Option<Named>,
    listen: Option<Named>,
    tls: Option<Spanned<RawTls>>,
) -> Result<Listen, FileError> {
    let tls_span = tls.as_ref().map(Spanned::span);
    let tls = tls.map(|tls| read_tls(tls.span(), tls.into_inner())).transpose()?;
    match (socket, listen, tls) {
        (Some(_), Some(listen), _) => Err(FileError::new(
            listen.span(),
            "the file has both a socket and an address to listen at",
            "delete one of the two",
        )),
        (Some(socket), None, None) if socket.get_ref().is_empty() => Err(FileError::new(
            socket.span(),
            "the socket has no name",
            "write for example socket = \"serve.sock\", or delete the line",
        )),
        (socket, None, None) => Ok(Listen::Unix(socket)),
        (_, None, Some(_)) => Err(FileError::new(
            tls_span.unwrap_or_default(),
            "[tls] needs listen; file permissions guard a socket in the file system",
            "delete [tls], or write listen = \"ADDRESS:PORT\"",
        )),
        (None, Some(address), tls) => {
            let is_loopback = check_address(&address)?;
            if tls.is_none() && !is_loopback {
                return Err(FileError::new(
                    address.span(),
                    "every client that reaches this address could read and write the data",
                    "add [tls] with psk or certificates, or listen at 127.0.0.1",
                ));
            }
            Ok(Listen::Tcp { address, tls })
        }
    }
}

/// Checks that the address has a host and a port from 1 on, and returns whether only this machine
/// reaches it.
fn check_address(address: &Named) -> Result<bool, FileError> {
    let fault = |message: &str, help: String| Err(FileError::new(address.span(), message, help));
    let text = address.get_ref();
    let Some((host, port)) = text.rsplit_once(':') else {
        let help = format!("write for example listen = \"{text}:10809\"");
        return fault("the address has no port", help);
    };
    if !port.parse::<u16>().is_ok_and(|port| port > 0) {
        let help = format!("write 1 to 65535, for example listen = \"{host}:10809\"");
        return fault(&format!("`{port}` is not a port"), help);
    }
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    if bare.is_none() && host.contains([':', '[', ']']) {
        let help = "write an IPv6 address in brackets, for example listen = \"[::1]:10809\"";
        return fault("the end of the address is ambiguous", help.to_owned());
    }
    if host.is_empty() {
        let help = format!("write for example listen = \"127.0.0.1:{port}\"");
        return fault("the port has no address", help);
    }
    let ip = bare.unwrap_or(host).parse::<IpAddr>();
    Ok(host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback()))
}

/// Reads the control socket, which must differ from the clients' socket.
pub(super) fn read_control(
    control: Option<Named>,
    listen: &Listen,
) -> Result<Option<Named>, FileError> {
    let Some(control) = control else { return Ok(None) };
    let is_taken =
        matches!(listen, Listen::Unix(Some(socket)) if socket.get_ref() == control.get_ref());
    if is_taken || control.get_ref().is_empty() {
        return Err(FileError::new(
            control.span(),
            "control needs a separate socket with a name",
            "write for example control = \"serve.ctl\"",
        ));
    }
    Ok(Some(control))
}

/// Reads the address of the metrics.
pub(super) fn read_metrics(metrics: Option<Named>) -> Result<Option<SocketAddr>, FileError> {
    let Some(metrics) = metrics else { return Ok(None) };
    let (fault, help) = match metrics.get_ref().parse::<SocketAddr>() {
        Ok(address) if !address.ip().is_loopback() => (
            "metrics are served to this machine only, because they describe every export",
            "write metrics = \"127.0.0.1:9464\", and put a guarded proxy in front for others",
        ),
        Ok(address) if address.port() == 0 => {
            ("port 0 is a random port, which no client knows", "write a port, for example 9464")
        }
        Ok(address) => return Ok(Some(address)),
        Err(_) => ("this is not an address with a port", "write metrics = \"127.0.0.1:9464\""),
    };
    Err(FileError::new(metrics.span(), fault, help))
}

fn read_tls(span: Range<usize>, tls: RawTls) -> Result<Tls, FileError> {
    match (tls.psk, tls.certificates) {
        (Some(psk), None) => Ok(Tls::Psk(psk)),
        (None, Some(certificates)) => Ok(Tls::Certificates(certificates)),
        _ => Err(FileError::new(
            span,
            "[tls] needs one of psk and certificates",
            "write psk = \"keys.psk\", or certificates = \"FOLDER\"",
        )),
    }
}
