//! Experiments: what is measured, what they are said to show, and their pages.

use seedbed::model::record::Milli;
use seedbed::{exit, shipped, testing};
use serde_json::Value;

use crate::folder::Folder;

/// Retries by the number of clients, on a network that loses messages and on one that loses none.
const LOSS: &str = r#"
protocol = "echo"
title = "How often do clients retry?"
source = "nowhere"
story = "Clients ask again after a while."
seeds = "0..3"

[vary]
label = "clients"
sets = ["params.clients"]
values = [1, 4, 16]

[params]
retry = "2s"

[settings]
duration = "60s"
quiet = "20s"
decisions = { min = "0s", max = "100ms" }

[settings.network]
delay-min = "10ms"
delay-max = "100ms"
loss = 0.3

[[line]]
name = "lossy"

[[line]]
name = "sound"
upto = 4
settings = { network = { loss = 0.0 } }

[[plot]]
name = "retries"
title = "retries"
measure = "count"
to = "retried"
paper = [{ name = "none", points = [[1, 0], [2, 0], [16, 0]] }]

[[plot]]
name = "sent"
title = "bytes of the server"
measure = "sent"
nodes = ["server"]

[[shows]]
what = "a network that loses makes clients ask again"
plot = "retries"
line = "lossy"
least = 1

[[shows]]
what = "one that does not, does not"
plot = "retries"
line = "sound"
most = 0

[[shows]]
what = "more clients are answered more"
plot = "sent"
line = "sound"
percent-of = "lossy"
least = 1
"#;

fn run(folder: &Folder, flags: &str) -> (u8, String) {
    let command = format!("experiment echo/loss --scenarios {} {flags}", folder.0.display());
    testing::command(&shipped(), &command.split_whitespace().collect::<Vec<_>>())
}

#[test]
fn what_varies_is_measured_the_same_on_any_number_of_threads() {
    let folder = Folder::new("experiment-threads");
    folder.write("echo/experiments/loss.toml", LOSS);
    let measured = |jobs: u8| {
        let (code, said) = run(&folder, &format!("--jobs {jobs} --json {}", folder.path("out.json")));
        assert_eq!(code, exit::EXPECTED, "{said}");
        (said, folder.read("out.json"))
    };
    let (said, json) = measured(1);
    assert_eq!((said.clone(), json.clone()), measured(2));
    assert!(said.contains("clients") && said.contains("paper: none"), "{said}");
    let record: Value = serde_json::from_str(&json).unwrap();
    let points = |plot: usize, line: usize| record["plots"][plot]["curves"][line]["points"].as_array().unwrap().clone();
    let means = |plot, line| points(plot, line).iter().map(|point| point["mean"].as_f64().unwrap()).collect::<Vec<_>>();
    assert_eq!(points(0, 1).len(), 2, "a line ends where it says");
    assert_eq!(means(0, 1), [0.0, 0.0]);
    assert!(means(0, 0).is_sorted() && means(0, 0)[0] > 0.0, "{record:#}");
    assert!(means(1, 0).is_sorted() && means(1, 0)[0] > 0.0, "{record:#}");
}

#[test]
fn what_an_experiment_does_not_show_fails_it() {
    let folder = Folder::new("experiment-unshown");
    folder.write("echo/experiments/loss.toml", &LOSS.replace("most = 0", "least = 1\nmost = 1000"));
    let (code, said) = run(&folder, &format!("--html {}", folder.path("out.html")));
    assert_eq!(code, exit::UNSHOWN, "{said}");
    let line = "DOES NOT SHOW: one that does not, does not (0.0 to 0.0; wanted 1 to 1000)";
    assert!(said.lines().any(|said| said == line), "{said}");
    let page = folder.read("out.html");
    assert_eq!(page.matches("<svg class=\"plot\"").count(), 2);
    assert!(page.contains("does not show") && page.contains("stroke-dasharray"), "{page}");
}

/// Nothing is measured of a protocol that falls.
#[test]
fn a_run_that_falls_measures_nothing() {
    let folder = Folder::new("experiment-fallen");
    let slow = LOSS.replace("delay-max = \"100ms\"", "delay-max = \"15s\"");
    folder.write("echo/experiments/loss.toml", &slow);
    let (code, said) = run(&folder, "");
    assert_eq!(code, exit::BAD_INPUT, "{said}");
    assert!(said.contains("answered-after-healing fell"), "{said}");
}

/// Of what a node holds at the end, each client takes its share.
#[test]
fn what_nodes_hold_is_measured_for_each_of_what_varies() {
    let folder = Folder::new("experiment-state");
    let state = LOSS.replace("measure = \"sent\"", "measure = \"state\"");
    folder.write("echo/experiments/loss.toml", &state);
    let (code, whole) = run(&folder, &format!("--json {}", folder.path("whole.json")));
    assert_eq!(code, exit::EXPECTED, "{whole}");
    folder.write(
        "echo/experiments/loss.toml",
        &state.replace("nodes = [\"server\"]", "nodes = [\"server\"]\neach = true"),
    );
    run(&folder, &format!("--json {}", folder.path("each.json")));
    let points = |name: &str| {
        let record: Value = serde_json::from_str(&folder.read(name)).unwrap();
        let points = record["plots"][1]["curves"][0]["points"].as_array().unwrap().clone();
        let mean = |point: &Value| serde_json::from_value::<Milli>(point["mean"].clone()).unwrap().0;
        points.iter().map(mean).collect::<Vec<_>>()
    };
    let (whole, each) = (points("whole.json"), points("each.json"));
    assert!(whole[0] > 0 && whole[0] == each[0], "of one client: {whole:?}, {each:?}");
    assert_eq!(whole[2] / 16, each[2], "of sixteen");
}

/// The means of a curve.
fn means(folder: &Folder, plot: usize, line: usize) -> Vec<u64> {
    let record: Value = serde_json::from_str(&folder.read("out.json")).unwrap();
    let points = record["plots"][plot]["curves"][line]["points"].as_array().unwrap().clone();
    points.iter().map(|point| serde_json::from_value::<Milli>(point["mean"].clone()).unwrap().0).collect()
}

/// What varies, in the experiment on retries.
const VARIED: &str = "[vary]\nlabel = \"clients\"\nsets = [\"params.clients\"]\nvalues = [1, 4, 16]\n";

/// Its first plot is of marks and its second of bytes: both are spread over the slices, and nothing is lost.
#[test]
fn what_is_measured_over_time_adds_up() {
    let folder = Folder::new("experiment-time");
    let whole = LOSS.replace("values = [1, 4, 16]", "values = [4]");
    let sliced = LOSS.replace(VARIED, "[over]\ntime = \"10s\"\n").replace("upto = 4\n", "");
    let measured = |text: &str| {
        folder.write("echo/experiments/loss.toml", &text.replace("[params]", "[params]\nclients = 4"));
        let (code, said) = run(&folder, &format!("--json {}", folder.path("out.json")));
        assert!(code != exit::BAD_INPUT, "{said}");
        [means(&folder, 0, 0), means(&folder, 1, 0)]
    };
    let [[retries], [sent]] = measured(&whole.replace("clients = 4\n", "")).map(|means| [means[0]]);
    let [retries_sliced, sent_sliced] = measured(&sliced);
    assert_eq!((retries_sliced.len(), sent_sliced.len()), (8, 8), "80 seconds");
    assert!(retries_sliced.iter().sum::<u64>().abs_diff(retries) < 8, "{retries_sliced:?}: {retries}");
    let by_second = sent_sliced.iter().sum::<u64>() / 8;
    assert!(by_second.abs_diff(sent) <= sent / 5, "{sent_sliced:?}: {sent}");
}

/// Reads and writes over links that lose messages, and over links that lose none.
const REGISTER: &str = r#"
protocol = "register"
title = "How long do operations take?"
source = "nowhere"
story = "Readers and writers ask again after a second."
seeds = "0..2"

[over]
shares = [0, 50, 90, 100]

[params]
servers = 3
writers = 2
readers = 2
writes = 10
reads = 10
resends = 1000
resend = "1s"

[settings]
duration = "60s"
quiet = "20s"

[settings.network]
delay-min = "10ms"
delay-max = "100ms"

[[line]]
name = "lossy"
settings = { network = { loss = 0.3 } }

[[line]]
name = "sound"

[[plot]]
name = "latency"
title = "time to an answer"
measure = "latency"

[[plot]]
name = "early"
title = "time to an answer, of what is asked at first"
measure = "latency"
before = "1s"
"#;

/// The fastest are faster than the slowest, and a network that loses nothing is faster than one that does.
#[test]
fn operations_are_measured_by_their_shares() {
    let folder = Folder::new("experiment-shares");
    folder.write("register/experiments/answers.toml", REGISTER);
    let command =
        format!("experiment register/answers --scenarios {} --json {}", folder.0.display(), folder.path("out.json"));
    let (code, said) = testing::command(&shipped(), &command.split_whitespace().collect::<Vec<_>>());
    assert_eq!(code, exit::EXPECTED, "{said}");
    let (lossy, sound) = (means(&folder, 0, 0), means(&folder, 0, 1));
    assert!(lossy.len() == 4 && lossy.is_sorted() && lossy[0] < lossy[3], "{lossy:?}");
    assert!(sound[3] < 1_000_000 && sound[3] < lossy[3], "no more than two round trips: {sound:?}, {lossy:?}");
    assert!(means(&folder, 1, 0)[3] <= lossy[3]);
    assert!(said.contains("share of the operations [%]"), "{said}");
}

/// A part of a line's settings may go with what varies, in proportion.
#[test]
fn what_varies_sets_multiples_too() {
    let folder = Folder::new("experiment-multiples");
    let text = LOSS
        .replace("sets = [\"params.clients\"]", "sets = [{ path = \"params.clients\", times = 6, by = 3 }]")
        .replace("name = \"sound\"\n", "name = \"sound\"\nsets = [{ path = \"params.clients\", times = 4 }]\n");
    folder.write("echo/experiments/loss.toml", &text.replace("loss = 0.3", "loss = 0.0"));
    run(&folder, &format!("--json {}", folder.path("out.json")));
    let (twice, fourfold) = (means(&folder, 1, 0), means(&folder, 1, 1));
    assert!(twice[0] * 3 < fourfold[0] * 2, "two clients, and four: {twice:?}, {fourfold:?}");
}

#[test]
fn an_experiment_on_a_node_that_is_not_there_is_refused() {
    let folder = Folder::new("experiment-node");
    folder.write("echo/experiments/loss.toml", &LOSS.replace("[\"server\"]", "[\"servant\"]"));
    let (code, said) = run(&folder, "");
    assert_eq!(code, exit::BAD_INPUT, "{said}");
    assert!(said.contains("no node `servant`; known: client-*, server"), "{said}");
}

#[test]
fn a_negotiation_takes_two_round_trips_as_in_the_paper() {
    let (code, said) = testing::command(&shipped(), &["experiment", "fatlease/hosts"]);
    assert_eq!(code, exit::EXPECTED, "{said}");
}
