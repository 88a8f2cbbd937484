//! `history`: recorded client histories, judged.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use seedbed_model::Span;
use seedbed_model::history::specifications::{self, Shipped, Work};
use seedbed_model::history::{Budget, Exhausted, Options, Value, Verdict, judge};
use seedbed_reports::history::{self as page, Told};

use crate::abreast::abreast;
use crate::console::{Console, Meter, probe, write_file};
use crate::exit::{self, BadInput, unknown};
use crate::history::assembly::{Assembled, Fail, Meaning, Nil, assemble};
use crate::history::claim::Judge;
use crate::history::events::{Event, Fault};
use crate::history::{Format, edn};
use crate::library;
use crate::stopwatch::Deadline;

/// A larger file is refused before it is read [bytes].
const FILE_BYTES_MAX: u64 = 1 << 30;

/// Flags of `history`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Files of recorded histories
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// What the clients' object is: register, cas-register, multi-register, key-value, soft-key-value, lock,
    /// lease-table, consensus, queue, priority-queue, set, counter, log
    #[arg(long, value_name = "NAME")]
    spec: String,
    /// The object's value at first, as EDN: `nil`, `0`, `"text"` [default: nil for registers, "" for key-value]
    #[arg(long, value_name = "VALUE")]
    initial: Option<String>,
    /// How the files are written [default: by their names and first signs]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// What is demanded of the order
    #[arg(long, value_name = "JUDGEMENT", default_value = "linearizable")]
    judge: Judge,
    /// What a failed operation means [default: means-differs for jepsen, else means-not-applied]
    #[arg(long, value_name = "MEANING")]
    fail: Option<Fail>,
    /// What a read that was answered nil saw [default: value-if-held for edn, else value]
    #[arg(long, value_name = "MEANING")]
    nil: Option<Nil>,
    /// Judges all keys together
    #[arg(long)]
    no_split: bool,
    /// The most configurations to search
    #[arg(long, value_name = "N", default_value_t = Budget::default().steps)]
    steps: u64,
    /// The most memory of a search [MiB]
    #[arg(long, value_name = "MIB", default_value_t = Budget::default().bytes >> 20)]
    memory: u64,
    /// The most time for each file
    #[arg(long, value_name = "SPAN")]
    budget: Option<Span>,
    /// Threads, a file each; no result depends on their number [default: one for each processor]
    #[arg(long, value_name = "N", env = "SEEDBED_JOBS", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Draws the intervals: of the contradiction, or of everything
    #[arg(long)]
    draw: bool,
    /// Writes the picture of the last file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Writes a page of the last file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl Args {
    fn jobs(&self) -> usize {
        self.jobs.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from)
    }
}

pub(crate) fn run(args: &Args, console: &mut Console<'_>) -> Result<u8, BadInput> {
    probe(args.files.iter().map(PathBuf::as_path), [&args.svg, &args.html])?;
    if !specifications::NAMES.contains(&args.spec.as_str()) {
        return Err(BadInput::flag(format!(
            "--spec: {}",
            unknown("specification", &args.spec, &specifications::NAMES)
        )));
    }
    let initial = args.initial.as_deref().map(edn::one).transpose();
    let initial = initial.map_err(|why| BadInput::flag(format!("--initial: {why}")))?;
    let job = Judging { args, initial, is_over: AtomicBool::new(false) };
    let mut codes = Vec::new();
    job.all(console, &mut |told, console| {
        codes.push(told.code);
        console.say(&told.text)
    })?;
    Ok(exit::lowest(codes))
}

/// What is said of one file.
struct Said {
    text: String,
    code: u8,
    svg: Option<String>,
    html: Option<String>,
}

/// Files on their way through workers.
struct Judging<'a> {
    args: &'a Args,
    initial: Option<Value>,
    /// Nobody waits for more.
    is_over: AtomicBool,
}

impl Judging<'_> {
    /// Judges the files on `--jobs` threads and hands on what is said of each in their order, up to the first that is
    /// refused.
    fn all(
        &self,
        console: &mut Console<'_>,
        say: &mut dyn FnMut(&Said, &mut Console<'_>) -> Result<(), BadInput>,
    ) -> Result<(), BadInput> {
        let files = &self.args.files;
        let meter = match files.as_slice() {
            [one] => console.meter(&one.display().to_string(), None),
            _ => console.meter("histories", Some(files.len() as u64)),
        };
        // One file is measured by what is searched, several by how many are done.
        let searched = Some(&meter).filter(|_| files.len() == 1);
        let mut last = None;
        let work = |_: usize, path: &PathBuf| self.file(path, searched);
        abreast(files, self.args.jobs(), &self.is_over, work, |index, said| {
            say(&said, console)?;
            last = Some(said);
            if files.len() > 1 {
                meter.at(index as u64 + 1);
            }
            Ok(())
        })?;
        let Some(last) = last else { return Ok(()) };
        for (path, picture) in [(&self.args.svg, &last.svg), (&self.args.html, &last.html)] {
            if let (Some(path), Some(picture)) = (path, picture) {
                write_file(path, picture)?;
            }
        }
        Ok(())
    }

    fn file(&self, path: &Path, meter: Option<&Meter>) -> Result<Said, BadInput> {
        let args = self.args;
        let name = path.display().to_string();
        let text = text(path, &name)?;
        let format = args.format.unwrap_or_else(|| Format::guess(&name, &text));
        let usual = format.meaning();
        let meaning = Meaning { fail: args.fail.unwrap_or(usual.fail), nil: args.nil.unwrap_or(usual.nil) };
        let refused = |fault: Fault| match fault.line {
            0 => BadInput::file(&name, fault.why),
            line => BadInput::file(format!("{name}:{line}"), fault.why),
        };
        let events = format.read(&text).map_err(refused)?;
        drop(text);
        let job = Job { args, events: &events, meaning, meter, is_over: &self.is_over };
        let judged = specifications::with(&args.spec, self.initial.clone(), job);
        let judged = judged.map_err(|why| BadInput::flag(format!("--initial: {why}")))?;
        let Judged { assembled, verdict } = judged.map_err(refused)?;
        let told = told(args, &name, &assembled, &verdict);
        let mut text = page::text(&told);
        if args.draw {
            text.push_str(&page::diagram(&told));
        }
        let is_last = args.files.last().is_some_and(|last| last == path);
        let picture = |wanted: &Option<PathBuf>, draw: fn(&Told<'_>) -> String| {
            wanted.as_ref().filter(|_| is_last).map(|_| draw(&told))
        };
        let (svg, html) = (picture(&args.svg, page::svg), picture(&args.html, page::html));
        Ok(Said { text, code: code_of(&verdict), svg, html })
    }
}

fn code_of(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Ordered(_) => exit::EXPECTED,
        Verdict::Violated(_) => exit::HISTORY,
        Verdict::Unknown(_) => exit::UNKNOWN,
    }
}

fn text(path: &Path, name: &str) -> Result<String, BadInput> {
    let refused = |error: std::io::Error| BadInput::file(name, format!("read the file: {error}"));
    let length = std::fs::metadata(path).map_err(refused)?.len();
    if length > FILE_BYTES_MAX {
        return Err(BadInput::file(name, format!("the file has {length} bytes; at most {FILE_BYTES_MAX} are read")));
    }
    library::read(path).map(|source| source.text)
}

struct Judged {
    assembled: Assembled,
    verdict: Verdict,
}

/// Assembling and judging, under any specification.
struct Job<'a> {
    args: &'a Args,
    events: &'a [Event],
    meaning: Meaning,
    meter: Option<&'a Meter>,
    is_over: &'a AtomicBool,
}

impl Work for Job<'_> {
    type Result = Result<Judged, Fault>;

    fn on<S: Shipped>(self, specification: &S) -> Self::Result {
        let args = self.args;
        let judgement = args.judge.judgement();
        let assembled = assemble(specification, self.events, self.meaning, judgement)?;
        let deadline = Deadline::after(args.budget);
        let budget = Budget { steps: args.steps, bytes: args.memory.saturating_mul(1 << 20) };
        let options = Options { judgement, split: !args.no_split, piece: true, budget };
        let verdict = judge(specification, &assembled.history, &options, &mut |steps| {
            if let Some(meter) = self.meter {
                meter.at(steps);
            }
            !deadline.is_over() && !self.is_over.load(Ordering::Relaxed)
        });
        Ok(Judged { assembled, verdict })
    }
}

fn told<'a>(args: &Args, name: &'a str, assembled: &'a Assembled, verdict: &'a Verdict) -> Told<'a> {
    Told {
        name,
        specification: args.spec.clone(),
        judgement: args.judge.judgement().name(),
        intervals: assembled.history.intervals(),
        lines: &assembled.lines,
        unknown_count: assembled.unknown_count,
        verdict,
        exhausted: match verdict {
            Verdict::Unknown(Exhausted::Stopped) => {
                Some(format!("time ran out after {}", args.budget.map(|span| span.to_string()).unwrap_or_default()))
            }
            Verdict::Unknown(Exhausted::Steps(steps)) => Some(format!("{steps} configurations searched (--steps)")),
            Verdict::Unknown(Exhausted::Bytes(bytes)) => Some(format!("{} MiB used (--memory)", bytes >> 20)),
            _ => None,
        },
    }
}
