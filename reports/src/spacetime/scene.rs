//! What there is to draw of a run.

use std::collections::BTreeMap;

use super::Picture;

/// A message on its way. Rows are indices of steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrow {
    /// The sender's lane.
    pub from: usize,
    /// The receiver's lane.
    pub to: usize,
    /// The row it was sent in; `None` if that comes before the picture.
    pub sent: Option<usize>,
    /// The row it arrived in, or was lost in; `None` if it is on its way at the end.
    pub arrived: Option<usize>,
    /// What it says.
    pub message: String,
    /// Whether it was lost.
    pub is_lost: bool,
    /// Whether what arrived is a copy: the message stays on its way.
    pub is_copy: bool,
}

/// Rows in which something holds at a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// The lane.
    pub lane: usize,
    /// The other end of a link, for what is wrong with a link.
    pub other: Option<usize>,
    /// What it is: a timer's name, or what is wrong.
    pub what: String,
    /// The row it begins in.
    pub from: usize,
    /// The row it ends in; `None` if it holds at the end.
    pub to: Option<usize>,
}

/// A run, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scene {
    /// Messages, in the order they were sent.
    pub arrows: Vec<Arrow>,
    /// Where a node is down or paused, or a link is cut.
    pub bands: Vec<Stretch>,
    /// Where a timer is set.
    pub bars: Vec<Stretch>,
}

/// Takes a run apart.
pub fn scene(picture: &Picture<'_>) -> Scene {
    let mut scene = Scene::default();
    let mut open = Open::default();
    for row in 0..picture.steps.len() {
        open.arrivals(picture, row, &mut scene);
        open.bands(picture, row, &mut scene);
        open.timers(picture, row, &mut scene);
        open.sends(picture, row, &mut scene);
    }
    scene
}

/// What has begun and not ended, by its index in the scene.
#[derive(Default)]
struct Open {
    /// By sender, receiver and text; the first sent is the first to arrive.
    flight: BTreeMap<(usize, usize, String), Vec<usize>>,
    bands: BTreeMap<(usize, Option<usize>, &'static str), usize>,
    timers: BTreeMap<(usize, String), usize>,
}

impl Open {
    fn arrivals(&mut self, picture: &Picture<'_>, row: usize, scene: &mut Scene) {
        let step = &picture.steps[row];
        let (Some(node), Some(from), Some(message)) = (step.node, step.from, &step.message) else { return };
        let (from, to) = (usize::from(from), usize::from(node));
        let (is_lost, is_copy) = (step.kind == "lose", step.kind == "duplicate");
        let flying = self.flight.entry((from, to, message.clone())).or_default();
        match (flying.is_empty(), is_copy) {
            (false, false) => {
                let arrow = &mut scene.arrows[flying.remove(0)];
                (arrow.arrived, arrow.is_lost) = (Some(row), is_lost);
            }
            (is_unknown, _) => {
                let sent = if is_unknown { None } else { scene.arrows[flying[0]].sent };
                let message = message.clone();
                scene.arrows.push(Arrow { from, to, sent, arrived: Some(row), message, is_lost, is_copy });
            }
        }
    }

    fn sends(&mut self, picture: &Picture<'_>, row: usize, scene: &mut Scene) {
        let step = &picture.steps[row];
        let Some(node) = step.node else { return };
        for sent in &step.sends {
            let (from, to) = (usize::from(node), usize::from(sent.to));
            self.flight.entry((from, to, sent.message.clone())).or_default().push(scene.arrows.len());
            scene.arrows.push(Arrow {
                from,
                to,
                sent: Some(row),
                arrived: None,
                message: sent.message.clone(),
                is_lost: false,
                is_copy: false,
            });
        }
    }

    fn bands(&mut self, picture: &Picture<'_>, row: usize, scene: &mut Scene) {
        let step = &picture.steps[row];
        let Some(lane) = step.node.map(usize::from) else { return };
        let other = step.from.map(usize::from);
        match step.kind.as_str() {
            "crash" | "tear" => self.begin(scene, (lane, None, "down"), row),
            "restart" => self.end(scene, (lane, None, "down"), row),
            "pause" => self.begin(scene, (lane, None, "paused"), row),
            "resume" => self.end(scene, (lane, None, "paused"), row),
            "cut" => self.begin(scene, (lane, other, "cut off"), row),
            "heal" => self.end(scene, (lane, other, "cut off"), row),
            _ => {}
        }
    }

    fn begin(&mut self, scene: &mut Scene, key: (usize, Option<usize>, &'static str), row: usize) {
        let (lane, other, what) = key;
        self.bands.entry(key).or_insert(scene.bands.len());
        scene.bands.push(Stretch { lane, other, what: what.to_owned(), from: row, to: None });
    }

    fn end(&mut self, scene: &mut Scene, key: (usize, Option<usize>, &'static str), row: usize) {
        if let Some(index) = self.bands.remove(&key) {
            scene.bands[index].to = Some(row);
        }
    }

    fn timers(&mut self, picture: &Picture<'_>, row: usize, scene: &mut Scene) {
        let step = &picture.steps[row];
        let Some(lane) = step.node.map(usize::from) else { return };
        for change in &step.timers {
            // A node that loses its timers loses all of them.
            let ended: Vec<(usize, String)> = match change.became.as_str() {
                "lost" => self.timers.keys().filter(|(at, _)| *at == lane).cloned().collect(),
                _ => vec![(lane, change.timer.clone())],
            };
            for key in ended {
                if let Some(index) = self.timers.remove(&key) {
                    scene.bars[index].to = Some(row);
                }
            }
            if matches!(change.became.as_str(), "set" | "copied") {
                self.timers.insert((lane, change.timer.clone()), scene.bars.len());
                scene.bars.push(Stretch { lane, other: None, what: change.timer.clone(), from: row, to: None });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{picture, run};
    use super::*;

    #[test]
    fn messages_timers_and_faults_are_found() {
        let (names, steps) = run();
        let scene = scene(&picture(&names, &steps));
        let ends: Vec<_> = scene.arrows.iter().map(|arrow| (arrow.sent, arrow.arrived, arrow.is_lost)).collect();
        assert_eq!(ends, [(Some(0), Some(1), false), (Some(1), Some(2), false), (Some(1), Some(3), true)]);
        let stretches = |of: &[Stretch]| -> Vec<_> { of.iter().map(|s| (s.what.clone(), s.from, s.to)).collect() };
        assert_eq!(stretches(&scene.bands), [("down".to_owned(), 4, Some(5))]);
        assert_eq!(stretches(&scene.bars), [("Renew".to_owned(), 0, Some(4))]);
    }

    #[test]
    fn what_was_sent_before_the_picture_still_arrives() {
        let (names, steps) = run();
        let scene = scene(&picture(&names, &steps).tail(4));
        assert_eq!(scene.arrows.len(), 2);
        assert!(scene.arrows.iter().all(|arrow| arrow.sent.is_none() && arrow.arrived.is_some()));
    }
}
