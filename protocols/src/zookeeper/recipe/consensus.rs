//! Consensus, of any number of processes, out of the API (§2): a create is refused where there is a node already, so the first proposal
//! that is ordered is what all decide.

use seedbed_model::Canonical;

use super::{Cx, Event, Recipe, Scene, Shown, create, get, show};
use crate::zookeeper::message::Ask;
use crate::zookeeper::mutants::DECIDES_OWN;
use crate::zookeeper::txn::{Answer, ErrorKind};

const CONSENSUS: &str = "/consensus";

/// A client that proposes a value of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) struct Consensus {
    is_done: bool,
}

impl Consensus {
    fn decide(&mut self, value: String, scene: Scene<'_>, cx: Cx<'_, '_>) -> Vec<Ask> {
        show(cx, Shown::Decided(scene.op, value));
        self.is_done = true;
        Vec::new()
    }
}

impl Recipe for Consensus {
    fn on_event(&mut self, event: Event, scene: Scene<'_>, cx: Cx<'_, '_>) -> Vec<Ask> {
        let path = scene.path(CONSENSUS);
        match event {
            // Also after a connection that broke: if the node is its own by then, it reads its own value.
            Event::Connected => vec![create(path, scene.value())],
            Event::Answered(_, Answer::Created { .. }) => self.decide(scene.value(), scene, cx),
            Event::Answered(_, Answer::Failed(ErrorKind::NodeExists)) if scene.has(DECIDES_OWN) => {
                self.decide(scene.value(), scene, cx)
            }
            Event::Answered(_, Answer::Failed(ErrorKind::NodeExists)) => vec![get(path, false)],
            Event::Answered(_, Answer::Data { data, .. }) => {
                cx.mark("decided-other");
                self.decide(data, scene, cx)
            }
            _ => Vec::new(),
        }
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}
