//! Experiments: what is measured of a protocol's runs while one thing varies, at stated costs, beside what a paper
//! measured.
//!
//! - `file`: how an experiment is written; `measure`: what is measured of a run.

mod file;
mod measure;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use seedbed_model::Span;
use seedbed_model::record::{Curve, ExperimentRecord, Header, Milli, Plot, Point, Shown};
use seedbed_sim::{Seed, Settings, sweep_with};
use toml::{Spanned, Table, Value};

pub(crate) use measure::{Axis, Measure, measured};

use crate::console::Console;
use crate::exit::{self, BadInput, unknown};
use crate::face::{Face, Setup, fits};
use crate::file::Source;
use crate::library;
use file::{ExperimentFile, PlotEntry, Scaled, Shows, Target};
use measure::Quantity;

/// An experiment that fits its protocol.
pub(crate) struct Experiment<'f> {
    face: &'f dyn Face,
    /// `protocol/experiment`.
    pub(crate) name: String,
    pub(crate) title: String,
    source: String,
    story: String,
    seeds: crate::seeds::SeedRange,
    label: String,
    is_logarithmic: bool,
    axis: Axis,
    lines: Vec<Line>,
    plots: Vec<PlotEntry>,
    measures: Vec<Measure>,
    shows: Vec<Shows>,
}

/// What runs for one curve.
struct Line {
    name: String,
    places: Vec<Place>,
}

/// What runs for one point of a curve, or for all of them.
struct Place {
    ats: Vec<Milli>,
    setup: Setup,
    settings: Settings,
}

impl<'f> Experiment<'f> {
    /// # Errors
    /// What in the file makes no sense, with its place.
    pub(crate) fn read(face: &'f dyn Face, name: &str, source: &Source) -> Result<Self, BadInput> {
        let file: ExperimentFile = toml::from_str(&source.text).map_err(|error| source.refused(&error))?;
        library::same_protocol(face, &file.protocol, source)?;
        let axis = axis(&file, source)?;
        let lines = lines(face, &file, &axis, source)?;
        let plots: Vec<PlotEntry> = file.plot.iter().map(|plot| plot.get_ref().clone()).collect();
        let nodes = nodes(face, &lines, source)?;
        let measures = file.plot.iter().map(|plot| measure(plot, &nodes, &axis, source)).collect::<Result<_, _>>()?;
        for shows in &file.shows {
            known(shows, &lines, &plots, source)?;
        }
        Ok(Experiment {
            face,
            name: format!("{}/{name}", face.name()),
            title: file.title,
            source: file.source,
            story: file.story,
            seeds: file.seeds,
            label: match (&axis, &file.vary) {
                (Axis::Settings, vary) => vary.as_ref().map(|vary| vary.label.clone()).unwrap_or_default(),
                (Axis::Time(_), _) => "time [s]".into(),
                (Axis::Shares(_), _) => "share of the operations [%]".into(),
            },
            is_logarithmic: file.vary.is_some_and(|vary| vary.logarithmic),
            axis,
            lines,
            plots,
            measures,
            shows: file.shows.into_iter().map(Spanned::into_inner).collect(),
        })
    }

    /// Runs all of it.
    ///
    /// # Errors
    /// What the protocol refuses, or a run that falls: nothing is measured of a broken protocol.
    pub(crate) fn run(&self, revision: &str, jobs: usize, console: &Console<'_>) -> Result<ExperimentRecord, BadInput> {
        let places: Vec<&Place> = self.lines.iter().flat_map(|line| &line.places).collect();
        let (seeds, count) = (self.seeds, self.seeds.count());
        let total = places.len() as u64 * count;
        let meter = console.meter(&self.name, Some(total));
        let one = |number: u64| {
            let place = places[(number / count) as usize];
            let seed = Seed::Number(seeds.from + number % count);
            self.face.measure(&place.setup, &place.settings, seed, &self.measures, &self.axis)
        };
        let mut values: Vec<Vec<Vec<Option<u64>>>> = Vec::new();
        let mut refused = None;
        sweep_with(&one, 0..total, jobs, &mut |measured| {
            meter.at(values.len() as u64 + 1);
            match measured.and_then(|measured| measured.of_a_whole_run()) {
                Ok(found) => values.push(found),
                Err(why) => refused = Some(why),
            }
            if refused.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if let Some(why) = refused {
            return Err(BadInput::file(&self.name, why));
        }
        let plots = self.plots.iter().enumerate().map(|(index, plot)| self.plot(index, plot, &values)).collect();
        let mut record = ExperimentRecord {
            header: Header::new("experiment", revision),
            name: self.name.clone(),
            title: self.title.clone(),
            source: self.source.clone(),
            story: self.story.clone(),
            seeds: count,
            label: self.label.clone(),
            is_logarithmic: self.is_logarithmic,
            plots,
            shown: Vec::new(),
            code: exit::EXPECTED,
        };
        record.shown = self.shows.iter().map(|shows| shown(shows, &record.plots)).collect();
        if record.shown.iter().any(|shown| !shown.holds) {
            record.code = exit::UNSHOWN;
        }
        Ok(record)
    }

    /// `values[place * seeds + seed][measure][k]`, with `k` along the axis.
    fn plot(&self, index: usize, plot: &PlotEntry, values: &[Vec<Vec<Option<u64>>>]) -> Plot {
        let mut by_place = values.chunks(self.seeds.count() as usize);
        let mut curve = |line: &Line| {
            let points = line.places.iter().flat_map(|place| {
                let found = by_place.next().unwrap_or_default();
                place.ats.iter().enumerate().filter_map(move |(k, at)| {
                    let divisor = if plot.each { at.0.max(1_000) } else { 1_000 };
                    let each = |value: u64| (u128::from(value) * 1_000 / u128::from(divisor)) as u64;
                    point(*at, found.iter().map(|values| values[index][k].map(each)))
                })
            });
            Curve { name: line.name.clone(), points: points.collect() }
        };
        let curves = self.lines.iter().map(&mut curve).collect();
        let paper = plot.paper.iter().map(|paper| {
            let point = |(at, value): &(u64, u64)| {
                let value = Milli(value * 1_000);
                Point { at: Milli(at * 1_000), mean: value, least: value, most: value }
            };
            Curve { name: paper.name.clone(), points: paper.points.iter().map(point).collect() }
        });
        Plot {
            name: plot.name.clone(),
            title: plot.title.clone(),
            unit: plot.measure.unit().to_owned(),
            is_logarithmic: plot.logarithmic,
            curves,
            paper: paper.collect(),
        }
    }
}

/// The point of all seeds; `None` where one of them has nothing to measure.
fn point(at: Milli, values: impl Iterator<Item = Option<u64>>) -> Option<Point> {
    let values = values.collect::<Option<Vec<u64>>>()?;
    let (least, most) = (*values.iter().min()?, *values.iter().max()?);
    let mean = values.iter().sum::<u64>() / values.len() as u64;
    Some(Point { at, mean: Milli(mean), least: Milli(least), most: Milli(most) })
}

/// Along what the runs are measured.
fn axis(file: &ExperimentFile, source: &Source) -> Result<Axis, BadInput> {
    let advice =
        "an experiment has something to `vary`, or is measured `over` slices of `time` or `shares` of operations";
    match (&file.vary, &file.over) {
        (Some(vary), None) if !vary.values.is_empty() && !vary.sets.is_empty() => Ok(Axis::Settings),
        (None, Some(over)) => match (over.time, over.shares.as_slice()) {
            (Some(slice), []) if slice > Span::ZERO => Ok(Axis::Time(slice)),
            (None, shares) if !shares.is_empty() && shares.is_sorted() && shares.iter().all(|share| *share <= 100) => {
                Ok(Axis::Shares(shares.to_vec()))
            }
            _ => Err(source.whole("`over` has `time`, a span, or `shares`, growing per cents")),
        },
        _ => Err(source.whole(advice)),
    }
}

fn lines(face: &dyn Face, file: &ExperimentFile, axis: &Axis, source: &Source) -> Result<Vec<Line>, BadInput> {
    if file.line.is_empty() || file.plot.is_empty() {
        return Err(source.whole("an experiment has a `[[line]]` and a `[[plot]]`"));
    }
    let mut lines: Vec<Line> = Vec::new();
    for entry in &file.line {
        let line = entry.get_ref();
        if lines.iter().any(|other| other.name == line.name) {
            return Err(source.at(entry.span(), format!("two lines are named `{}`", line.name)));
        }
        let tables = [over(&file.params, &line.params), over(&file.settings, &line.settings)];
        let place = |tables: [Table; 2], at: Option<u64>| {
            let [params, settings] = tables;
            let refused = |why: String| {
                let place = at.map(|at| format!(" at {at}")).unwrap_or_default();
                source.at(entry.span(), format!("`{}`{place}: {why}", line.name))
            };
            let settings: Settings =
                settings.try_into().map_err(|error: toml::de::Error| refused(error.message().to_owned()))?;
            settings.check().map_err(refused)?;
            let setup = Setup { params, ..Setup::default() };
            face.describe(&setup).map_err(refused)?;
            Ok(Place { ats: ats(axis, at, &settings), setup, settings })
        };
        let mut places = Vec::new();
        for value in file.vary.iter().flat_map(|vary| &vary.values) {
            let at = value.get_ref().as_integer().and_then(|number| u64::try_from(number).ok());
            let at = at.ok_or_else(|| source.at(value.span(), "what varies takes whole numbers from 0"))?;
            if line.upto.is_some_and(|upto| at > upto) {
                continue;
            }
            let mut tables = tables.clone();
            for target in file.vary.iter().flat_map(|vary| &vary.sets).chain(&line.sets) {
                set(&mut tables, target.get_ref(), value.get_ref()).map_err(|why| source.at(target.span(), why))?;
            }
            places.push(place(tables, Some(at))?);
        }
        if *axis != Axis::Settings {
            places.push(place(tables, None)?);
        }
        lines.push(Line { name: line.name.clone(), places });
    }
    Ok(lines)
}

/// Where on the axis a run is measured.
fn ats(axis: &Axis, at: Option<u64>, settings: &Settings) -> Vec<Milli> {
    match axis {
        Axis::Settings => at.into_iter().map(|at| Milli(at * 1_000)).collect(),
        Axis::Time(slice) => {
            let count = (settings.duration + settings.quiet).0.div_ceil(slice.0);
            (1..=count).map(|number| Milli(slice.0 * number / Span::millis(1).0)).collect()
        }
        Axis::Shares(shares) => shares.iter().map(|share| Milli(share * 1_000)).collect(),
    }
}

/// `over` on top of `under`, at any depth.
fn over(under: &Table, over: &Table) -> Table {
    let mut table = under.clone();
    for (key, value) in over {
        let merged = match (table.get(key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => Value::Table(self::over(below, above)),
            _ => value.clone(),
        };
        table.insert(key.clone(), merged);
    }
    table
}

/// Sets what the target names in parameters or settings.
fn set([params, settings]: &mut [Table; 2], target: &Target, value: &Value) -> Result<(), String> {
    let scaled = |scaled: &Scaled| {
        let number = value.as_integer().and_then(|number| number.checked_mul(i64::from(scaled.times)))?;
        Some(Value::Integer(number.checked_div(i64::from(scaled.by))?))
    };
    let (path, value) = match target {
        Target::Same(path) => (path.as_str(), value.clone()),
        Target::Scaled(scale) => {
            let value = scaled(scale).ok_or_else(|| format!("{value} times {} by {}", scale.times, scale.by))?;
            (scale.path.as_str(), value)
        }
    };
    let advice = || format!("`{path}` leads nowhere; write `params.` or `settings.` and the names that lead there");
    let (root, rest) = path.split_once('.').ok_or_else(advice)?;
    let mut table = match root {
        "params" => params,
        "settings" => settings,
        _ => return Err(advice()),
    };
    let mut keys = rest.split('.').peekable();
    while let Some(key) = keys.next() {
        if keys.peek().is_none() {
            table.insert(key.to_owned(), value);
            return Ok(());
        }
        let below = table.entry(key).or_insert_with(|| Value::Table(Table::new()));
        table = below.as_table_mut().ok_or_else(advice)?;
    }
    Err(advice())
}

/// The names of all nodes of all that runs.
fn nodes(face: &dyn Face, lines: &[Line], source: &Source) -> Result<BTreeSet<String>, BadInput> {
    let mut nodes = BTreeSet::new();
    for place in lines.iter().flat_map(|line| &line.places) {
        nodes.extend(face.describe(&place.setup).map_err(|why| source.whole(why))?.nodes);
    }
    Ok(nodes)
}

fn measure(
    plot: &Spanned<PlotEntry>,
    nodes: &BTreeSet<String>,
    axis: &Axis,
    source: &Source,
) -> Result<Measure, BadInput> {
    let entry = plot.get_ref();
    if let Some(name) = entry.nodes.iter().find(|name| !nodes.iter().any(|node| fits(name, node))) {
        let known: BTreeSet<String> = nodes.iter().map(|node| any_like(node)).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        return Err(source.at(plot.span(), unknown("node", name, &known)));
    }
    let (needs_from, needs_to) = entry.measure.needs();
    if needs_from && entry.from.is_none() || needs_to && entry.to.is_none() {
        let marks = if needs_from { "the marks `from` and `to`" } else { "the mark `to`" };
        return Err(source.at(plot.span(), format!("the plot `{}` needs {marks}", entry.name)));
    }
    let misplaced = |why| source.at(plot.span(), format!("the plot `{}`: {why}", entry.name));
    entry.measure.along(axis).map_err(misplaced)?;
    if *axis != Axis::Settings && (entry.each || entry.peak) {
        return Err(misplaced("`each` and `peak` are of what varies from run to run"));
    }
    let is_limited = entry.after.is_some() || entry.before.is_some();
    if is_limited && matches!(entry.measure, Quantity::Span | Quantity::State) {
        return Err(misplaced("`after` and `before` are no limits of a `span` or of the `state` at the end"));
    }
    Ok(Measure {
        after: entry.after.unwrap_or(Span::ZERO),
        before: entry.before.unwrap_or(Span(u64::MAX)),
        quantity: entry.measure,
        from: entry.from.clone(),
        to: entry.to.clone(),
        nodes: entry.nodes.clone(),
        peak: entry.peak,
    })
}

/// A node and all that differ from it by their numbers alone: thousands of nodes in a word.
fn any_like(node: &str) -> String {
    let stem = node.trim_end_matches(|sign: char| sign.is_ascii_digit());
    if stem.len() < node.len() { format!("{stem}*") } else { node.to_owned() }
}

/// Whether what is to be shown is about plots and lines that there are.
fn known(shows: &Spanned<Shows>, lines: &[Line], plots: &[PlotEntry], source: &Source) -> Result<(), BadInput> {
    let entry = shows.get_ref();
    let names: Vec<&str> = plots.iter().map(|plot| plot.name.as_str()).collect();
    if !names.contains(&entry.plot.as_str()) {
        return Err(source.at(shows.span(), unknown("plot", &entry.plot, &names)));
    }
    let names: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
    let asked = [Some(&entry.line), entry.minus.as_ref(), entry.percent_of.as_ref()];
    if let Some(name) = asked.into_iter().flatten().find(|name| !names.contains(&name.as_str())) {
        return Err(source.at(shows.span(), unknown("line", name, &names)));
    }
    if entry.least.is_none() && entry.most.is_none() || entry.minus.is_some() && entry.percent_of.is_some() {
        return Err(
            source.at(shows.span(), "write `least`, `most` or both, and one of `minus` and `percent-of` at most")
        );
    }
    if entry.least.zip(entry.most).is_some_and(|(least, most)| least > most) {
        return Err(source.at(shows.span(), "`least` is more than `most`"));
    }
    Ok(())
}

/// What was found of something that is to be shown. Where nothing was measured nothing is shown.
fn shown(shows: &Shows, plots: &[Plot]) -> Shown {
    let plot = plots.iter().find(|plot| plot.name == shows.plot);
    let curve = |name: &str| plot.and_then(|plot| plot.curves.iter().find(|curve| curve.name == name));
    let mean = |name: &str, at: Milli| {
        let point = curve(name)?.points.iter().find(|point| point.at == at)?;
        Some(i128::from(point.mean.0))
    };
    let is_within = |at: Milli| {
        shows.from.is_none_or(|from| at.0 >= from * 1_000) && shows.upto.is_none_or(|upto| at.0 <= upto * 1_000)
    };
    let points = curve(&shows.line).map(|curve| curve.points.as_slice()).unwrap_or_default();
    let value = |point: &Point| {
        let own = i128::from(point.mean.0);
        match (&shows.minus, &shows.percent_of) {
            (Some(other), _) => mean(other, point.at).map(|other| own - other),
            (_, Some(other)) => mean(other, point.at).filter(|other| *other > 0).map(|other| own * 100_000 / other),
            _ => Some(own),
        }
    };
    let found: Vec<i128> = points.iter().filter(|point| is_within(point.at)).filter_map(value).collect();
    let unit = match (&shows.percent_of, plot) {
        (Some(other), _) => format!(" % of {other}"),
        (None, Some(plot)) if !plot.unit.is_empty() => format!(" {}", plot.unit),
        _ => String::new(),
    };
    let wanted = match (shows.least, shows.most) {
        (Some(least), Some(most)) => format!("{least} to {most}{unit}"),
        (Some(least), None) => format!("at least {least}{unit}"),
        (None, Some(most)) => format!("at most {most}{unit}"),
        (None, None) => String::new(),
    };
    let Some((low, high)) = found.iter().min().zip(found.iter().max()) else {
        return Shown {
            what: shows.what.clone(),
            found: format!("nothing was measured; wanted {wanted}"),
            holds: false,
        };
    };
    let holds = shows.least.is_none_or(|least| *low >= i128::from(least) * 1_000)
        && shows.most.is_none_or(|most| *high <= i128::from(most) * 1_000);
    let decimal = |value: i128| {
        let sign = if value < 0 { "-" } else { "" };
        format!("{sign}{}.{}", value.abs() / 1_000, value.abs() % 1_000 / 100)
    };
    Shown {
        what: shows.what.clone(),
        found: format!("{} to {}{unit}; wanted {wanted}", decimal(*low), decimal(*high)),
        holds,
    }
}
