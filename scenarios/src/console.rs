//! Where a command's words go: results, errors, progress; and files, written whole or not at all.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use indicatif::{HumanCount, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::exit::BadInput;

/// The streams of a command.
pub(crate) struct Console<'a> {
    out: &'a mut dyn Write,
    meters: Meters,
}

impl<'a> Console<'a> {
    /// Results go to `out`; `draws` says whether progress may be drawn on the error stream. It is not, unless that is a
    /// terminal.
    pub(crate) fn new(out: &'a mut dyn Write, draws: bool) -> Self {
        Console { out, meters: Meters::new(draws) }
    }

    /// Results, as they are: no colour, no control characters.
    ///
    /// # Errors
    /// If the stream is full or closed. A reader that has seen enough (`| head`) ends the command quietly instead.
    pub(crate) fn say(&mut self, text: &str) -> Result<(), BadInput> {
        let out = &mut self.out;
        match self.meters.bars.suspend(|| out.write_all(text.as_bytes()).and_then(|()| out.flush())) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(BadInput::flag(format!("write the results: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// A meter of work, `total` if it is known.
    pub(crate) fn meter(&self, what: &str, total: Option<u64>) -> Meter {
        self.meters.meter(what, total)
    }

    /// Where several meters are read at once.
    pub(crate) fn meters(&self) -> Meters {
        self.meters.clone()
    }
}

/// Meters, one below the other.
#[derive(Debug, Clone)]
pub(crate) struct Meters {
    bars: MultiProgress,
}

impl Meters {
    fn new(draws: bool) -> Self {
        let target = if draws { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Meters { bars: MultiProgress::with_draw_target(target) }
    }

    /// A meter of work, `total` if it is known.
    pub(crate) fn meter(&self, what: &str, total: Option<u64>) -> Meter {
        let bar = self.bars.add(ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden()));
        let template = match total {
            Some(_) => "{prefix} {bar:24} {human_pos} of {human_len}, {rate}, {eta} left {msg}",
            None => "{prefix} {spinner} {human_pos}, {rate} {msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.with_key("rate", rate));
        }
        bar.set_prefix(what.to_owned());
        Meter { bar }
    }
}

/// How much is done in a second: as a whole number, where one says enough.
fn rate(state: &ProgressState, out: &mut dyn std::fmt::Write) {
    let each_second = state.per_sec();
    // What a line of progress cannot take is not shown.
    let _ = match each_second {
        0.0..10.0 => write!(out, "{each_second:.1}/s"),
        _ => write!(out, "{}/s", HumanCount(each_second as u64)),
    };
}

/// Progress with a rate and what is left; drawn on a terminal alone, and gone at the end.
pub(crate) struct Meter {
    bar: ProgressBar,
}

impl Meter {
    pub(crate) fn at(&self, done: u64) {
        self.bar.set_position(done);
    }

    pub(crate) fn note(&self, text: String) {
        self.bar.set_message(text);
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Makes sure that results can be written there, each to a place of its own, before the work that they are the result of.
/// `inputs` are what the command reads, files or not.
///
/// # Errors
/// If a folder does not exist or cannot be written, a path is a folder, two of them lead to one file, or one to an input.
pub(crate) fn probe<'p, 'i>(
    inputs: impl IntoIterator<Item = &'i Path>,
    paths: impl IntoIterator<Item = &'p Option<PathBuf>>,
) -> Result<(), BadInput> {
    let inputs: Vec<PathBuf> = inputs.into_iter().filter_map(|path| std::fs::canonicalize(path).ok()).collect();
    let mut targets: Vec<PathBuf> = Vec::new();
    for path in paths.into_iter().flatten() {
        probe_one(path)?;
        let target = target(path);
        if inputs.contains(&target) && !is_stream(&target) {
            return Err(BadInput::file(
                path.display().to_string(),
                "this file is read, and a result would replace it; name another for the result",
            ));
        }
        if targets.contains(&target) && !is_stream(&target) {
            return Err(BadInput::file(
                path.display().to_string(),
                "two results go to this file; name another for one",
            ));
        }
        targets.push(target);
    }
    Ok(())
}

fn probe_one(path: &Path) -> Result<(), BadInput> {
    if path.is_dir() {
        return Err(BadInput::file(path.display().to_string(), "write the file: it is a folder"));
    }
    let target = target(path);
    if is_stream(&target) {
        return Ok(());
    }
    let part = part(&target);
    let probed = std::fs::write(&part, "").and_then(|()| std::fs::remove_file(&part));
    probed.map_err(|error| unwritten(path, &error))
}

fn unwritten(path: &Path, error: &std::io::Error) -> BadInput {
    let folder = path.parent().filter(|folder| error.kind() == ErrorKind::NotFound && !folder.exists());
    let why = folder
        .map_or_else(|| error.to_string(), |folder| format!("there is no folder {}; make it first", folder.display()));
    BadInput::file(path.display().to_string(), format!("write the file: {why}"))
}

/// Where a file is written before it is renamed.
pub(crate) fn part(path: &Path) -> PathBuf {
    let mut name = path.file_name().map(|name| name.to_os_string()).unwrap_or_default();
    name.push(".part");
    path.with_file_name(name)
}

/// Writes a file under a temporary name beside it and renames it: nobody ever reads half of it. A link stays one, and what it
/// points to is replaced; a device or a pipe is written to as it is.
///
/// # Errors
/// If the folder does not exist, cannot be written or is full.
pub(crate) fn write_file(path: &Path, text: &str) -> Result<(), BadInput> {
    let refused = |error: std::io::Error| unwritten(path, &error);
    let target = target(path);
    if is_stream(&target) {
        let opened = File::options().write(true).open(&target);
        return opened.and_then(|mut stream| stream.write_all(text.as_bytes())).map_err(refused);
    }
    let part = part(&target);
    let written = write_through(&part, text).and_then(|()| std::fs::rename(&part, &target));
    written.map_err(|error| {
        // The half that may lie there is of no use; that it cannot be removed either changes nothing.
        let _ = std::fs::remove_file(&part);
        refused(error)
    })
}

/// Where a path leads: through links, if there is anything at their end.
fn target(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Whether there is something that is no file: it cannot be replaced by one.
fn is_stream(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Writes a file through to the disk: else a machine that dies after the rename may come back with an empty one.
fn write_through(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn links_and_devices_stay_what_they_are() {
        let folder = std::env::temp_dir().join(format!("seedbed-links-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (file, link) = (folder.join("result.json"), folder.join("link.json"));
        std::fs::write(&file, "old").unwrap();
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_file(&link, "new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "new");
        let device = folder.join("device");
        let _ = std::fs::remove_file(&device);
        std::os::unix::fs::symlink("/dev/null", &device).unwrap();
        probe([], [&Some(device.clone())]).unwrap();
        write_file(&device, "x").unwrap();
        assert!(is_stream(Path::new("/dev/null")) && device.is_symlink());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn no_result_replaces_what_is_read_by_whatever_name() {
        let folder = std::env::temp_dir().join(format!("seedbed-inputs-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (read, link) = (folder.join("read.json"), folder.join("link.json"));
        std::fs::write(&read, "kept").unwrap();
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(&read, &link).unwrap();
        for result in [&read, &link] {
            let refused = probe([read.as_path()], [&Some(result.clone())]).unwrap_err().to_string();
            assert!(refused.contains("a result would replace it"), "{refused}");
        }
        probe([read.as_path(), Path::new("echo/lossy")], [&Some(folder.join("other.json"))]).unwrap();
        assert_eq!(std::fs::read_to_string(&read).unwrap(), "kept");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_is_written_whole_and_leaves_no_part_behind() {
        let folder = std::env::temp_dir().join(format!("seedbed-console-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("result.json");
        write_file(&path, "one").unwrap();
        write_file(&path, "two").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
        let refused = write_file(&folder.join("none/result.json"), "x").unwrap_err().to_string();
        assert!(refused.contains("none/result.json: write the file: there is no folder "), "{refused}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
