//! The scheduler of a plain world that goes every way: whatever a choice leaves open is a digit of an odometer.

use std::collections::VecDeque;

use seedbed_model::explore::{Bounds, Clock, Odometer};
use seedbed_model::{Driver, Effect, Envelope, NodeId, Protocol, Span, Stamp};

use crate::world::Flight;

/// What one way leaves behind beside the world.
pub(crate) struct Everyway<P: Protocol> {
    pub(crate) now: u64,
    /// In the order sent.
    pub(crate) flights: Vec<Flight<P>>,
    /// Which of the flights the choice is about: equal messages may have unequal time left.
    pub(crate) chosen: Option<usize>,
    pub(crate) odometer: Odometer,
    /// Answers as a script holds them.
    pub(crate) answers: Vec<u32>,
    /// Messages that full links lost, in order.
    pub(crate) overflowed: VecDeque<Envelope<P::Message>>,
    pub(crate) effects: Vec<(NodeId, Effect<P>)>,
    /// Why the bounds do not fit the protocol, once that has shown.
    pub(crate) misfit: Option<String>,
    offsets: Vec<i64>,
    protocol: P,
    bounds: Bounds,
}

impl<P: Protocol> Everyway<P> {
    pub(crate) fn new(protocol: P, bounds: Bounds, offsets: Vec<i64>) -> Self {
        Everyway {
            now: 0,
            flights: Vec::new(),
            chosen: None,
            odometer: Odometer::default(),
            answers: Vec::new(),
            overflowed: VecDeque::new(),
            effects: Vec::new(),
            misfit: None,
            offsets,
            protocol,
            bounds,
        }
    }

    /// Of one message too many on a link, any is lost: the new one or one before it.
    fn overflow(&mut self, flight: Flight<P>, capacity: u32) {
        let ends = (flight.envelope.from, flight.envelope.to);
        let rivals: Vec<usize> = (0..self.flights.len())
            .filter(|at| (self.flights[*at].envelope.from, self.flights[*at].envelope.to) == ends)
            .collect();
        if rivals.len() < capacity as usize {
            return self.flights.push(flight);
        }
        match self.odometer.pick(rivals.len() + 1) {
            0 => self.overflowed.push_back(flight.envelope),
            pick => {
                let lost = self.flights.remove(rivals[pick - 1]);
                self.overflowed.push_back(lost.envelope);
                self.flights.push(flight);
            }
        }
    }
}

impl<P: Protocol> Driver<P> for Everyway<P> {
    fn now(&self) -> u64 {
        self.now
    }
    fn clock(&mut self, node: NodeId) -> Stamp {
        Stamp::of_clock(self.now as i64 + self.offsets[node.index()])
    }
    fn choose(&mut self, _: NodeId, count: u32) -> u32 {
        let answer = self.odometer.pick(count as usize) as u32;
        self.answers.push(answer);
        answer
    }
    fn length(&mut self, node: NodeId, _: &P::Timer, span: Span) -> u64 {
        let clock = self.protocol.clock(node);
        let length = self.bounds.length(span, clock, &mut self.odometer, &mut self.answers);
        length.unwrap_or_else(|why| {
            self.misfit.get_or_insert(why);
            0
        })
    }
    fn send(&mut self, envelope: Envelope<P::Message>) {
        let flight = Flight { envelope, life: self.bounds.delay };
        match self.bounds.capacity {
            Some(capacity) => self.overflow(flight, capacity),
            None => self.flights.push(flight),
        }
    }
    fn is_in_flight(&self, envelope: &Envelope<P::Message>) -> bool {
        self.flights.iter().any(|flight| flight.envelope == *envelope)
    }
    fn take(&mut self, envelope: &Envelope<P::Message>) {
        let chosen = self.chosen.filter(|at| self.flights[*at].envelope == *envelope);
        let at = chosen.or_else(|| self.flights.iter().position(|flight| flight.envelope == *envelope));
        if let Some(at) = at {
            self.flights.remove(at);
        }
    }
    fn effect(&mut self, node: NodeId, effect: &Effect<P>) {
        self.effects.push((node, effect.clone()));
    }
    fn is_untimed(&self) -> bool {
        self.bounds.clock == Clock::Untimed
    }
    fn elapse(&mut self, span: Span) {
        self.now += span.0;
        let ticks = (span.0 / self.bounds.tick.0) as u32;
        for flight in &mut self.flights {
            flight.life = flight.life.map(|life| life.saturating_sub(ticks));
        }
    }
}
