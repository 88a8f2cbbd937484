//! A judged history as a page of its own.

use super::Told;
use super::svg::svg;
use super::words;
use crate::svg::escaped;

/// The verdict and the picture, without anything from elsewhere.
pub fn html(told: &Told<'_>) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{}</title>\n\
         <style>body {{ font-family: system-ui, sans-serif; margin: 2rem; color: #222222; }}\n\
         pre {{ background: #f6f6f6; padding: 1rem; overflow-x: auto; }}\n\
         .picture {{ overflow-x: auto; border: 1px solid #dddddd; }}</style>\n</head>\n<body>\n\
         <h1>History {}</h1>\n<pre>{}</pre>\n<div class=\"picture\">\n{}</div>\n</body>\n</html>\n",
        escaped(told.name),
        escaped(told.name.rsplit('/').next().unwrap_or_default()),
        words::text(told).lines().map(|line| escaped(line) + "\n").collect::<String>(),
        svg(told)
    )
}
