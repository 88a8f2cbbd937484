//! Two-phase commit (Gray and Lamport, "Consensus on transaction commit", TODS 2006, §3 and its specification `TwoPhase`).
//!
//! A transaction manager waits until it has heard from all resource managers that they are prepared, and then commits; it
//! may abort at any time before. A resource manager may abort by itself while it is working. Messages are never consumed:
//! what was sent can be received again.
//!
//! Resource managers are interchangeable: [`State::sorted`] is the one representative of the states that differ by their
//! order alone.

use stateright::{Model, Property, Representative};

/// Whether a resource manager has made up its mind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Not yet.
    Working,
    /// It will do as it is told.
    Prepared,
    /// It was told to commit.
    Committed,
    /// It aborted, by itself or as it was told.
    Aborted,
}

/// A resource manager, with what the transaction manager knows of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Manager {
    stage: Stage,
    /// Whether its message that it is prepared was sent.
    is_sent: bool,
    /// Whether that was received.
    is_heard: bool,
}

/// What the transaction manager decided. Its message to all is sent in the same step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Decision {
    /// Nothing yet.
    Open,
    /// To commit.
    Commit,
    /// To abort.
    Abort,
}

/// A state of the whole system.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    managers: Vec<Manager>,
    decision: Decision,
}

impl State {
    /// The same state with its resource managers in order.
    pub fn sorted(&self) -> State {
        let mut state = self.clone();
        state.managers.sort_unstable();
        state
    }

    /// The same state with its resource managers in order of their stages alone, as in stateright's example: states of
    /// one class may then have several representatives.
    pub fn sorted_by_stage(&self) -> State {
        let mut state = self.clone();
        state.managers.sort_by_key(|manager| manager.stage);
        state
    }
}

impl Representative for State {
    fn representative(&self) -> Self {
        self.sorted()
    }
}

/// What may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// The transaction manager hears that this one is prepared.
    Hear(usize),
    /// The transaction manager decides.
    Decide(Decision),
    /// This resource manager prepares, and says so.
    Prepare(usize),
    /// This resource manager aborts by itself.
    GiveUp(usize),
    /// This resource manager is told the decision.
    Learn(usize),
}

/// Two-phase commit with so many resource managers.
#[derive(Debug, Clone)]
pub struct TwoPhaseCommit {
    /// How many resource managers.
    pub managers: usize,
    /// Whether the transaction manager waits for all; one that waits for the first alone breaks [`CONSISTENT`].
    pub waits_for_all: bool,
}

/// The name of the property that no two resource managers decide differently.
pub const CONSISTENT: &str = "consistent";

/// The name of the goal that all commit.
pub const ALL_COMMIT: &str = "all commit";

/// The name of the goal that all abort.
pub const ALL_ABORT: &str = "all abort";

impl Model for TwoPhaseCommit {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let working = Manager { stage: Stage::Working, is_sent: false, is_heard: false };
        vec![State { managers: vec![working; self.managers], decision: Decision::Open }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let is_open = state.decision == Decision::Open;
        for (index, manager) in state.managers.iter().enumerate() {
            if is_open && manager.is_sent {
                actions.push(Action::Hear(index));
            }
            if manager.stage == Stage::Working {
                actions.extend([Action::Prepare(index), Action::GiveUp(index)]);
            }
            if !is_open {
                actions.push(Action::Learn(index));
            }
        }
        if is_open {
            actions.push(Action::Decide(Decision::Abort));
            let mut heard = state.managers.iter().map(|manager| manager.is_heard);
            if if self.waits_for_all { heard.all(|heard| heard) } else { heard.any(|heard| heard) } {
                actions.push(Action::Decide(Decision::Commit));
            }
        }
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        match action {
            Action::Hear(index) => next.managers[index].is_heard = true,
            Action::Decide(decision) => next.decision = decision,
            Action::Prepare(index) => {
                next.managers[index].stage = Stage::Prepared;
                next.managers[index].is_sent = true;
            }
            Action::GiveUp(index) => next.managers[index].stage = Stage::Aborted,
            Action::Learn(index) => {
                let commits = state.decision == Decision::Commit;
                next.managers[index].stage = if commits { Stage::Committed } else { Stage::Aborted };
            }
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        fn any(state: &State, stage: Stage) -> bool {
            state.managers.iter().any(|manager| manager.stage == stage)
        }
        fn all(state: &State, stage: Stage) -> bool {
            state.managers.iter().all(|manager| manager.stage == stage)
        }
        vec![
            Property::always(CONSISTENT, |_, state| !(any(state, Stage::Committed) && any(state, Stage::Aborted))),
            Property::sometimes(ALL_COMMIT, |_, state| all(state, Stage::Committed)),
            Property::sometimes(ALL_ABORT, |_, state| all(state, Stage::Aborted)),
        ]
    }
}
