//! Broken files, flags, parameters and traces: each ends with exit code 2 and its exact text.
//!
//! The cases are data, in `bad_input.txt`: a line `# story`, files to write (`file NAME` and their lines), the command
//! (`$ ARGUMENTS`), `----`, and what it says. `@` stands for the folder that the files lie in, a
//! line of one dot for an empty one. After a change of texts, `cargo test --release -p seedbed --test suite -- --ignored
//! rewrite` writes the file anew; read its difference before you commit.

use std::fs;
use std::path::Path;

use seedbed::{exit, shipped, testing};

use crate::folder::Folder;

const DATA: &str = include_str!("bad_input.txt");

/// One case.
struct Case<'a> {
    story: &'a str,
    /// Names and texts.
    files: Vec<(&'a str, String)>,
    command: &'a str,
    /// Where in the data what it says begins, and what it says.
    said: String,
}

fn cases(data: &str) -> Vec<Case<'_>> {
    data.split("\n\n").filter(|block| block.starts_with("# ")).map(case).collect()
}

fn case(block: &str) -> Case<'_> {
    let (ask, said) = block.split_once("\n----").expect("a case has a line of hyphens");
    let mut case = Case { story: "", files: Vec::new(), command: "", said: said.trim().to_owned() };
    for line in ask.lines() {
        if let Some(story) = line.strip_prefix("# ") {
            case.story = story;
        } else if let Some(name) = line.strip_prefix("file ") {
            case.files.push((name, String::new()));
        } else if let Some(command) = line.strip_prefix("$ ") {
            case.command = command;
        } else {
            let (_, text) = case.files.last_mut().expect("lines belong to a file");
            text.push_str(line.strip_prefix("  ").unwrap_or(line));
            text.push('\n');
        }
    }
    case
}

/// What the case says now, with the folder's name taken out, and its code.
fn run(case: &Case<'_>, folder: &Folder) -> (u8, String) {
    for (name, text) in &case.files {
        folder.write(name, text);
    }
    let place = folder.0.display().to_string();
    let arguments: Vec<String> = case.command.split_whitespace().map(|word| word.replace('@', &place)).collect();
    let (code, said) = testing::command(&shipped(), &arguments.iter().map(String::as_str).collect::<Vec<_>>());
    (code, said.replace(&place, "@").trim().replace("\n\n", "\n.\n"))
}

#[test]
fn every_broken_input_is_refused_in_its_own_words() {
    let cases = cases(DATA);
    assert!(cases.len() >= 40, "{} cases", cases.len());
    let mut wrong = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        let folder = Folder::new(&format!("case-{index}"));
        let (code, said) = run(case, &folder);
        if (code, &said) != (exit::BAD_INPUT, &case.said) {
            wrong.push(format!(
                "{}\n$ {}\nexpected 2:\n{}\nfound {code}:\n{said}\n",
                case.story, case.command, case.said
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
#[ignore = "no test: rewrites the data after a change of texts"]
fn rewrite() {
    let (heading, _) = DATA.split_once("\n\n").expect("the data has a heading");
    let mut text = format!("{heading}\n\n");
    for (index, block) in DATA.split("\n\n").filter(|block| block.starts_with("# ")).enumerate() {
        let (ask, _) = block.split_once("\n----").expect("a case has a line of hyphens");
        let folder = Folder::new(&format!("rewrite-{index}"));
        let (_, said) = run(&case(block), &folder);
        text.push_str(&format!("{ask}\n----\n{said}\n\n"));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/bad_input.txt");
    fs::write(path, format!("{}\n", text.trim_end())).expect("the source folder can be written");
}
