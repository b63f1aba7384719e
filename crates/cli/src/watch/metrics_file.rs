// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The file with the metrics of a watch, for the textfile collector of `node_exporter`.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;
use std::time::{Duration, Instant};

use tidegate_metrics::Format;
use tidegate_platform::NewFile;
use tidegate_report::figures::count;
use tidegate_watch::{Session, metrics};

use crate::arguments::WatchArguments;
use crate::failure::Failure;
use crate::show;

/// The interval between two versions of the file.
const WRITTEN: Duration = Duration::from_secs(1);
/// The first characters of the file.
const BEGINNING: &str = "# HELP tidegate_watch_";

/// The file, and the time at which it is written next.
pub(super) struct MetricsFile {
    file: NewFile,
    next: Instant,
    /// The number of times that the file could not be written.
    failed: usize,
    /// Whether failures are reported only at the end.
    is_quiet: bool,
}

impl MetricsFile {
    /// Prepares the file; `None` if the user requested none.
    pub(super) fn of(arguments: &WatchArguments) -> Result<Option<Self>, Failure> {
        let Some(path) = &arguments.metrics else { return Ok(None) };
        let file = Self::prepare(path)?;
        if path.extension().is_none_or(|it| it != "prom") {
            show::complain(format_args!(
                "the collector of `node_exporter` reads only files whose names end in `.prom`, not {}",
                path.display()
            ));
        }
        Ok(Some(file))
    }

    /// Prepares the file. An existing file must come from an earlier watch.
    fn prepare(path: &Path) -> Result<Self, Failure> {
        check_free(path)?;
        let file = NewFile::numbered(path).map_err(|fault| Failure::of_file(&fault))?;
        Ok(Self { file, next: Instant::now(), failed: 0, is_quiet: false })
    }

    /// Returns whether a second has passed since the file was written.
    pub(super) fn is_due(&self) -> bool {
        Instant::now() >= self.next
    }

    /// Delays reports until the end, because the screen shows a live view.
    pub(super) fn be_quiet(&mut self) {
        self.is_quiet = true;
    }

    /// Writes the metrics of a watch: a reader sees either the old text or the new one. A failure
    /// does not end the watch: the first one is reported, and the next second's text is tried
    /// again.
    pub(super) fn write(&mut self, session: &Session, device: &str) {
        if let Err(failure) = self.try_write(session, device)
            && self.failed == 1
            && !self.is_quiet
        {
            show::complain(format_args!(
                "{}; the watch goes on and tries again each second",
                failure.message()
            ));
        }
    }

    fn try_write(&mut self, session: &Session, device: &str) -> Result<(), Failure> {
        let page = metrics(device, &session.seen(), session.tells_class());
        self.put(&page.into_text(Format::Prometheus))
    }

    fn put(&mut self, text: &str) -> Result<(), Failure> {
        self.next = Instant::now() + WRITTEN;
        let written = check_free(&self.file.path).and_then(|()| {
            let written = self.file.refresh(text);
            written.map_err(|error| Failure::of_file(&self.file.unwritable(error)))
        });
        self.failed += usize::from(written.is_err());
        written
    }

    /// Writes the last text, and reports how many texts could not be written.
    pub(super) fn finish(mut self, session: &Session, device: &str) -> Result<(), Failure> {
        let last = self.try_write(session, device);
        if self.failed > 0 {
            let (name, times) = (self.file.name(), count(self.failed, "time"));
            show::complain(format_args!("{name} could not be written {times}"));
        }
        last
    }
}

/// Refuses a path that holds anything but a file of an earlier watch. It opens only regular files:
/// opening a FIFO can block forever, and replacing a device or a link would destroy it.
fn check_free(path: &Path) -> Result<(), Failure> {
    let is_free = match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => has_beginning(path).unwrap_or(false),
        // For a folder, `NewFile` has its own advice.
        Ok(found) => found.is_dir(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    if is_free {
        return Ok(());
    }
    Err(Failure::input(
        format!("{} is not a file with metrics of an earlier watch", path.display()),
        "name a new file: other files, links and devices are never replaced",
    ))
}

/// Returns whether a file begins as the text of a watch does.
fn has_beginning(path: &Path) -> io::Result<bool> {
    let mut found = [0; BEGINNING.len()];
    match File::open(path)?.read_exact(&mut found) {
        Ok(()) => Ok(found == *BEGINNING.as_bytes()),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use tidegate_model::{Duration as Span, Time};
    use tidegate_watch::{ProcessTable, Watcher};

    use super::*;

    const NEW: &str = "# HELP tidegate_watch_info The new text.\n";

    /// Goal: a watch recognizes its own file.
    #[test]
    fn each_page_begins_as_expected() {
        let watcher = Watcher::new(Time::ZERO, ProcessTable::new("/proc"), None, None);
        let page = metrics("sdb", &watcher.seen(Time::ZERO + Span::from_ms(1)), true);
        let text = page.into_text(Format::Prometheus);
        assert!(text.starts_with(BEGINNING), "{text}");
    }

    /// Goal: only a file of an earlier watch is replaced.
    #[test]
    fn other_files_are_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for (name, text, is_replaced) in [
            ("a.prom", Some("# HELP tidegate_watch_info ..\n"), true),
            ("b.prom", Some(""), false),
            ("c.prom", None, true),
            ("d.prom", Some("# HELP node_time_seconds ..\n"), false),
            ("missing/e.prom", None, false),
        ] {
            if let Some(text) = text {
                fs::write(path(name), text).unwrap();
            }
            let file = MetricsFile::prepare(&path(name));
            assert_eq!(file.is_ok(), is_replaced, "{name}");
            let Ok(mut file) = file else { continue };
            file.put(NEW).unwrap();
            file.put(NEW).unwrap();
            assert_eq!(fs::read_to_string(path(name)).unwrap(), NEW);
        }
        assert!(MetricsFile::prepare(folder.path()).is_err(), "a folder");
    }

    /// Goal: only regular files are opened or replaced, even if another kind of file appears during
    /// the watch. Method: a FIFO without a writer; opening it would block forever.
    #[test]
    fn links_devices_and_pipes_are_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("own.prom"), NEW).unwrap();
        symlink(path("own.prom"), path("link.prom")).unwrap();
        symlink("/dev/null", path("null.prom")).unwrap();
        let made = Command::new("mkfifo").arg(path("fifo.prom")).status().unwrap();
        assert!(made.success());
        let mut later = MetricsFile::prepare(&path("later.prom")).unwrap();
        fs::rename(path("fifo.prom"), path("later.prom")).unwrap();
        assert!(later.put(NEW).is_err() && later.failed == 1);
        for there in ["link.prom", "null.prom", "later.prom", "/dev/null", "/dev/zero"] {
            let before = fs::symlink_metadata(path(there)).unwrap().file_type();
            assert!(MetricsFile::prepare(&path(there)).is_err(), "{there}");
            assert_eq!(fs::symlink_metadata(path(there)).unwrap().file_type(), before, "{there}");
        }
    }

    /// Goal: a text that cannot be written is counted, and the next one can succeed.
    #[test]
    fn a_failure_is_not_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let mut file = MetricsFile::prepare(&inner.join("a.prom")).unwrap();
        fs::remove_dir(&inner).unwrap();
        assert!(file.put(NEW).is_err());
        fs::create_dir(&inner).unwrap();
        file.put(NEW).unwrap();
        assert_eq!(
            (file.failed, fs::read_to_string(inner.join("a.prom")).unwrap()),
            (1, NEW.into())
        );
    }
}
