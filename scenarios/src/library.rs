//! Scenarios and bounds, read and found to fit their protocols.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use seedbed_model::Span;
use seedbed_model::explore::Bounds;
use seedbed_model::record::SourceLine;
use seedbed_sim::{Plan, Settings};
use toml::{Spanned, Table};

use crate::exit::{BadInput, unknown};
use crate::experiment::Experiment;
use crate::face::{self, Described, Face, Setup};
use crate::file::{self, CheckFile, Class, Expect, ScenarioFile, Source};
use crate::params;
use crate::registry::{Entry, Registry};
use crate::seeds::SeedRange;

/// The protocols of a registry with the files that are shipped, and those of a user's folder over them.
pub(crate) struct Library<'r> {
    pub(crate) registry: &'r Registry,
    folder: Option<PathBuf>,
}

/// A scenario that fits its protocol.
#[derive(Clone)]
pub(crate) struct Scenario {
    /// `protocol/scenario`.
    pub(crate) name: String,
    pub(crate) story: String,
    /// Where it says what it expects; `None` if its file is not at hand.
    pub(crate) written: Option<SourceLine>,
    pub(crate) class: Class,
    pub(crate) seeds: SeedRange,
    pub(crate) expect: Expect,
    /// The properties asserted; `None` for all.
    pub(crate) properties: Option<Vec<String>>,
    pub(crate) goals: Vec<String>,
    pub(crate) setup: Setup,
    pub(crate) settings: Settings,
}

/// A bound that fits its protocol.
#[derive(Debug, Clone)]
pub(crate) struct Bound {
    pub(crate) name: String,
    pub(crate) story: String,
    pub(crate) class: Class,
    pub(crate) expect: Expect,
    pub(crate) goals: Vec<String>,
    pub(crate) claims: Vec<String>,
    pub(crate) params: Table,
    pub(crate) bounds: Table,
}

impl<'r> Library<'r> {
    /// # Errors
    /// If the folder is none, or has folders that no protocol is named after.
    pub(crate) fn new(registry: &'r Registry, folder: Option<PathBuf>) -> Result<Self, BadInput> {
        if let Some(folder) = &folder {
            let subs: Vec<PathBuf> = listed(folder)?.into_iter().filter(|path| path.is_dir()).collect();
            if subs.is_empty() {
                let advice =
                    "no scenario is in it: they lie in folders of their protocols' names, <protocol>/<scenario>.toml";
                return Err(BadInput::file(folder.display().to_string(), advice));
            }
            for sub in subs {
                registry
                    .entry(&stem(&sub))
                    .map_err(|error| BadInput::file(sub.display().to_string(), error.to_string()))?;
            }
        }
        Ok(Library { registry, folder })
    }

    /// The protocol's scenarios, in order of name.
    pub(crate) fn scenarios(&self, entry: &Entry) -> Result<Vec<Scenario>, BadInput> {
        let face = entry.face.as_ref();
        let mut sources: Vec<(String, Source)> =
            entry.files.scenarios.iter().map(|(name, text)| shipped(face, name, text)).collect();
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        if let Some(folder) = in_workspace(entry.files.folder) {
            files.extend(sources.iter().map(|(name, _)| (name.clone(), format!("{folder}/{name}.toml"))));
        }
        for path in self.user_files(face)?.into_iter().filter(|path| stem(path) != "check") {
            let name = stem(&path);
            sources.retain(|(other, _)| *other != name);
            files.insert(name.clone(), path.display().to_string());
            sources.push((name, read(&path)?));
        }
        sources.sort_by(|(a, _), (b, _)| a.cmp(b));
        let scenario = |(name, source): &(String, Source)| {
            let mut scenario = scenario(face, name, source)?;
            scenario.written = scenario.written.zip(files.remove(name)).map(|(line, file)| SourceLine { file, ..line });
            Ok(scenario)
        };
        sources.iter().map(scenario).collect()
    }

    /// The protocol's bounds, as its file lists them.
    pub(crate) fn bounds(&self, entry: &Entry) -> Result<Vec<Bound>, BadInput> {
        let face = entry.face.as_ref();
        let own = self.user_files(face)?.into_iter().find(|path| stem(path) == "check");
        let source = match (own, entry.files.check) {
            (Some(path), _) => read(&path)?,
            (None, Some(text)) => shipped(face, "check", text).1,
            (None, None) => return Ok(Vec::new()),
        };
        bounds(face, &source)
    }

    /// The protocol's pinned runs, in order of name: those shipped, and those of the user's folder over them.
    pub(crate) fn pinned(&self, entry: &Entry) -> Result<Vec<(String, Source)>, BadInput> {
        self.in_folder(entry, "pinned", entry.files.pinned)
    }

    fn in_folder(
        &self,
        entry: &Entry,
        folder: &str,
        files: &[(&'static str, &'static str)],
    ) -> Result<Vec<(String, Source)>, BadInput> {
        let face = entry.face.as_ref();
        let source = |(name, text): &(&str, &str)| shipped(face, &format!("{folder}/{name}"), text).1;
        let mut found: Vec<(String, Source)> = files.iter().map(|file| (file.0.to_owned(), source(file))).collect();
        let own = self.folder.as_ref().map(|own| own.join(face.name()).join(folder));
        if let Some(own) = own.filter(|own| own.is_dir()) {
            for path in listed(&own)?.into_iter().filter(|path| path.extension().is_some_and(|it| it == "toml")) {
                found.retain(|(other, _)| *other != stem(&path));
                found.push((stem(&path), read(&path)?));
            }
        }
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(found)
    }

    /// The protocol's experiments, in order of name: those shipped, and those of the user's folder over them.
    pub(crate) fn experiments<'e>(&self, entry: &'e Entry) -> Result<Vec<Experiment<'e>>, BadInput> {
        let face = entry.face.as_ref();
        let files = self.in_folder(entry, "experiments", entry.files.experiments)?;
        files.iter().map(|(name, source)| Experiment::read(face, name, source)).collect()
    }

    fn user_files(&self, face: &dyn Face) -> Result<Vec<PathBuf>, BadInput> {
        let Some(folder) = self.folder.as_ref().map(|folder| folder.join(face.name())).filter(|folder| folder.is_dir())
        else {
            return Ok(Vec::new());
        };
        Ok(listed(&folder)?
            .into_iter()
            .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
            .collect())
    }
}

fn shipped(face: &dyn Face, name: &str, text: &str) -> (String, Source) {
    (name.to_owned(), Source { name: format!("{}/{name}.toml", face.name()), text: text.to_owned() })
}

/// The folder from the root of the workspace, without steps back; `None` if it lies elsewhere, as that of a package from
/// a registry does.
fn in_workspace(folder: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split(['/', '\\']) {
        match part {
            ".." => parts.pop().map(drop)?,
            "." => {}
            part => parts.push(part),
        }
    }
    let is_relative = Path::new(folder).is_relative() && !folder.is_empty();
    is_relative.then(|| parts.join("/"))
}

/// The folder's entries, in order of name.
fn listed(folder: &Path) -> Result<Vec<PathBuf>, BadInput> {
    let refused = |error: std::io::Error| {
        BadInput::file(folder.display().to_string(), format!("read the folder of scenarios: {error}"))
    };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(refused)? {
        paths.push(entry.map_err(refused)?.path());
    }
    paths.sort();
    Ok(paths)
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A file's text.
///
/// # Errors
/// If it cannot be read, or at the first place that is not UTF-8.
pub(crate) fn read(path: &Path) -> Result<Source, BadInput> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| BadInput::file(&name, format!("read the file: {error}")))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source { name, text }),
        Err(error) => {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let before = Source { name, text: String::from_utf8_lossy(valid).into_owned() };
            Err(before.at(valid.len()..valid.len(), "the file is not UTF-8"))
        }
    }
}

fn scenario(face: &dyn Face, name: &str, source: &Source) -> Result<Scenario, BadInput> {
    let refused = |error: toml::de::Error| source.refused(&error);
    let file: ScenarioFile<Table> = toml::from_str(&source.text).map_err(refused)?;
    same_protocol(face, &file.protocol, source)?;
    face.read_scenario(&source.text).map_err(refused)?;
    if !file::is_kebab(name) {
        return Err(
            source.whole(format!("`{name}` is no name of a scenario; write lower-case words joined by hyphens"))
        );
    }
    known_mutants(face, &file.mutants, source)?;
    let params_span = file.params.as_ref().map(Spanned::span).unwrap_or_default();
    let history_span = file.history.as_ref().map(Spanned::span).unwrap_or_default();
    let setup = Setup {
        params: file.params.map(Spanned::into_inner).unwrap_or_default(),
        mutants: names(&file.mutants),
        history: file.history.map(Spanned::into_inner),
    };
    let described = face.describe(&setup).map_err(|why| source.at(params_span, why))?;
    face.check_history(&setup).map_err(|why| source.at(history_span, why))?;
    let settings_span = file.settings.as_ref().map(Spanned::span).unwrap_or_default();
    let settings = file.settings.map(Spanned::into_inner).unwrap_or_default();
    settings.check().map_err(|why| source.at(settings_span, why))?;
    known_nodes(&described, &settings, source)?;
    if let Some(plan) = &settings.plan {
        known_plan(&described, plan, source)?;
    }
    known_expectation(&described, file.expect.as_ref(), source)?;
    for property in file.properties.iter().flatten() {
        known_property(&described, property, source)?;
    }
    let said_at = file.expect.as_ref().map_or(file.protocol.span(), Spanned::span);
    Ok(Scenario {
        name: format!("{}/{name}", face.name()),
        written: Some(SourceLine { file: source.name.clone(), line: source.line(said_at.start) }),
        story: file.story,
        class: file.class,
        seeds: file.seeds,
        expect: file::expectation(file.expect.as_ref()),
        properties: file.properties.as_deref().map(names),
        goals: file.goals,
        setup,
        settings,
    })
}

fn bounds(face: &dyn Face, source: &Source) -> Result<Vec<Bound>, BadInput> {
    let refused = |error: toml::de::Error| source.refused(&error);
    let file: CheckFile = toml::from_str(&source.text).map_err(refused)?;
    same_protocol(face, &file.protocol, source)?;
    face.read_checks(&source.text).map_err(refused)?;
    let mut read: Vec<Bound> = Vec::new();
    for entry in file.bound {
        let name = entry.name.get_ref().clone();
        if !file::is_kebab(&name) {
            return Err(source.at(
                entry.name.span(),
                format!("`{name}` is no name of a bound; write lower-case words joined by hyphens"),
            ));
        }
        if read.iter().any(|other| other.name == name) {
            return Err(
                source.at(entry.name.span(), format!("two bounds are named `{name}`; a bound is chosen by its name"))
            );
        }
        known_mutants(face, &entry.claims, source)?;
        let params = params::merged(file.params.as_ref(), entry.params.as_ref());
        let setup = Setup { params: params.clone(), ..Setup::default() };
        let described =
            face.describe(&setup).map_err(|why| source.at(entry.name.span(), format!("params of `{name}`: {why}")))?;
        known_expectation(&described, entry.expect.as_ref(), source)?;
        let bounds = entry.bounds.unwrap_or_default();
        full_bounds(&bounds).map_err(|why| source.at(entry.name.span(), format!("the bounds of `{name}`: {why}")))?;
        read.push(Bound {
            name,
            story: entry.story,
            class: entry.class,
            expect: file::expectation(entry.expect.as_ref()),
            goals: entry.goals,
            claims: names(&entry.claims),
            params,
            bounds,
        });
    }
    Ok(read)
}

/// A table of bounds with the rest filled in.
pub(crate) fn full_bounds(table: &Table) -> Result<Bounds, String> {
    let bounds: Bounds = table.clone().try_into().map_err(|error: toml::de::Error| error.message().to_owned())?;
    if bounds.tick == Span::ZERO {
        return Err("tick: with 0s no time passes; write more".to_owned());
    }
    Ok(bounds)
}

fn names(spanned: &[Spanned<String>]) -> Vec<String> {
    spanned.iter().map(|name| name.get_ref().clone()).collect()
}

pub(crate) fn same_protocol(face: &dyn Face, written: &Spanned<String>, source: &Source) -> Result<(), BadInput> {
    if written.get_ref() == face.name() {
        return Ok(());
    }
    let message = format!(
        "the protocol is `{}`, but the file lies with `{}`; write that, or move the file",
        written.get_ref(),
        face.name()
    );
    Err(source.at(written.span(), message))
}

fn known_mutants(face: &dyn Face, written: &[Spanned<String>], source: &Source) -> Result<(), BadInput> {
    let known: Vec<&str> = face.mutants().iter().map(|mutant| mutant.name).collect();
    match written.iter().find(|name| !known.contains(&name.get_ref().as_str())) {
        Some(name) => Err(source.at(name.span(), unknown("mutant", name.get_ref(), &known))),
        None => Ok(()),
    }
}

fn known_property(described: &Described, written: &Spanned<String>, source: &Source) -> Result<(), BadInput> {
    let known: Vec<&str> = described.properties.iter().map(|property| property.name).collect();
    if known.contains(&written.get_ref().as_str()) {
        return Ok(());
    }
    Err(source.at(written.span(), unknown("property", written.get_ref(), &known)))
}

fn known_expectation(
    described: &Described,
    written: Option<&Spanned<Expect>>,
    source: &Source,
) -> Result<(), BadInput> {
    match written.map(|expect| (expect.get_ref(), expect.span())) {
        Some((Expect::Violated(property), span)) if property != "panic" => {
            known_property(described, &Spanned::new(span, property.clone()), source)
        }
        _ => Ok(()),
    }
}

/// A plan that makes sense for the protocol's nodes.
///
/// # Errors
/// At the first node that it does not have; about the whole file where the plan contradicts itself.
pub(crate) fn known_plan(described: &Described, plan: &Plan, source: &Source) -> Result<(), BadInput> {
    if let Some(name) = plan.unknown_node(&described.nodes) {
        let known: Vec<&str> = described.nodes.iter().map(String::as_str).collect();
        return Err(source.at_string(name, unknown("node", name, &known)));
    }
    plan.check_for(&described.nodes).map_err(|why| source.whole(why))
}

/// The nodes that faults may hit: names, or beginnings of names with a star.
fn known_nodes(described: &Described, settings: &Settings, source: &Source) -> Result<(), BadInput> {
    let fits = |written: &str| described.nodes.iter().any(|node| face::fits(written, node));
    let known: Vec<&str> = described.nodes.iter().map(String::as_str).collect();
    match settings.faults.nodes.iter().find(|written| !fits(written)) {
        Some(written) => Err(source.at_string(written, unknown("node", written, &known))),
        None => Ok(()),
    }
}
