//! Sessions in parallel at a real server: what the properties here say of ZooKeeper holds of it, and no more.

use std::collections::BTreeMap;

use seedbed_model::history::specifications::CasRegister;
use seedbed_model::history::{Call, History, Judgement, Options, Value, Verdict, judge};
use serde_json::Value as Json;

const STANDALONE: &str = include_str!("../../../../scenarios/zookeeper/recorded/zk-conc-standalone.jsonl");
const ENSEMBLE: &str = include_str!("../../../../scenarios/zookeeper/recorded/zk-conc-ensemble-stale.jsonl");

fn value(json: &Json) -> Value {
    match json {
        Json::Number(number) => Value::Integer(number.as_i64().expect("numbers are whole")),
        Json::Array(items) => Value::List(items.iter().map(value).collect()),
        _ => Value::Nil,
    }
}

/// What came of each operation; a compare-and-set that failed did nothing.
fn history(text: &str) -> History<Call, Value> {
    let mut history = History::default();
    let mut open: BTreeMap<u64, usize> = BTreeMap::new();
    let mut failed = Vec::new();
    for (event, line) in text.lines().skip(1).enumerate() {
        let json: Json = serde_json::from_str(line).expect("a line is an event");
        let process = json["process"].as_u64().expect("it has a process");
        let (name, given) = (json["f"].as_str().expect("it has a name"), value(&json["value"]));
        match (json["type"].as_str(), name) {
            (Some("invoke"), _) => {
                let index = history.invoke(process, Call::new(name, given), event as u64);
                open.insert(process, index);
            }
            (Some("ok"), _) => {
                let answer = match name {
                    "read" => given,
                    "cas" => true.into(),
                    _ => Value::Nil,
                };
                history.answer(open.remove(&process).expect("it was invoked"), answer, event as u64);
            }
            (Some("fail"), _) => failed.extend(open.remove(&process)),
            _ => drop(open.remove(&process)),
        }
    }
    history.retain(|index| !failed.contains(&index));
    history
}

fn is_ordered(history: &History<Call, Value>, judgement: Judgement) -> bool {
    let register = CasRegister { initial: Value::Integer(0) };
    let options = Options { judgement, piece: false, ..Options::default() };
    match judge(&register, history, &options, &mut |_| true) {
        Verdict::Ordered(_) => true,
        Verdict::Violated(_) => false,
        Verdict::Unknown(why) => panic!("{why:?}"),
    }
}

#[test]
fn one_server_is_linearizable_reads_included() {
    let history = history(STANDALONE);
    assert_eq!(history.intervals().len(), 487);
    assert!(is_ordered(&history, Judgement::Linearizable));
}

/// §2.3: reads of an ensemble without a sync may be stale, and each session goes forward all the same.
#[test]
fn an_ensemble_is_not_and_each_session_goes_forward() {
    let history = history(ENSEMBLE);
    assert_eq!(history.intervals().len(), 467);
    assert!(!is_ordered(&history, Judgement::Linearizable));
    assert!(is_ordered(&history, Judgement::Session) && is_ordered(&history, Judgement::Sequential));
}
