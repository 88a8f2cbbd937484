//! A protocol whose source changes under its pins: three versions of it.

/// A protocol of two nodes, one of which counts greetings; `$message` and `$mutants` as they stand in the source.
macro_rules! greeting {
    ($(#[$what:meta])* $module:ident, [$($message:tt)*], [$($mutant:literal),*], $polite:expr) => {
        $(#[$what])*
        pub mod $module {
            use seedbed_model::{
                Canonical, Context, Event, Family, Input, Mutant, Mutants, Never, NodeId, Nonce, Outcome, Property,
                Protocol, Watch,
            };
            use serde::{Deserialize, Serialize};

            /// What is said.
            #[allow(missing_docs, reason = "they stand for themselves")]
            #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
            pub enum Message { $($message)* }

            /// It counts.
            #[derive(Clone)]
            pub struct Greeting {
                mutants: Mutants,
            }

            /// It has none.
            #[derive(Clone, Default, Serialize, Deserialize)]
            #[serde(default, deny_unknown_fields)]
            pub struct Params {}

            impl Protocol for Greeting {
                type State = u32;
                type Message = Message;
                type Timer = Never;
                type Record = Never;
                type Durable = ();
                type Operation = Never;
                type Answer = Never;
                type Decision = Never;
                type Observation = u32;
                type Monitor = ();

                fn nodes(&self) -> Vec<String> {
                    vec!["host".into(), "guest".into()]
                }

                fn start(&self, (): &(), _: Nonce, cx: &mut Context<'_, Self>) -> u32 {
                    if cx.node() == NodeId(1) {
                        cx.send(NodeId(0), Message::Hello { from: NodeId(1), loud: true });
                        cx.send(NodeId(0), Message::Bye(7));
                    }
                    0
                }

                fn step(&self, count: &mut u32, input: Input<Self>, cx: &mut Context<'_, Self>) {
                    match input {
                        Input::Message { message: Message::Hello { .. }, .. } => *count += $polite,
                        Input::Message { message: Message::Bye(_), .. } if !self.mutants.has("forgets") => *count += 1,
                        _ => {}
                    }
                    cx.observe(*count);
                }

                fn properties(&self) -> Vec<Property> {
                    vec![Property::always("counts", "whoever says goodbye is counted")]
                }

                fn watch(&self, (): &mut (), _: NodeId, event: &Event<Self>, watch: &mut Watch<'_>) {
                    if *event == Event::Observed(1) && self.mutants.has("forgets") {
                        watch.violated("counts", "host counts one");
                    }
                }
            }

            impl Family for Greeting {
                type Protocol = Greeting;
                type Params = Params;
                const NAME: &'static str = "greeting";
                const SUMMARY: &'static str = "says hello and goodbye";

                fn mutants() -> &'static [Mutant] {
                    &[$(Mutant { name: $mutant, removes: "memory", outcome: Outcome::Falls("counts") }),*]
                }

                fn build(_: &Params, mutants: Mutants) -> Result<Greeting, String> {
                    Ok(Greeting { mutants })
                }
            }
        }
    };
}

greeting!(
    /// As it was when its runs were pinned.
    before, [Hello { from: NodeId, loud: bool }, Bye(u8)], ["forgets"], 1);
greeting!(
    /// With another message, another order of messages and fields, and another mutant.
    reordered, [Unheard, Bye(u8), Hello { loud: bool, from: NodeId }], ["sleeps", "forgets"], 1);
greeting!(
    /// One that does something else.
    shy, [Hello { from: NodeId, loud: bool }, Bye(u8)], ["forgets"], 2);
