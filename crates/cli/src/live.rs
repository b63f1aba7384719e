// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A live view in the terminal, which runs until the user quits.
//!
//! The terminal is restored however the command ends: a guard restores it on every return, and a
//! panic restores it before it prints its message.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::{DefaultTerminal, Frame};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::failure::Failure;

/// The longest delay until the loop notices a signal.
const NOTICED: Duration = Duration::from_millis(100);

/// The time limit for a view to end after a signal; then the process is ended.
const GRACE: Duration = Duration::from_secs(1);

/// A view that is redrawn regularly.
pub(crate) trait View {
    /// The interval between two calls of [`Self::refresh`].
    const REFRESH: Duration;

    /// Fetches new figures.
    fn refresh(&mut self) -> Result<(), Failure>;

    /// Handles a key that does not end the view.
    fn press(&mut self, _key: char) {}

    /// Draws the view.
    fn draw(&self, frame: &mut Frame<'_>);
}

/// Returns whether a view can be shown.
pub(crate) fn is_possible() -> bool {
    io::stdout().is_terminal() && io::stdin().is_terminal()
}

/// Shows a view until the user quits or a signal arrives.
pub(crate) fn show(view: &mut impl View) -> Result<(), Failure> {
    let ending = Arc::new(Ending::default());
    end_on_signals(Arc::clone(&ending)).map_err(|error| Failure::environment(&error))?;
    let mut terminal = ratatui::try_init().map_err(|error| Failure::environment(&error))?;
    let restoring = Restoring;
    let shown = draw_until_over(&mut terminal, view, &ending.is_asked);
    drop(restoring);
    // From here on a signal need not end the process, because the caller's clean-up takes a bounded
    // time.
    ending.is_over.store(true, Ordering::Relaxed);
    shown
}

/// Whether a view was asked to end, and whether it has ended.
#[derive(Debug, Default)]
struct Ending {
    /// Whether a signal has asked the view to end.
    is_asked: AtomicBool,
    /// Whether the view has ended.
    is_over: AtomicBool,
}

impl Ending {
    /// Asks the view to end; returns whether it ended within `grace`.
    fn ask(&self, grace: Duration) -> bool {
        self.is_asked.store(true, Ordering::Relaxed);
        thread::sleep(grace);
        self.is_over.load(Ordering::Relaxed)
    }
}

/// Asks the view to end when a signal arrives. If the view does not end, because a read of its
/// terminal does not return, the process is ended.
fn end_on_signals(ending: Arc<Ending>) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT])?;
    let wait = move || {
        for signal in signals.forever() {
            if ending.ask(GRACE) {
                continue;
            }
            // This fails if the terminal is gone, where no message could appear either.
            let _ = ratatui::try_restore();
            // This call fails only for signals that do not end a process; these signals do.
            let _ = emulate_default_handler(signal);
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(wait)?;
    Ok(())
}

/// Waits for input; returns `Gone` if the terminal no longer exists. Reading from such a terminal
/// never returns, because crossterm keeps retrying.
fn wait_for_input(pause: Duration) -> io::Result<Input> {
    let stdin = io::stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    let pause = Timespec { tv_sec: 0, tv_nsec: i64::from(pause.subsec_nanos()) };
    match rustix::event::poll(&mut fds, Some(&pause)) {
        // A signal arrived; the loop checks its flag next.
        Err(Errno::INTR) => return Ok(Input::None),
        polled => polled?,
    };
    let events = fds[0].revents();
    Ok(if events.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
        Input::Gone
    } else if events.contains(PollFlags::IN) {
        Input::Ready
    } else {
        Input::None
    })
}

/// The state of the terminal's input after a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    None,
    Ready,
    Gone,
}

/// Restores the terminal when dropped.
struct Restoring;

impl Drop for Restoring {
    fn drop(&mut self) {
        // This fails if the terminal is gone, where no message could appear either.
        let _ = ratatui::try_restore();
    }
}

fn draw_until_over<V: View>(
    terminal: &mut DefaultTerminal,
    view: &mut V,
    is_over: &AtomicBool,
) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::environment(&error);
    let mut next = Instant::now();
    while !is_over.load(Ordering::Relaxed) {
        let now = Instant::now();
        if now >= next {
            view.refresh()?;
            // Updates that were missed during a pause are skipped.
            next = now + V::REFRESH;
        }
        match terminal.draw(|frame| view.draw(frame)) {
            // An I/O error here means that the terminal is gone.
            Err(error) if error.raw_os_error() == Some(Errno::IO.raw_os_error()) => return Ok(()),
            drawn => drawn.map_err(failed)?,
        };
        let pause = next.saturating_duration_since(Instant::now()).min(NOTICED);
        match wait_for_input(pause).map_err(failed)? {
            Input::None => {}
            Input::Gone => return Ok(()),
            Input::Ready => {
                if !event::poll(Duration::ZERO).map_err(failed)? {
                    continue;
                }
                let event = event::read().map_err(failed)?;
                if is_end(&event) {
                    return Ok(());
                }
                if let Some(key) = pressed(&event) {
                    view.press(key);
                }
            }
        }
    }
    Ok(())
}

/// Returns whether a key asks to quit: q, Escape or Ctrl-C.
fn is_end(event: &Event) -> bool {
    let Event::Key(key) = event else { return false };
    let is_ctrl_c = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
    let is_quit = matches!(key.code, KeyCode::Char('q' | 'Q') | KeyCode::Esc);
    key.kind == KeyEventKind::Press && (is_quit || is_ctrl_c)
}

/// Returns the character of a pressed key; `None` for any other event.
fn pressed(event: &Event) -> Option<char> {
    let key = event.as_key_press_event()?;
    key.code.as_char()
}

#[cfg(test)]
mod tests {
    use ratatui::crossterm::event::KeyEvent;

    use super::*;

    /// Goal: a signal does not interrupt clean-up after a view, such as the removal of a trace, but
    /// it does end a view that hangs.
    #[test]
    fn a_view_that_ended_disarms_the_signal() {
        let ending = Ending::default();
        assert!(!ending.ask(Duration::ZERO));
        assert!(ending.is_asked.load(Ordering::Relaxed));
        ending.is_over.store(true, Ordering::Relaxed);
        assert!(ending.ask(Duration::ZERO));
    }

    #[test]
    fn q_escape_and_ctrl_c_end_it_and_nothing_else_does() {
        let key = |code, modifiers| Event::Key(KeyEvent::new(code, modifiers));
        assert!(is_end(&key(KeyCode::Char('q'), KeyModifiers::NONE)));
        assert!(is_end(&key(KeyCode::Esc, KeyModifiers::NONE)));
        assert!(is_end(&key(KeyCode::Char('c'), KeyModifiers::CONTROL)));
        assert!(!is_end(&key(KeyCode::Char('c'), KeyModifiers::NONE)));
        assert!(!is_end(&Event::Resize(80, 24)));
        assert_eq!(pressed(&key(KeyCode::Char('h'), KeyModifiers::NONE)), Some('h'));
        assert_eq!(pressed(&Event::Resize(80, 24)), None);
    }
}
