use super::*;

const FIRST: &str = include_str!("../../../../scenarios/zookeeper/recorded/zk-seq-1.jsonl");
const SECOND: &str = include_str!("../../../../scenarios/zookeeper/recorded/zk-seq-2.jsonl");

#[test]
fn recordings_agree() {
    let agree = |name, text| compare(name, text).unwrap_or_else(|error| panic!("{error}"));
    let (first, second) = (agree("zk-seq-1.jsonl", FIRST), agree("zk-seq-2.jsonl", SECOND));
    assert_eq!(first, Agreement { operations: 300, watches: 36, nodes: 15 });
    assert_eq!(second, Agreement { operations: 300, watches: 29, nodes: 21 });
}

/// What is said of the first recording with the only `from` in the line of this number changed.
fn said(line: usize, from: &str, to: &str) -> String {
    let mut lines: Vec<String> = FIRST.lines().map(str::to_owned).collect();
    let changed = &mut lines[line - 1];
    assert_eq!(changed.matches(from).count(), 1, "{changed}");
    *changed = changed.replace(from, to);
    compare("changed", &lines.join("\n")).expect_err("it was changed").to_string()
}

#[test]
fn what_is_changed_is_named_at_its_line() {
    let cases = [
        (5, r#""NoNode""#, r#""BadVersion""#, r#"operation 3, err: "NoNode" here, "BadVersion" recorded"#),
        (5, r#""err":"NoNode""#, r#""ok":null"#, r#"operation 3: err "NoNode" here, ok null recorded"#),
        (5, r#""zxid":1"#, r#""zxid":2"#, "operation 3, zxid: 1 here, 2 recorded"),
        (111, r#""v":1"#, r#""v":2"#, "operation 109, ok.v: 1 here, 2 recorded"),
        (111, r#""cv":1"#, r#""cv":0"#, "operation 109, ok.cv: 1 here, 0 recorded"),
        (
            152,
            "/b/0000000002",
            "/b/0000000003",
            r#"operation 150, ok.path: "/b/0000000002" here, "/b/0000000003" recorded"#,
        ),
        (171, r#""w":40"#, r#""w":41"#, "operation 169, watches.0.w: 40 here, 41 recorded"),
        (
            76,
            r#""type":"CHILD""#,
            r#""type":"CHANGED""#,
            r#"operation 74, watches.0.type: "CHILD" here, "CHANGED" recorded"#,
        ),
        (
            61,
            r#"{"c":"0.0","w":14,"type":"CREATED","path":"/a/y"}"#,
            "",
            r#"operation 59, watches: [{"c":"0.0","path":"/a/y","type":"CREATED","w":14}] here, [] recorded"#,
        ),
        (193, r#"["world","anyone",31]"#, r#"["world","anyone",1]"#, "operation 191, ok.acl.0.2: 31 here, 1 recorded"),
        (
            302,
            r#""/a/y":{"data":"d982""#,
            r#""/a/y":{"data":"d983""#,
            r#"final./a/y.data: "d982" here, "d983" recorded"#,
        ),
    ];
    for (line, from, to, wanted) in cases {
        assert_eq!(said(line, from, to), format!("changed:{line}: {wanted}"));
    }
}

#[test]
fn what_is_left_out_is_missed_later() {
    // Without the creation at 39, the next that needs it differs.
    let lines: Vec<String> = FIRST
        .lines()
        .map(|line| line.replace(r#""op":"create","path":"/a","#, r#""op":"create","path":"/q","#))
        .collect();
    let error = compare("changed", &lines.join("\n")).expect_err("it was changed").to_string();
    assert!(error.starts_with("changed:41: operation 39, ok.path: "), "{error}");
}

#[test]
fn a_node_that_is_missing_at_the_end_is_named() {
    let text = FIRST.replace(r#""/a/y":{"data":"d982","#, r#""/a/z":{"data":"d982","#);
    let error = compare("changed", &text).expect_err("it was changed").to_string();
    assert!(error.starts_with("changed:302: final./a/y: {") && error.ends_with("null recorded"), "{error}");
}

#[test]
fn what_is_no_recording_is_refused() {
    let (meta, operation, last) = (
        r#"{"meta":"zk-oracle seq","sessions":["0.0"]}"#,
        r#"{"i":0,"c":"0.0","op":"sync","ok":null,"zxid":0,"watches":[]}"#,
        r#"{"final":{"/":{"data":"","stat":{"v":0,"cv":0,"av":0,"eo":null,"len":0,"nc":0,"cz":0,"mz":0,"pz":0}}}}"#,
    );
    let whole = [meta, operation, last].join("\n");
    assert_eq!(compare("whole", &whole), Ok(Agreement { operations: 1, watches: 0, nodes: 1 }));
    let cases = [
        (String::new(), "1: the file is empty; a recording's first line, `meta`, is wanted"),
        (format!("{meta}\n{operation}"), "3: the file ends; an operation, or `final`, is wanted"),
        (format!("{whole}\n{operation}"), "4: a line behind `final`; the end of the file is wanted"),
        ("[".repeat(10 << 20), "1: recursion limit exceeded at line 1 column 128; a line of JSON is wanted"),
        (
            whole.replace("zk-oracle seq", "zk-oracle conc"),
            "1: `meta` is `zk-oracle conc`; `zk-oracle seq` (histories of a register are for `seedbed history`) is wanted",
        ),
        (
            whole.replace(r#"["0.0"]"#, "[]"),
            "1: no sessions; the sessions in the order in which they were opened is wanted",
        ),
        (whole.replace(r#"["0.0"]"#, r#"["0.0","0.0"]"#), "1: two sessions `0.0`; a name for each is wanted"),
        (whole.replace(r#"["0.0"]"#, r#"["00.0"]"#), "1: session `00.0`; client.generation is wanted"),
        (whole.replace(r#""i":0"#, r#""i":1"#), "2: an operation out of order; `i` 0 is wanted"),
        (whole.replace(r#""c":"0.0""#, r#""c":"0.1""#), "2: session `0.1`; a session that is open is wanted"),
        (
            whole.replace("sync", "sink"),
            "2: `op` is `sink`; create, set, delete, get, exists, children, multi, get_acl, sync or reopen is wanted",
        ),
        (whole.replace("sync", "check"), "2: operation 0 has no `path`; a text is wanted"),
        (whole.replace(r#""ok":null,"#, ""), "2: no `ok` and no `err`; one of them is wanted"),
        (whole.replace(r#""ok":null"#, r#""ok":null,"err":"NoNode""#), "2: both `ok` and `err`; one of them is wanted"),
        (
            whole.replace(r#""zxid":0,"#, r#""zxid":99999999999,"#),
            "2: `zxid` of operation 0 is `99999999999`; a whole number of 32 bits is wanted",
        ),
        (whole.replace(r#""watches":[]"#, r#""watches":{}"#), "2: `watches` of operation 0 is `{}`; a list is wanted"),
        (
            whole.replace(r#""ok":null"#, r#""ok":null,"path":"/""#),
            "2: operation 0 has a `path`; no such field is wanted",
        ),
        (
            whole.replace(r#"{"i":0"#, r#"["i":0"#),
            "2: expected `,` or `]` at line 1 column 5; a line of JSON is wanted",
        ),
    ];
    for (text, wanted) in cases {
        assert_eq!(compare("bad", &text).expect_err(wanted).to_string(), format!("bad:{wanted}"));
    }
}
