//! One run that fell, as a page or as a part of one.

use std::fmt::Write;

use seedbed_model::record::{Failure, ShrinkRecord};

use super::{lines, page};
use crate::spacetime::{Picture, svg};
use crate::svg::escaped;
use crate::{number, shrunk};

/// A run to show.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// What fell; `None` for a run in which nothing did.
    pub failure: Option<&'a Failure>,
    /// The run.
    pub picture: Picture<'a>,
    /// What is told below: how it was shrunk, its plan, what it hangs on.
    pub notes: &'a str,
    /// Whether the page is about this run alone: nothing is folded away then.
    pub is_alone: bool,
}

/// The page of a run.
pub fn html(shown: &Shown<'_>) -> String {
    page(shown.picture.title, &format!("<h1>{}</h1>\n{}", escaped(shown.picture.title), part(shown)), FILTER)
}

/// The page of a failure made small.
pub fn of_shrunk(record: &ShrinkRecord) -> String {
    let title = format!("{} fell in {}", record.failure.property, record.failure.place);
    let picture = Picture { title: &title, names: &record.nodes, steps: &record.trace, culprits: &record.chain };
    html(&Shown { failure: Some(&record.failure), picture, notes: &shrunk::text(record), is_alone: true })
}

/// The part of a page: what fell, the picture, the steps in words.
pub(super) fn part(shown: &Shown<'_>) -> String {
    let mut text = shown.failure.map_or(String::new(), told);
    if !shown.picture.steps.is_empty() {
        text.push_str(TOOLS);
        let _ = writeln!(text, "<div class=\"picture\">{}</div>", svg::svg(&shown.picture));
        text.push_str(&table(&shown.picture));
    }
    if !shown.notes.is_empty() {
        let open = if shown.is_alone { " open" } else { "" };
        let _ =
            writeln!(text, "<details{open}><summary>Explained</summary><pre>{}</pre></details>", lines(shown.notes));
    }
    text
}

fn told(failure: &Failure) -> String {
    let seed = failure.seed.as_ref().map(|seed| format!(", seed {}", escaped(seed))).unwrap_or_default();
    let decimals = number::decimals([failure.at_ns]);
    let pasted = [&failure.paste, &failure.shrink].into_iter().filter(|line| !line.is_empty());
    let pasted: Vec<String> = pasted.map(|line| escaped(line)).collect();
    let pasted = if pasted.is_empty() { String::new() } else { format!("<pre>{}</pre>", pasted.join("\n")) };
    format!(
        "<div class=\"card\"><p><strong class=\"bad\">{}</strong> fell: {}</p><p>{}</p>\
         <p class=\"soft\">{}{seed}, step {}, {}; {}; revision {}, digest <code>{}</code></p>\
         {pasted}</div>\n",
        escaped(&failure.property),
        escaped(&failure.words),
        escaped(&failure.detail),
        escaped(&failure.place),
        failure.step,
        number::seconds(failure.at_ns, decimals),
        escaped(&failure.shrunk),
        escaped(&failure.revision),
        escaped(&failure.digest),
    )
}

fn table(picture: &Picture<'_>) -> String {
    let decimals = number::decimals(picture.steps.iter().map(|step| step.at_ns));
    let mut text = format!(
        "<details><summary>{} in words</summary><div class=\"wide\"><table><tr><th class=\"number\">step</th>\
         <th class=\"number\">time</th><th>what</th><th>what the node did</th></tr>\n",
        number::counted(picture.steps.len() as u64, "step")
    );
    for (row, step) in picture.steps.iter().enumerate() {
        let class = if picture.is_culprit(row) { " class=\"culprit\"" } else { "" };
        let effects: Vec<String> = step.effects.iter().map(|effect| escaped(effect)).collect();
        let _ = writeln!(
            text,
            "<tr{class}><td class=\"number\">{}</td><td class=\"number\">{}</td><td>{}</td><td>{}</td></tr>",
            step.step,
            number::seconds(step.at_ns, decimals),
            escaped(&step.what),
            effects.join("<br>")
        );
    }
    text.push_str("</table></div></details>\n");
    text
}

const TOOLS: &str = "<div class=\"tools\"><label>Show steps with <input type=\"search\" data-filter></label>\
    <label>Zoom <input type=\"range\" min=\"40\" max=\"200\" value=\"100\" data-zoom></label></div>\n";

/// What the page can do beyond being read: dims the steps that do not match, and zooms.
pub(super) const FILTER: &str = "
document.querySelectorAll('[data-filter]').forEach(input => {
  const picture = input.closest('.tools').nextElementSibling;
  input.addEventListener('input', () => {
    const wanted = input.value.toLowerCase();
    picture.querySelectorAll('.st-row, .st-message').forEach(part => {
      part.classList.toggle('dim', wanted !== '' && !part.textContent.toLowerCase().includes(wanted));
    });
  });
});
document.querySelectorAll('[data-zoom]').forEach(input => {
  const drawing = input.closest('.tools').nextElementSibling.querySelector('svg');
  const width = drawing.viewBox.baseVal.width, height = drawing.viewBox.baseVal.height;
  input.addEventListener('input', () => {
    drawing.setAttribute('width', width * input.value / 100);
    drawing.setAttribute('height', height * input.value / 100);
  });
});
";

#[cfg(test)]
mod tests {
    use super::super::super::spacetime::tests::{picture, run};
    use super::*;

    #[test]
    fn a_page_needs_nothing_else() {
        let (names, steps) = run();
        let failure = Failure { property: "single-copy".into(), detail: "<both>".into(), ..Failure::default() };
        let shown =
            Shown { failure: Some(&failure), picture: picture(&names, &steps), notes: "shrunk", is_alone: true };
        let text = html(&shown);
        assert!(text.starts_with("<!doctype html>") && text.trim_end().ends_with("</html>"));
        assert!(text.contains("&lt;both&gt;") && !text.contains("<both>"));
        let elsewhere = text.replace("http://www.w3.org/2000/svg", "");
        assert!(!elsewhere.contains("http://") && !elsewhere.contains("https://") && !elsewhere.contains("src="));
    }
}
