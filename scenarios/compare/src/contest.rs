//! One kind of work, done by several contenders in turns, and the table of what it took them.

use std::path::{Path, PathBuf};

use crate::meter::{self, Cost, Metered};

/// One that does the work.
#[derive(Debug, Clone)]
pub struct Contender {
    /// Its name.
    pub name: String,
    /// Whether it is one of Seedbed's peers.
    pub is_peer: bool,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Finds in what it printed how much it did.
    pub done: fn(&str) -> Option<Done>,
}

/// How much was done, in the two units of the contest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Done {
    /// Different states, or fresh runs.
    pub first: u64,
    /// Transitions, or messages.
    pub second: u64,
}

/// What the table compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// The time that the same work took all of them.
    Work,
    /// How much they did a second, in the first unit of [`Done`] with this name.
    First(&'static str),
    /// The same in the second unit.
    Second(&'static str),
}

/// Some work and its contenders, or why one cannot take part.
#[derive(Debug)]
pub struct Contest {
    /// What is done.
    pub title: String,
    /// What is compared.
    pub unit: Unit,
    /// Who does it: the first is what all are compared with.
    pub contenders: Vec<Result<Contender, String>>,
    /// The name of one that has one job. Two of it at once, neither knowing of the other, are what the machine has for two jobs:
    /// its cores may share more than they show.
    pub twice: Option<&'static str>,
}

/// What a contender took: medians, each of its own.
struct Row<'c> {
    contender: &'c Contender,
    done: Done,
    wall: f64,
    cpu: f64,
    peak_mib: f64,
}

impl Contest {
    /// Has each contender do its work `count` times, all in turns, so that what changes on the machine meanwhile meets
    /// all of them; and makes the table. `ourselves` is the program that can meter.
    ///
    /// # Errors
    /// If one fails, does not say how much it did, or does not do the same each time; and, where the work is the same for
    /// all, if one saw another number of states. Transitions may differ: not all count those that change nothing.
    pub fn hold(&self, ourselves: &Path, count: usize) -> Result<String, String> {
        let contenders: Vec<&Contender> = self.contenders.iter().flatten().collect();
        let twice = contenders.iter().find(|contender| self.twice == Some(&contender.name));
        let mut runs: Vec<Vec<Metered>> = vec![Vec::new(); contenders.len()];
        let mut seconds_of_two = Vec::new();
        for _ in 0..count {
            for (contender, runs) in contenders.iter().zip(&mut runs) {
                runs.push(meter::run(ourselves, &contender.program, &contender.arguments)?);
            }
            if let Some(contender) = twice {
                seconds_of_two.push(two_at_once(ourselves, contender)?);
            }
        }
        let rows: Vec<Row<'_>> =
            contenders.iter().zip(&runs).map(|(contender, runs)| Row::of(contender, runs)).collect::<Result<_, _>>()?;
        if let (Unit::Work, Some(odd)) = (self.unit, rows.iter().find(|row| row.done.first != rows[0].done.first)) {
            let (name, first) = (&odd.contender.name, &rows[0].contender.name);
            return Err(format!("compare {}: {name} saw {:?}, {first} saw {:?}", self.title, odd.done, rows[0].done));
        }
        let mut table = self.table(&rows);
        if let Some(row) = rows.iter().find(|row| self.twice == Some(&row.contender.name)) {
            let times = 2.0 * row.wall / median(seconds_of_two);
            let name = &row.contender.name;
            let told = format!("two of {name} at once do {times:.2} times as much as one");
            table.push_str(&format!("\n{told}: what this machine has for two jobs"));
        }
        Ok(table)
    }

    fn table(&self, rows: &[Row<'_>]) -> String {
        let mut lines = vec![self.title.clone()];
        lines.push(match self.unit {
            Unit::Work => format!(
                "{:<18} {:>11} {:>12} {:>8} {:>8} {:>9} {:>8} {:>8} {:>8}",
                "", "states", "transitions", "wall s", "CPU s", "peak MiB", "x first", "x best", "CPU x best"
            ),
            Unit::First(unit) | Unit::Second(unit) => {
                format!(
                    "{:<18} {:>12} {:>8} {:>9} {:>16} {:>8}",
                    "", unit, "CPU s", "peak MiB", "a CPU second", "x first"
                )
            }
        });
        lines.extend(rows.iter().map(|row| self.line(row, rows)));
        lines.extend(self.contenders.iter().filter_map(|contender| contender.as_ref().err()).cloned());
        lines.join("\n")
    }

    fn line(&self, row: &Row<'_>, rows: &[Row<'_>]) -> String {
        let name = &row.contender.name;
        if self.unit != Unit::Work {
            let done = self.amount(row);
            let ratio = (done as f64 / row.cpu) / (self.amount(&rows[0]) as f64 / rows[0].cpu);
            let (cpu, peak, rate) = (row.cpu, row.peak_mib, done as f64 / row.cpu);
            return format!("{name:<18} {done:>12} {cpu:>8.2} {peak:>9.0} {rate:>16.0} {ratio:>8.2}");
        }
        let peers = || rows.iter().filter(|row| row.contender.is_peer);
        let best_wall = peers().map(|row| row.wall).fold(f64::INFINITY, f64::min);
        let best_cpu = peers().map(|row| row.cpu).fold(f64::INFINITY, f64::min);
        format!(
            "{name:<18} {:>11} {:>12} {:>8.2} {:>8.2} {:>9.0} {:>8.2} {:>8.2} {:>8.2}",
            row.done.first,
            row.done.second,
            row.wall,
            row.cpu,
            row.peak_mib,
            rows[0].wall / row.wall,
            best_wall / row.wall,
            best_cpu / row.cpu
        )
    }

    fn amount(&self, row: &Row<'_>) -> u64 {
        if let Unit::First(_) = self.unit { row.done.first } else { row.done.second }
    }
}

/// Runs two of the contender at once: the seconds until both are done.
fn two_at_once(ourselves: &Path, contender: &Contender) -> Result<f64, String> {
    let run = || meter::run(ourselves, &contender.program, &contender.arguments);
    let (one, other) = std::thread::scope(|scope| {
        let other = scope.spawn(run);
        (run(), other.join().expect("a run is metered, or an error"))
    });
    Ok(one?.cost.wall.max(other?.cost.wall).as_secs_f64())
}

impl<'c> Row<'c> {
    fn of(contender: &'c Contender, runs: &[Metered]) -> Result<Self, String> {
        let name = &contender.name;
        let mut done = runs.iter().map(|run| {
            (contender.done)(&run.printed)
                .ok_or_else(|| format!("read how much {name} did: it printed {}", run.printed))
        });
        let first = done.next().ok_or_else(|| format!("run {name} not even once"))??;
        for other in done {
            if other? != first {
                return Err(format!("compare {name}: it did not do the same each time"));
            }
        }
        let median_of = |value: fn(&Cost) -> f64| median(runs.iter().map(|run| value(&run.cost)).collect());
        Ok(Row {
            contender,
            done: first,
            wall: median_of(|cost| cost.wall.as_secs_f64()),
            cpu: median_of(|cost| cost.cpu.as_secs_f64()),
            peak_mib: median_of(|cost| cost.peak_kib as f64 / 1024.0),
        })
    }
}

/// The one in the middle; of two, the greater.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Reads `NAME=NUMBER NAME=NUMBER`, as Seedbed's contenders and those on madsim and turmoil print.
pub fn two_numbers(printed: &str) -> Option<Done> {
    let mut numbers = printed.split_whitespace().map(|word| word.split_once('=')?.1.parse().ok());
    Some(Done { first: numbers.next()??, second: numbers.next()?? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(name: &str, text: &str) -> Contender {
        let arguments = vec!["-c".into(), format!("echo {text}")];
        Contender { name: name.into(), is_peer: true, program: "sh".into(), arguments, done: two_numbers }
    }

    fn row(contender: &Contender, seconds: &[u64]) -> String {
        let run = |seconds: &u64| {
            let time = std::time::Duration::from_secs(*seconds);
            Metered { cost: Cost { wall: time, cpu: 2 * time, peak_kib: 2048 }, printed: "runs=3 messages=60".into() }
        };
        let runs: Vec<Metered> = seconds.iter().map(run).collect();
        let row = Row::of(contender, &runs).expect("it did the same each time");
        let contest =
            Contest { title: "t".into(), unit: Unit::Second("messages"), contenders: Vec::new(), twice: None };
        contest.line(&row, &[Row::of(contender, &runs[..1]).expect("a run")])
    }

    #[test]
    fn a_line_has_the_median_and_the_ratio_to_the_first() {
        let line = row(&says("a", ""), &[10, 1, 5]);
        assert_eq!(line.split_whitespace().collect::<Vec<_>>(), ["a", "60", "10.00", "2", "6", "2.00"]);
    }

    #[test]
    fn what_was_done_is_read() {
        assert_eq!(two_numbers("unique=3 total=4\n"), Some(Done { first: 3, second: 4 }));
        assert_eq!(two_numbers("unique=3"), None);
        assert_eq!(two_numbers("nothing"), None);
    }
}
