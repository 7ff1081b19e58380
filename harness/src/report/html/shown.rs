//! Blocks as a browser has them: lines that belong together are a list, a cell that stands for
//! several rows spans them, and what a row is about is its heading.

use serde::Serialize;

use crate::report::page::Block;

/// Something in a section.
#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Shown {
    Text { text: String },
    List { items: Vec<Item> },
    Fields { fields: Vec<[String; 2]> },
    Table { header: Vec<Heading>, rows: Vec<Vec<Cell>> },
    Command { text: String },
}

/// A line, and those below it.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Item {
    text: String,
    below: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Heading {
    text: String,
    number: bool,
}

#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Cell {
    text: String,
    /// Says what the row is about.
    heads: bool,
    number: bool,
    /// Rows.
    span: usize,
}

/// All blocks of a part, without titles.
pub(super) fn all(blocks: Vec<Block>) -> Vec<Shown> {
    let mut shown = vec![];
    for block in blocks {
        match block {
            Block::Title(_) => {}
            Block::Line { text, indent: 0 } => shown.push(Shown::Text { text }),
            Block::Line { text, .. } => line(&text, &mut shown),
            Block::Field { name, text } => field([name, text], &mut shown),
            Block::Table { header, rows, right_from } => shown.push(table(header, rows, right_from)),
            Block::Command(text) => shown.push(Shown::Command { text }),
        }
    }
    shown
}

/// One with blanks before it belongs to the last that has fewer.
fn line(text: &str, shown: &mut Vec<Shown>) {
    let deep = text.len() - text.trim_start().len() >= BELOW;
    let text = text.trim().to_owned();
    if let Some(Shown::List { items }) = shown.last_mut() {
        return match items.last_mut().filter(|_| deep) {
            Some(item) => item.below.push(text),
            None => items.push(Item { text, below: vec![] }),
        };
    }
    shown.push(Shown::List { items: vec![Item { text, below: vec![] }] });
}

/// Blanks before a line that belongs to another one.
const BELOW: usize = 4;

fn field(field: [String; 2], shown: &mut Vec<Shown>) {
    match shown.last_mut() {
        Some(Shown::Fields { fields }) => fields.push(field),
        _ => shown.push(Shown::Fields { fields: vec![field] }),
    }
}

fn table(header: Vec<String>, rows: Vec<Vec<String>>, right_from: usize) -> Shown {
    let heads = heads(&rows, right_from);
    let spans: Vec<Vec<usize>> = (0..rows.len()).map(|at| spans(&rows, at, heads)).collect();
    let cell = |(at, text): (usize, String), span| Cell {
        text,
        heads: at < heads,
        number: at >= right_from,
        span,
    };
    let row = |(row, spans): (Vec<String>, Vec<usize>)| {
        let cells = row.into_iter().enumerate().zip(spans).filter(|(_, span)| *span > 0);
        cells.map(|(text, span)| cell(text, span)).collect()
    };
    let header = header.into_iter().enumerate();
    let header = header.map(|(at, text)| Heading { text, number: at >= right_from }).collect();
    Shown::Table { header, rows: rows.into_iter().zip(spans).map(row).collect() }
}

/// How many of the first columns say what a row is about: up to the first that says it in every row,
/// since an empty cell stands for the one above it.
fn heads(rows: &[Vec<String>], right_from: usize) -> usize {
    let says = |at: &usize| rows.iter().all(|row| row.get(*at).is_some_and(|cell| !cell.is_empty()));
    (0..right_from).find(says).map_or(1, |at| at + 1)
}

/// For how many rows each cell of a row stands; 0 where one above stands for it.
fn spans(rows: &[Vec<String>], at: usize, heads: usize) -> Vec<usize> {
    let same = |row: &Vec<String>, column: usize| {
        column + 1 < heads && row[..=column.min(row.len() - 1)].iter().all(String::is_empty)
    };
    let span = |column: usize| {
        if at > 0 && same(&rows[at], column) {
            return 0;
        }
        1 + rows[at + 1..].iter().take_while(|row| same(row, column)).count()
    };
    (0..rows[at].len()).map(span).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::page::Page;

    fn cells(rows: &[&[&str]], right_from: usize) -> Vec<Vec<(String, bool, usize)>> {
        let rows = rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect();
        let Shown::Table { rows, .. } = table(vec![], rows, right_from) else { unreachable!() };
        let plain = |cell: Cell| (cell.text, cell.heads, cell.span);
        rows.into_iter().map(|row| row.into_iter().map(plain).collect()).collect()
    }

    #[test]
    fn a_cell_that_is_told_once_spans_the_rows_that_share_it() {
        let rows = cells(
            &[&["a", "time", "x", "1"], &["", "", "y", "2"], &["", "CPU", "x", "3"], &["b", "time", "x", "4"]],
            4,
        );
        let of = |text: &str, heads, span| (text.to_owned(), heads, span);
        assert_eq!(rows[0], [of("a", true, 3), of("time", true, 2), of("x", true, 1), of("1", false, 1)]);
        assert_eq!(rows[1], [of("y", true, 1), of("2", false, 1)]);
        assert_eq!(rows[2], [of("CPU", true, 1), of("x", true, 1), of("3", false, 1)]);
        assert_eq!(rows[3][0], of("b", true, 1));
    }

    #[test]
    fn where_every_row_says_what_it_is_about_nothing_is_spanned() {
        let rows = cells(&[&["ext4", "1", ""], &["btrfs", "2", "3"]], 1);
        assert_eq!(rows.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3]);
        assert!(rows.iter().flatten().all(|(_, _, span)| *span == 1));
        assert_eq!(cells(&[&["", "1"], &["", "2"]], 1).iter().flatten().filter(|cell| cell.2 == 1).count(), 4);
    }

    #[test]
    fn lines_that_are_indented_are_a_list_and_deeper_ones_belong_to_the_last() {
        let mut page = Page::boundless();
        page.title("T");
        page.line("plain", 0);
        page.line("  ✓ holds: it", 4);
        page.line("      now: 3", 8);
        page.line("ext4/1 failed", 2);
        let shown = all(page.blocks);
        let [Shown::Text { .. }, Shown::List { items }] = shown.as_slice() else { panic!("{shown:?}") };
        assert_eq!((items.len(), items[0].below.as_slice()), (2, &["now: 3".to_owned()][..]));
    }
}
