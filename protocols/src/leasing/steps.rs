//! Which input goes where.

use seedbed_model::{Context, Input};

use super::manager::{Poll, Request};
use super::owner::Response;
use super::{
    Decision, Feature, Group, Leasing, Lookup, Manager, Message, OLD_LEADER_SERVES, Owner, Recall, Record, Timer,
};

impl Leasing {
    pub(super) fn step_manager(&self, manager: &mut Manager, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match input {
            Input::Timer(Timer::NextBid) => manager.bid(self, cx),
            Input::Timer(Timer::Lead) if self.mutants.has(OLD_LEADER_SERVES) => {}
            Input::Timer(Timer::Lead) => manager.step_down(self, cx),
            Input::Message { message: Message::GroupResponse { bid, ruling }, .. } => {
                manager.on_ruling(bid, ruling, self, cx);
                manager.settle(self, cx);
            }
            Input::Message { from, message: Message::Paxos(message) } => {
                manager.on_acceptor(from, message, self, cx);
                manager.settle(self, cx);
            }
            // Whether it is armed is all that counts.
            Input::Timer(Timer::Bid) => {}
            Input::Durable(Record::Started) => manager.on_ready(),
            _ if manager.leads(self, cx) => {
                self.step_leader(manager, input, cx);
                manager.settle(self, cx);
            }
            // It stood still until its leader lease had ended, and has yet to be told so.
            _ if manager.is_in_office() => {
                cx.mark("old-leader-silent");
                self.show(Feature::PausedLeader, cx);
            }
            // "They will only ever get a response from the leader" (Centrifuge §2.1.1).
            _ => cx.mark("standby-silent"),
        }
    }

    fn step_leader(&self, manager: &mut Manager, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match input {
            Input::Message { from, message: Message::LeaseRequest { pair, wanted, received } } => {
                manager.on_request(from, &Request { pair, wanted: &wanted, received: &received }, self, cx);
            }
            Input::Message { from, message: Message::LookupRequest { poll, known } } => {
                manager.on_poll(from, Poll { poll, known });
            }
            Input::Decision(Decision::Grant(range, owner)) => manager.grant(range, owner, self, cx),
            Input::Decision(Decision::Recall(range)) => manager.recall(range, Recall::Drop, self, cx),
            Input::Decision(Decision::Move(range, owner)) => manager.recall(range, Recall::Move(owner), self, cx),
            Input::Decision(Decision::Split(range, to)) => manager.split(range, to, self, cx),
            Input::Timer(Timer::Quarantine) => manager.on_ready(),
            Input::Timer(Timer::Unavailable(range)) => manager.on_unavailable_end(range, self, cx),
            Input::Timer(Timer::BackOff(owner)) => manager.on_back_off(owner, cx),
            Input::Message { from, message: Message::Load(load) } => manager.on_load(from, load, self, cx),
            Input::Timer(Timer::Balance) => manager.rebalance(self, cx),
            Input::Timer(Timer::Truncate) => manager.truncate(self, cx),
            Input::Timer(Timer::Heard(_)) => cx.mark("owner-silent"),
            _ => cx.mark("input out of place"),
        }
    }

    pub(super) fn step_group(&self, group: &mut Group, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match input {
            Input::Message { from, message: Message::GroupRequest { bid, ask } } => {
                group.on_bid(from, bid, ask, self, cx);
            }
            // Whether it is armed is all that counts.
            Input::Timer(Timer::Leader) => {}
            _ => cx.mark("input out of place"),
        }
    }

    pub(super) fn step_owner(&self, owner: &mut Owner, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match input {
            Input::Message { from, message: Message::LeaseResponse { pair, leases, moves } } => {
                owner.on_response(from, &Response { pair, leases: &leases, moves: &moves }, self, cx);
            }
            Input::Message { message: Message::HandOver { range, generation, cargo }, .. } => {
                owner.on_hand_over(range, generation, cargo, self, cx);
            }
            Input::Message { from, message: Message::Request(request) } => {
                owner.on_app_request(from, request, self, cx)
            }
            Input::Message { message: Message::Reply(reply), .. } => owner.on_call_answered(reply, self, cx),
            Input::Message { from, message: Message::LookupResponse { poll, edition, news } } => {
                owner.on_news(from, poll, edition, news, self, cx);
            }
            Input::Timer(timer @ (Timer::Poll | Timer::Contact)) => {
                owner.on_lookup_timer(timer == Timer::Poll, self, cx);
            }
            Input::Message { from, message: Message::Taken(push) } => owner.on_taken(from, push, self, cx),
            Input::Timer(Timer::Expiry(key)) => owner.on_expiry(key, self, cx),
            Input::Timer(Timer::Work(key)) => owner.on_work_end(key, self, cx),
            Input::Timer(Timer::Task(range)) => owner.on_task_due(range, self, cx),
            Input::Timer(Timer::Renew | Timer::BackOff(_)) => owner.request(self, cx),
            Input::Timer(Timer::Lease(range)) => owner.on_lease_end(range, cx),
            // Whether it is armed is all that counts.
            Input::Timer(Timer::Request | Timer::Asked) => {}
            _ => cx.mark("input out of place"),
        }
    }

    pub(super) fn step_lookup(&self, lookup: &mut Lookup, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match input {
            Input::Message { from, message: Message::LookupResponse { poll, edition, news } } => {
                lookup.on_response(from, poll, edition, news, self, cx);
                lookup.pass_on_news(self, cx);
            }
            Input::Timer(Timer::Poll) => lookup.poll(self, cx),
            Input::Timer(Timer::Contact) => {
                lookup.on_contact_end(self, cx);
                lookup.pass_on_news(self, cx);
            }
            Input::Timer(Timer::Asked) => {}
            Input::Operation { op, operation } => lookup.on_operation(op, operation, self, cx),
            Input::Message { message: Message::Reply(reply), .. } => lookup.on_reply(reply, self, cx),
            Input::Message { from, message: Message::Push(push) } => lookup.on_push(from, push, cx),
            Input::Timer(Timer::Retry) => lookup.ask(self, cx),
            Input::Timer(Timer::GiveUp) => lookup.give_up(self, cx),
            _ => cx.mark("input out of place"),
        }
    }
}
