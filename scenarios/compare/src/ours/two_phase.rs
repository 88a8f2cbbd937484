//! Two-phase commit: [`seedbed_stateright_models::two_phase`] in Seedbed's contract.
//!
//! The states are those of the model, one to one. Of its transitions, those that change nothing are not counted here: the
//! model receives each message again and again, a node of ours once.

use seedbed_model::explore::{Bounds, Clock};
use seedbed_model::{
    Canonical, Context, Event, Input, Never, NodeId, NodeSet, Nonce, Offers, Property, Protocol, Relevance, Watch,
};

/// The transaction manager; the resource managers are the nodes after it.
const COORDINATOR: NodeId = NodeId(0);

/// Two-phase commit with so many resource managers.
#[derive(Debug, Clone)]
pub struct TwoPhaseCommit {
    /// How many resource managers.
    pub managers: u16,
}

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Verdict {
    /// To commit.
    Commit,
    /// To abort.
    Abort,
}

/// Whether a resource manager has made up its mind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Stage {
    /// Not yet.
    Working,
    /// It will do as it is told.
    Prepared,
    /// It is done.
    Done(Verdict),
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum State {
    /// The transaction manager.
    Coordinator {
        /// Who is prepared, as far as it has heard.
        heard: NodeSet,
        /// What it decided.
        decided: Option<Verdict>,
    },
    /// A resource manager.
    Manager(Stage),
}

/// What travels.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Message {
    /// A resource manager is prepared.
    Prepared,
    /// What the transaction manager decided.
    Decided(Verdict),
}

/// What a node may do by itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Decision {
    /// The transaction manager decides.
    Decide(Verdict),
    /// A resource manager prepares, and says so.
    Prepare,
    /// A resource manager aborts by itself.
    GiveUp,
}

/// What the resource managers did.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Monitor {
    committed: NodeSet,
    aborted: NodeSet,
}

const CONSISTENT: &str = "consistent";
const ALL_COMMIT: &str = "all-commit";
const ALL_ABORT: &str = "all-abort";

impl TwoPhaseCommit {
    /// The bounds under which states are those of stateright's model.
    pub fn bounds() -> Bounds {
        Bounds { clock: Clock::Untimed, keep_ignored: true, symmetry: false, ..Bounds::default() }
    }

    fn managers(&self) -> impl Iterator<Item = NodeId> {
        (1..=self.managers).map(NodeId)
    }

    fn decide(&self, decided: &mut Option<Verdict>, verdict: Verdict, cx: &mut Context<'_, Self>) {
        *decided = Some(verdict);
        for manager in self.managers() {
            cx.send(manager, Message::Decided(verdict));
        }
    }
}

/// A resource manager that is not done yet is done now.
fn finish(stage: &mut Stage, verdict: Verdict, cx: &mut Context<'_, TwoPhaseCommit>) {
    if !matches!(stage, Stage::Done(_)) {
        *stage = Stage::Done(verdict);
        cx.observe(verdict);
    }
}

impl Protocol for TwoPhaseCommit {
    type State = State;
    type Message = Message;
    type Timer = Never;
    type Record = Never;
    type Durable = ();
    type Operation = Never;
    type Answer = Never;
    type Decision = Decision;
    type Observation = Verdict;
    type Monitor = Monitor;

    fn nodes(&self) -> Vec<String> {
        let managers = (1..=self.managers).map(|number| format!("manager-{number}"));
        std::iter::once("coordinator".to_owned()).chain(managers).collect()
    }

    fn start(&self, (): &(), _: Nonce, cx: &mut Context<'_, Self>) -> State {
        match cx.node() {
            COORDINATOR => State::Coordinator { heard: NodeSet::EMPTY, decided: None },
            _ => State::Manager(Stage::Working),
        }
    }

    fn step(&self, state: &mut State, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match (state, input) {
            (State::Coordinator { heard, decided: None }, Input::Message { from, message: Message::Prepared }) => {
                heard.insert(from);
            }
            (State::Coordinator { decided, .. }, Input::Decision(Decision::Decide(verdict))) => {
                self.decide(decided, verdict, cx);
            }
            (State::Manager(stage), Input::Decision(Decision::Prepare)) => {
                *stage = Stage::Prepared;
                cx.send(COORDINATOR, Message::Prepared);
            }
            (State::Manager(stage), Input::Decision(Decision::GiveUp)) => finish(stage, Verdict::Abort, cx),
            (State::Manager(stage), Input::Message { message: Message::Decided(verdict), .. }) => {
                finish(stage, verdict, cx);
            }
            _ => cx.mark("word that comes after the decision"),
        }
    }

    fn decisions(&self, _: NodeId, state: &State, offers: &mut Offers<'_, Self>) {
        match state {
            State::Coordinator { heard, decided: None } => {
                offers.offer(Decision::Decide(Verdict::Abort));
                if heard.len() == usize::from(self.managers) {
                    offers.offer(Decision::Decide(Verdict::Commit));
                }
            }
            State::Manager(Stage::Working) => {
                offers.offer(Decision::Prepare);
                offers.offer(Decision::GiveUp);
            }
            _ => {}
        }
    }

    fn properties(&self) -> Vec<Property> {
        vec![
            Property::always(CONSISTENT, "no resource manager commits where another aborts"),
            Property::sometimes(ALL_COMMIT, "all resource managers commit"),
            Property::sometimes(ALL_ABORT, "all resource managers abort"),
        ]
    }

    fn watch(&self, monitor: &mut Monitor, node: NodeId, event: &Event<Self>, watch: &mut Watch<'_>) {
        let Event::Observed(verdict) = event else { return };
        let (done, goal) = match verdict {
            Verdict::Commit => (&mut monitor.committed, ALL_COMMIT),
            Verdict::Abort => (&mut monitor.aborted, ALL_ABORT),
        };
        done.insert(node);
        if done.len() == usize::from(self.managers) {
            watch.reached(goal);
        }
        if !monitor.committed.is_empty() && !monitor.aborted.is_empty() {
            watch.violated(CONSISTENT, format!("{:?} committed, {:?} aborted", monitor.committed, monitor.aborted));
        }
    }

    /// Who is done is told nothing new. That a resource manager was once prepared counts for ever, as in the model, even
    /// where nobody will read it.
    fn relevance(&self, _: NodeId, to: &State, _: NodeId, message: &Message) -> Relevance<Message> {
        match (to, message) {
            (State::Manager(Stage::Done(_)), Message::Decided(_)) => Relevance::Dead,
            (_, Message::Decided(_)) => Relevance::Live,
            (_, Message::Prepared) => Relevance::Always,
        }
    }

    fn symmetry(&self) -> Vec<Vec<NodeId>> {
        vec![self.managers().collect()]
    }
}
