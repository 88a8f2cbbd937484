//! Every command shown in a document runs and says what is shown.

use std::path::Path;

use seedbed::{shipped, testing};

/// A command of a document and what it is shown to say: `...` stands for any lines, `[..]` for anything in a line, and a
/// run of spaces for any other.
struct Shown {
    command: String,
    said: Vec<String>,
}

fn text(document: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(document);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn shown(document: &str) -> Vec<Shown> {
    let text = text(document);
    let blocks = text.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
    blocks
        .flat_map(|block| block.split("$ ").skip(1))
        .map(|part| {
            let mut lines = part.lines().map(squeezed);
            Shown { command: lines.next().unwrap_or_default(), said: lines.filter(|line| !line.is_empty()).collect() }
        })
        .collect()
}

fn squeezed(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether `line` is what `pattern` shows.
fn fits(pattern: &str, line: &str) -> bool {
    let mut rest = line;
    let pieces: Vec<&str> = pattern.split("[..]").map(str::trim).collect();
    for (index, piece) in pieces.iter().enumerate() {
        let Some(at) = rest.find(piece) else { return false };
        if index == 0 && at != 0 {
            return false;
        }
        rest = &rest[at + piece.len()..];
    }
    pieces.last().is_some_and(|piece| piece.is_empty()) || rest.is_empty()
}

/// The first line shown that was not said at its place.
fn missing<'s>(said: &str, shown: &'s [String]) -> Option<&'s str> {
    let lines: Vec<String> = said.lines().map(squeezed).filter(|line| !line.is_empty()).collect();
    let mut at = 0;
    let mut gap = false;
    for pattern in shown {
        if pattern == "..." {
            gap = true;
            continue;
        }
        let found = lines[at..].iter().position(|line| fits(pattern, line));
        match found {
            Some(skipped) if gap || skipped == 0 => at += skipped + 1,
            _ => return Some(pattern),
        }
        gap = false;
    }
    None
}

#[test]
fn the_readme_shows_what_is_said() {
    let shown = shown("README.md");
    assert!(shown.len() >= 4, "the README shows only {} commands", shown.len());
    for Shown { command, said } in &shown {
        let words = command.strip_prefix("cargo seedbed ").unwrap_or_else(|| panic!("`{command}` is not the command"));
        // Documents are read at the root of the repository; this test runs elsewhere.
        let root = format!("{}/../", env!("CARGO_MANIFEST_DIR"));
        let words = words.replace(" scenarios/", &format!(" {root}scenarios/"));
        let (_, output) = testing::command(&shipped(), &words.split(' ').collect::<Vec<_>>());
        let output = output.replace(&root, "");
        assert_eq!(missing(&output, said), None, "$ {command}\n{output}");
    }
}

/// A shown line that nobody says is found out, and so is one in the wrong place.
#[test]
fn what_is_not_said_is_missed() {
    let shown = ["a", "...", "c [..] e"].map(String::from);
    assert_eq!(missing("a\nb\nc d e", &shown), None);
    assert_eq!(missing("a\nb\nc d f", &shown), Some("c [..] e"));
    assert_eq!(missing("b\na\nc d e", &shown), Some("a"));
}

/// Commands that documents name in tables and prose: each verb and flag exists.
#[test]
fn the_commands_named_in_documents_parse() {
    for document in ["README.md", "CONTRIBUTING.md"] {
        for piece in text(document).split('`').filter(|piece| piece.starts_with("cargo seedbed ")) {
            let verb = piece.split_whitespace().nth(2).unwrap_or_default();
            let (code, output) = testing::command(&shipped(), &[verb, "--help"]);
            assert_eq!(code, 0, "`{piece}` in {document}\n{output}");
        }
    }
}
