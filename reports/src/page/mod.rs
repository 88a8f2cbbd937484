//! Pages that need nothing else: no network, no files beside them; readable without scripts, light and dark.
//!
//! - [`campaign`]: what a campaign found.
//! - [`failure`]: one run that fell, in words and as a picture.
//! - [`experiment`]: plots of what was measured.
//! - [`kills`]: how soon each engine kills each mutant.
//! - `figures`: a scenario's statistics, coverage and faults, as a part of the campaign's.

pub mod campaign;
pub mod experiment;
pub mod failure;
mod figures;
pub mod kills;

use crate::svg::escaped;

/// Colours by name, for light and dark.
const STYLE: &str = "
:root { color-scheme: light dark; --back: #ffffff; --card: #f6f7f9; --text: #1d2430; --soft: #5b6574; --line: #d5dae1;
  --node: #2f66b0; --bad: #b3261e; --bad-soft: #fdeceb; --good: #1a7f45; --bar: #8fb98a; }
@media (prefers-color-scheme: dark) { :root { --back: #14181f; --card: #1d232d; --text: #e6e9ee; --soft: #a0a9b7;
  --line: #39424f; --node: #7db0f5; --bad: #ff8a80; --bad-soft: #3a2324; --good: #6fcf97; --bar: #547a50; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 90rem; font: 15px/1.45 system-ui, sans-serif; background: var(--back);
  color: var(--text); }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .6rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .4rem; }
p { margin: .3rem 0; } .soft { color: var(--soft); } .bad { color: var(--bad); } .good { color: var(--good); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; } td.number, th.number { text-align: right; white-space: nowrap; }
pre, code { font-family: ui-monospace, monospace; font-size: .87em; }
pre { background: var(--card); padding: .7rem 1rem; border-radius: 6px; overflow-x: auto; white-space: pre-wrap; }
.card { background: var(--card); border-radius: 8px; padding: .8rem 1.1rem; margin: .8rem 0; }
.picture { overflow: auto; max-height: 85vh; border: 1px solid var(--line); border-radius: 8px; }
.spacetime { background: var(--back); display: block; }
.wide { overflow-x: auto; } details > summary { cursor: pointer; color: var(--node); }
.tools { display: flex; gap: .8rem; align-items: center; flex-wrap: wrap; margin: .5rem 0; }
.tools input { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 6px;
  padding: .2rem .5rem; } .dim { opacity: .12; } tr.culprit td { background: var(--bad-soft); }
.meter { display: inline-block; height: .6em; background: var(--node); border-radius: 3px; vertical-align: baseline; }
td.bar { width: 12rem; } .heat { background: color-mix(in srgb, var(--node) var(--heat), transparent); }
table.met { width: auto; } details > .wide, details > p { margin: .5rem 0; }
.curve .line { fill: none; stroke: var(--node); stroke-width: 2; } .curve .axis { fill: none; stroke: var(--line); }
.curve text { fill: var(--soft); font-size: 11px; }
.plot { display: block; max-width: 100%; height: auto; } .plot text { fill: var(--soft); font-size: 12px; }
.plot .grid { stroke: var(--line); }
";

/// The page of this title and body.
fn page(title: &str, body: &str, script: &str) -> String {
    let script = if script.is_empty() { String::new() } else { format!("<script>{script}</script>\n") };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}{script}\
         </body>\n</html>\n",
        escaped(title)
    )
}

/// Text with its lines kept.
fn lines(text: &str) -> String {
    text.lines().map(escaped).collect::<Vec<_>>().join("\n")
}
