// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Where the data are and where clients come in, as it is written.

use std::net::{IpAddr, SocketAddr};
use std::ops::Range;

use toml::Spanned;

use super::raw::RawTls;
use super::{BackingReference, Listen, Named, Tls};
use crate::file_error::FileError;
use crate::units::Duration;

/// The store.
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
            "a store belongs to a simulated drive; `backing` holds its own data",
            "leave the line out, or write simulate = \"DRIVE\" instead of backing",
        )),
        (Some(backing), Some(_), _) => Err(FileError::new(
            backing.span(),
            "both a backing and a simulated drive",
            "keep one of the two",
        )),
        (None, None, _) => Err(FileError::new(
            0..0,
            "no store to serve",
            "add backing = \"/dev/sdX\" or a file, or simulate = \"DRIVE\"",
        )),
    }
}

/// The longest time that a service looks before it blocks: more is a processor given away.
const BUSY_POLL_MAX: Duration = Duration::from_ms(1);

/// How long the service looks before it blocks.
pub(super) fn read_busy_poll(
    backing: &BackingReference,
    busy_poll: Option<Spanned<Duration>>,
) -> Result<Duration, FileError> {
    let Some(busy_poll) = busy_poll else { return Ok(Duration::ZERO) };
    let (fault, help) = match (backing, *busy_poll.get_ref()) {
        (BackingReference::Simulated { .. }, _) => {
            ("a simulated drive has nothing to look for", "leave the line out")
        }
        (_, time) if time > BUSY_POLL_MAX => (
            "a processor would do nothing but look, before each time the service blocks",
            "write at most \"1ms\": a little more than a read takes on the drive is enough",
        ),
        (_, time) => return Ok(time),
    };
    Err(FileError::new(busy_poll.span(), fault, help))
}

/// A simulated drive behaves as its own file says, so no other may stand for it in the proof.
pub(super) fn check_drive(
    backing: &BackingReference,
    named: Option<&Named>,
) -> Result<(), FileError> {
    match (backing, named) {
        (BackingReference::Simulated { drive, .. }, Some(named))
            if drive.get_ref() != named.get_ref() =>
        {
            let message = format!(
                "`{}` is simulated, and `{}` would be what is proved",
                drive.get_ref(),
                named.get_ref()
            );
            let help = "the simulated drive is its own drive: leave `drive` out";
            Err(FileError::new(named.span(), message, help))
        }
        _ => Ok(()),
    }
}

/// The way in.
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
            "both a socket and an address to listen at",
            "keep one of the two",
        )),
        (Some(socket), None, None) if socket.get_ref().is_empty() => Err(FileError::new(
            socket.span(),
            "a socket without a name",
            "write for example socket = \"serve.sock\", or leave the line out",
        )),
        (socket, None, None) => Ok(Listen::Unix(socket)),
        (_, None, Some(_)) => Err(FileError::new(
            tls_span.unwrap_or_default(),
            "[tls] without listen: a socket in the file system is guarded by its permissions",
            "leave [tls] out, or write listen = \"ADDRESS:PORT\"",
        )),
        (None, Some(address), tls) => {
            let is_loopback = check_address(&address)?;
            if tls.is_none() && !is_loopback {
                return Err(FileError::new(
                    address.span(),
                    "anybody who reaches this address could read and write the store",
                    "add [tls] with psk or certificates, or listen at 127.0.0.1",
                ));
            }
            Ok(Listen::Tcp { address, tls })
        }
    }
}

/// Whether only this machine reaches the address, which has a host and a port from 1 on.
fn check_address(address: &Named) -> Result<bool, FileError> {
    let fault = |message: &str, help: String| Err(FileError::new(address.span(), message, help));
    let text = address.get_ref();
    let Some((host, port)) = text.rsplit_once(':') else {
        let help = format!("write for example listen = \"{text}:10809\"");
        return fault("an address without a port", help);
    };
    if !port.parse::<u16>().is_ok_and(|port| port > 0) {
        let help = format!("write 1 to 65535, for example listen = \"{host}:10809\"");
        return fault(&format!("`{port}` is no port"), help);
    }
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    if bare.is_none() && host.contains([':', '[', ']']) {
        let help = "write an IPv6 address in brackets, for example listen = \"[::1]:10809\"";
        return fault("it is not said where the address ends", help.to_owned());
    }
    if host.is_empty() {
        let help = format!("write for example listen = \"127.0.0.1:{port}\"");
        return fault("a port without an address", help);
    }
    let ip = bare.unwrap_or(host).parse::<IpAddr>();
    Ok(host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback()))
}

/// Where the service is controlled from: not where its clients come in.
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
            "control needs a socket of its own",
            "write for example control = \"serve.ctl\"",
        ));
    }
    Ok(Some(control))
}

/// Where metrics are read.
pub(super) fn read_metrics(metrics: Option<Named>) -> Result<Option<SocketAddr>, FileError> {
    let Some(metrics) = metrics else { return Ok(None) };
    let (fault, help) = match metrics.get_ref().parse::<SocketAddr>() {
        Ok(address) if !address.ip().is_loopback() => (
            "metrics are given to this machine only: they tell everything about every export",
            "write metrics = \"127.0.0.1:9464\", and let a proxy guard it for others",
        ),
        Ok(address) if address.port() == 0 => {
            ("nobody would know at which port metrics are", "write a port, for example 9464")
        }
        Ok(address) => return Ok(Some(address)),
        Err(_) => ("no address and port", "write metrics = \"127.0.0.1:9464\""),
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
