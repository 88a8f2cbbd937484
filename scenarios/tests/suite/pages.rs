//! Pages: what they hold, and that a browser shows them without anything from elsewhere.

use std::path::Path;
use std::process::Command;

use seedbed::{exit, shipped, testing};

use crate::folder::Folder;

/// At most so many bytes for a campaign of ten thousand runs.
const PAGE_BYTES_MAX: u64 = 5_000_000;

fn run(folder: &Folder, command: &str) -> (u8, String) {
    let place = folder.0.display().to_string();
    let arguments: Vec<String> = command.split_whitespace().map(|word| word.replace('@', &place)).collect();
    testing::command(&shipped(), &arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Chromium's numbers for what a reader prefers.
const SCHEMES: [(&str, u8); 2] = [("dark", 0), ("light", 1)];

/// Shows the page in a browser, where there is one: what its console says, and the picture of it.
fn browse(page: &Path, scheme: u8, picture: &Path) -> Option<(String, Vec<u8>)> {
    let browser = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|found| found.status.success()))?;
    let shown = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--window-size=1400,2000"])
        // Nothing may be asked of the network: no name is found, and to ask is an error on the console.
        .arg("--host-resolver-rules=MAP * ~NOTFOUND")
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .arg(format!("--screenshot={}", picture.display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&shown.stderr);
    let console = said.lines().filter(|line| line.contains("CONSOLE") || line.contains("ERR_")).collect::<Vec<_>>();
    Some((console.join("\n"), std::fs::read(picture).unwrap_or_default()))
}

/// Asserts that a browser draws the page, light and dark, and has nothing to say of it.
#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
fn shows(page: &Path) {
    let mut pictures = Vec::new();
    for (name, scheme) in SCHEMES {
        let Some((console, picture)) = browse(page, scheme, &page.with_extension(format!("{name}.png"))) else {
            return eprintln!("not run: there is no Chromium to show {}", page.display());
        };
        assert_eq!(console, "", "{}", page.display());
        assert!(picture.starts_with(b"\x89PNG") && picture.len() > 20_000, "{} is drawn", page.display());
        pictures.push(picture);
    }
    assert!(pictures[0] != pictures[1], "{} is the same by day and by night", page.display());
}

/// How many runs there were, and of those not expected to fall how many fell, and in how many kinds: falls of one
/// property in one scenario that have one signature.
fn counted(results: &str) -> (u64, u64, usize) {
    let results: seedbed_model::record::CampaignRecord = serde_json::from_str(results).expect("they are results");
    let falls = || results.scenarios.iter().flat_map(|scenario| &scenario.falls).filter(|fall| !fall.expected);
    let runs = results.scenarios.iter().map(|scenario| scenario.runs).sum();
    (runs, falls().map(|fall| fall.count).sum(), falls().map(|fall| fall.groups.len()).sum())
}

#[test]
fn a_campaign_of_ten_thousand_runs_is_a_page_of_its_own() {
    let folder = Folder::new("page-campaign");
    let scenarios = [
        "asymmetric",
        "dying-owner",
        "joining",
        "late-messages",
        "lookup-cut-off",
        "manager-crash",
        "owner-crash",
        "partition",
        "paused-owner",
        "race",
        "rough-links",
        "steady",
    ]
    .map(|name| format!("leasing/{name}"))
    .join(" ");
    let flags = "--seeds 0..900 --mutant no-sequence-pairs --html @/page --json @/results.json";
    let (code, said) = run(&folder, &format!("run {scenarios} seqpair {flags}"));
    assert_eq!(code, exit::SAFETY, "{said}");
    let (runs, fell, kinds) = counted(&folder.read("results.json"));
    assert!(runs >= 10_000 && fell >= 1_000 && kinds >= 20, "{runs} runs, of which {fell} fell in {kinds} kinds");
    let page = folder.0.join("page/index.html");
    let text = std::fs::read_to_string(&page).expect("the page is written");
    assert!((text.len() as u64) < PAGE_BYTES_MAX, "{} bytes", text.len());
    let pictures = text.matches("class=\"spacetime\"").count();
    assert!(pictures >= 15, "{pictures} falls are drawn");
    let elsewhere = text.replace("http://www.w3.org/2000/svg", "");
    assert!(!elsewhere.contains("http://") && !elsewhere.contains("https://"), "it asks for nothing");
    for part in ["seeds for a detection at 95 %", "goal or mark", "class=\"curve\"", "What each fault met"] {
        assert!(text.contains(part), "{part}");
    }
    shows(&page);
}

#[test]
fn a_failure_made_small_is_a_page_of_its_own() {
    let folder = Folder::new("page-failure");
    let shrunk = "shrink leasing/race --seed 0 --mutant no-sequence-pairs --html @/small.html";
    let (code, said) = run(&folder, shrunk);
    assert_eq!(code, exit::SAFETY, "{said}");
    let page = folder.0.join("small.html");
    let text = std::fs::read_to_string(&page).expect("the page is written");
    assert!(text.contains("owner-2") && text.contains("1-minimal") && text.contains("(searched, "));
    shows(&page);
}

#[test]
fn a_run_is_told_in_every_format() {
    let folder = Folder::new("page-formats");
    let told = |format: &str| {
        let command = format!("replay leasing/race --seed 0 --mutant no-sequence-pairs --format {format}");
        let (code, said) = run(&folder, &command);
        assert_eq!(code, exit::SAFETY, "{said}");
        said
    };
    assert!(told("diagram").starts_with("        time  manager       owner-1"));
    assert!(told("svg").starts_with("<svg xmlns"));
    assert!(told("html").starts_with("<!doctype html>"));
    assert!(told("mermaid").starts_with("sequenceDiagram\n    participant n0 as manager"));
    assert!(told("shiviz").contains("manager {\"manager\":1}\n"));
    for format in ["perfetto", "itf", "json"] {
        let text = told(format);
        serde_json::from_str::<serde_json::Value>(&text).unwrap_or_else(|error| panic!("{format}: {error}"));
    }
}
