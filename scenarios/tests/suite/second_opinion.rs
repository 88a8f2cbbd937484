//! stateright's checkers and its Explorer page, by the command.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use seedbed::{shipped, testing};

fn seedbed(command: &str) -> (u8, String) {
    testing::command(&shipped(), &command.split(' ').collect::<Vec<_>>())
}

/// The rows of the table at the end, without the times.
fn table(said: &str) -> Vec<Vec<String>> {
    let rows = said.lines().skip_while(|line| !line.starts_with("bound "));
    let cells = |row: &str| row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect();
    let without_time = |mut cells: Vec<String>| {
        cells.retain(|cell| !cell.ends_with(" s"));
        cells
    };
    rows.take_while(|row| !row.contains(", ")).map(|row| without_time(cells(row))).collect()
}

#[test]
fn both_engines_print_one_table() {
    let (code, ours) = seedbed("check echo");
    let (same_code, theirs) = seedbed("check echo --engine stateright --jobs 1");
    assert_eq!((code, same_code), (0, 0), "{theirs}");
    assert_eq!(table(&ours), table(&theirs), "{theirs}");
    assert_eq!(table(&ours).len(), 4, "{ours}");
    assert!(theirs.contains("not checked: answerable (of the whole graph)"), "{theirs}");
}

#[test]
fn a_mutant_falls_by_the_line_that_is_printed_whatever_the_order() {
    let check = "check lease-timers --mutant no-margin --engine stateright";
    for order in ["bfs --jobs 1", "bfs --jobs 2", "dfs --jobs 1"] {
        let (code, said) = seedbed(&format!("{check} --order {order}"));
        assert_eq!(code, 10, "{said}");
        let paste = said.lines().find_map(|line| line.trim().strip_prefix("replay:")).expect("a line to paste");
        let paste = paste.trim().strip_prefix("cargo seedbed ").expect("the shipped command's name");
        let (code, again) = seedbed(paste);
        assert_eq!(code, 10, "{again}");
        assert!(again.contains("single-holder fell"), "{again}");
    }
}

/// Ends the process whatever becomes of the test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended by itself: then the test has failed already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn get(port: u16, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer)
}

#[test]
fn the_explorer_page_shows_choices_and_states_in_words() {
    let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port is free").port();
    let serve = ["check", "echo", "--bound", "name=lossy", "--serve", &port.to_string()];
    let mut command = Command::new(env!("CARGO_BIN_EXE_seedbed"));
    let mut served = Ended(command.args(serve).stdout(Stdio::piped()).spawn().expect("the command starts"));
    // The line comes before the page: what follows may need a moment, and is asked for until it is there.
    let mut line = [0; 14];
    served.0.stdout.as_mut().expect("it is piped").read_exact(&mut line).expect("it says where");
    assert_eq!(&line, b"echo / lossy: ");
    let page = (0..1_000_000).find_map(|_| get(port, "/.states/0")).expect("the page comes up");
    assert!(page.contains("client-1 decides Ask"), "{page}");
    assert!(page.contains("in flight, client-1 to server: Request(0.1, 0)"), "{page}");
    let taken = seedbed(&format!("check echo --bound name=lossy --serve {port}"));
    assert_eq!(taken.0, 2, "{}", taken.1);
    assert!(taken.1.contains(&format!("--serve 127.0.0.1:{port}: listen at")), "{}", taken.1);
}
