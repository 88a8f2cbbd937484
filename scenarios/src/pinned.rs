//! Pinned runs, replayed: same, drifted at a step, or gone.

use seedbed_model::TraceStep;
use seedbed_model::record::PinRecord;

use crate::exit::{self, BadInput};
use crate::face::{Face, Setup};
use crate::file::Source;
use crate::pin::{self, Pin, PinnedScript, Seeded};

/// What a pinned run did this time.
pub(crate) struct Again {
    pub(crate) trace: Vec<TraceStep>,
    /// What was done in each step, in the words of the pin.
    does: Vec<String>,
    digest: u64,
    violations: Vec<String>,
    /// In which steps.
    pub(crate) fell_in: Vec<u64>,
    drift: Option<(usize, String)>,
}

/// How that compares with what it did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// `same`, `drifted`, `gone` or `holds`.
    pub(crate) name: &'static str,
    /// In a sentence.
    pub(crate) words: String,
    pub(crate) code: u8,
}

impl Verdict {
    fn new(name: &'static str, words: String) -> Self {
        let code = if matches!(name, "same" | "holds") { exit::EXPECTED } else { exit::DRIFTED };
        Verdict { name, words, code }
    }
}

/// Replays the pinned run of a protocol that is read from `source`.
///
/// # Errors
/// If it is no pin, or another protocol's.
pub(crate) fn replayed(face: &dyn Face, name: &str, source: &Source) -> Result<PinRecord, BadInput> {
    let pin = Pin::read(source)?;
    if pin.protocol != face.name() {
        return Err(source.whole(format!("a pin of `{}` lies with `{}`; move the file", pin.protocol, face.name())));
    }
    let setup = pin.setup(face, source)?;
    let verdict = match face.describe(&setup) {
        Ok(_) => compare(&pin, &again(face, &setup, &pin).map_err(|why| source.whole(why))?),
        Err(why) => Verdict::new("gone", format!("gone: {why}")),
    };
    Ok(PinRecord {
        name: format!("{}/{name}", face.name()),
        story: pin.story,
        verdict: verdict.name.to_owned(),
        words: verdict.words,
        code: verdict.code,
    })
}

/// Runs a pin again.
pub(crate) fn again(face: &dyn Face, setup: &Setup, pin: &Pin) -> Result<Again, String> {
    match (&pin.script, &pin.seeded) {
        (Some(script), _) => by_name(face, setup, script),
        (None, Some(seeded)) => by_seed(face, setup, seeded),
        (None, None) => Err("a pin holds either a [script] or a [seeded] run".into()),
    }
}

fn by_name(face: &dyn Face, setup: &Setup, script: &PinnedScript) -> Result<Again, String> {
    let exact = face.replay(setup, script)?;
    let (replayed, does) = (exact.replayed, exact.does.iter().map(|done| done.join("; ")).collect());
    let violations: Vec<String> = replayed.violations.into_iter().map(|violation| violation.property).collect();
    let fell_in = last_step(&replayed.trace, !violations.is_empty());
    Ok(Again { trace: replayed.trace, does, digest: replayed.digest, violations, fell_in, drift: replayed.drift })
}

/// The last step, by its number, if something `fell`: a script ends there.
pub(crate) fn last_step(trace: &[TraceStep], fell: bool) -> Vec<u64> {
    trace.last().filter(|_| fell).map(|step| step.step).into_iter().collect()
}

fn by_seed(face: &dyn Face, setup: &Setup, seeded: &Seeded) -> Result<Again, String> {
    let traced = face.trace(setup, &seeded.settings, seeded.seed, None)?;
    let violations = traced.run.violations.iter().map(|found| found.violation.property.clone()).collect();
    let fell_in = traced.run.violations.iter().map(|found| found.step).collect();
    let does = traced.trace.iter().map(pin::words).collect();
    Ok(Again { trace: traced.trace, does, digest: traced.run.digest, violations, fell_in, drift: None })
}

/// Says 'same', 'drifted at step k', or 'gone'; of a bug that is fixed 'holds', or that it is back.
pub(crate) fn compare(pin: &Pin, again: &Again) -> Verdict {
    let property = pin.violation.as_deref();
    let fell = property.is_none_or(|property| again.violations.iter().any(|fell| fell == property));
    let digest = format!("{:016x}", again.digest);
    if let Some(property) = property.filter(|_| pin.fixed) {
        return match fell {
            true => Verdict::new("back", format!("back: {property} falls again, though the bug is marked as fixed")),
            false => Verdict::new("holds", format!("holds: {property} does not fall, as the bug is fixed")),
        };
    }
    if let Some((step, why)) = drift(pin, again) {
        return Verdict::new("drifted", format!("drifted at step {}: {why}", step + 1));
    }
    if let (None, Some(fell)) = (property, again.violations.first()) {
        return Verdict::new(
            "drifted",
            format!("drifted: nothing fell, by the pin, which has no `violation`; {fell} falls"),
        );
    }
    if !fell {
        let property = property.unwrap_or_default();
        return Verdict::new("gone", format!("gone: every step happens, but {property} does not fall"));
    }
    if digest != pin.digest {
        return Verdict::new("drifted", format!("drifted: the digest is {digest}, and was {}", pin.digest));
    }
    let what = property.map_or("no property falls".to_owned(), |property| format!("{property} falls"));
    Verdict::new("same", format!("same: {what}, digest {digest}"))
}

/// The first step that did not happen, or not in the same words.
fn drift(pin: &Pin, again: &Again) -> Option<(usize, String)> {
    let differs = told(pin).into_iter().zip(&again.does).enumerate().find(|(_, (was, is))| was != *is);
    let differs = differs.map(|(index, (was, is))| (index, format!("it was `{was}`, and is `{is}`")));
    match (differs, again.drift.clone()) {
        (Some(a), Some(b)) => Some(if a.0 <= b.0 { a } else { b }),
        (a, b) => a.or(b),
    }
}

/// What a pin says of its steps.
fn told(pin: &Pin) -> Vec<String> {
    match (&pin.script, &pin.seeded) {
        (Some(script), _) => script.steps.iter().map(|step| step.does.join("; ")).collect(),
        (None, Some(seeded)) => seeded.words.clone(),
        (None, None) => Vec::new(),
    }
}
