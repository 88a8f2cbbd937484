//! Columns of text, aligned.

/// Which side of its column a cell keeps to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table of text.
///
/// 1. every row has as many cells as there are columns;
/// 2. no line ends in a space.
#[derive(Debug, Clone)]
pub struct Table {
    sides: Vec<Side>,
    rows: Vec<Vec<String>>,
    indent: usize,
}

impl Table {
    /// A table with a heading for each column.
    pub fn new(columns: &[(&str, Side)]) -> Self {
        Table {
            sides: columns.iter().map(|(_, side)| *side).collect(),
            rows: vec![columns.iter().map(|(heading, _)| (*heading).to_owned()).collect()],
            indent: 0,
        }
    }

    /// A table without headings, `indent` spaces in.
    pub fn bare(sides: &[Side], indent: usize) -> Self {
        Table { sides: sides.to_vec(), rows: Vec::new(), indent }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it has more or fewer cells than there are columns.
    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert_eq!(cells.len(), self.sides.len(), "a row {cells:?} of a table with {} columns", self.sides.len());
        self.rows.push(cells);
    }

    /// The lines, each ended.
    pub fn text(&self) -> String {
        let widths: Vec<usize> = (0..self.sides.len()).map(|column| self.width(column)).collect();
        self.rows.iter().map(|row| self.line(row, &widths)).collect()
    }

    fn width(&self, column: usize) -> usize {
        self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let cells: Vec<String> = row
            .iter()
            .zip(widths)
            .zip(&self.sides)
            .map(|((cell, width), side)| match side {
                Side::Left => format!("{cell:<width$}"),
                Side::Right => format!("{cell:>width$}"),
            })
            .collect();
        let line = format!("{}{}", " ".repeat(self.indent), cells.join("  "));
        format!("{}\n", line.trim_end())
    }
}

/// `text` in lines of at most `width` characters (longer words stay whole), each `indent` spaces in.
pub fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && indent + line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines.iter().map(|line| format!("{}{line}\n", " ".repeat(indent))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_lines_end_in_no_space() {
        let mut table = Table::new(&[("scenario", Side::Left), ("runs", Side::Right), ("", Side::Left)]);
        table.row(["leasing/crash", "1,000", ""]);
        table.row(["echo", "7", "held"]);
        assert_eq!(table.text(), "scenario        runs\nleasing/crash  1,000\necho               7  held\n");
    }

    #[test]
    #[should_panic(expected = "a table with 1 columns")]
    fn a_row_too_long_is_a_mistake() {
        Table::bare(&[Side::Left], 0).row(["a", "b"]);
    }

    #[test]
    fn words_are_wrapped_and_never_broken() {
        assert_eq!(wrapped("one two three", 2, 9), "  one two\n  three\n");
        assert_eq!(wrapped("extraordinary", 2, 9), "  extraordinary\n");
    }
}
