//! The board of a game written in Python: what its `cells()` gives, or the grid that its text is.

use hauteur_core::game::{Cells, GameInfo};

// The text of a game may be anything, and each sign would become a square of a drawing.
/// Squares of a board that is read off a text.
const MAX_SIGNS: usize = 1000;

/// An error for a size that no board of letters has.
pub fn check_size(info: &GameInfo) -> Result<(), String> {
    let [_, rows, columns] = info.feature_shape;
    match rows * columns {
        2..=MAX_SIGNS => Ok(()),
        _ => Err(format!("a board has 2 to 1,000 cells, and feature_shape has {rows} rows of {columns}")),
    }
}

/// The board of rows that are texts of signs.
pub fn from_rows(rows: Vec<String>, info: &GameInfo) -> Option<Cells> {
    let [_, height, width] = info.feature_shape;
    // Squares are numbered as in the features, so a board of another size would show moves at wrong places.
    let fits = rows.len() == height && rows.iter().all(|row| row.chars().count() == width);
    fits.then(|| Cells {
        signs: rows.iter().flat_map(|row| row.chars()).collect(),
        row_labels: vec![String::new(); height],
        column_labels: vec![String::new(); width],
        checked: None,
    })
}

/// The board of a text that is a grid of single signs, as large as the features, with blanks between them or without, with labels at the
/// left and below or without; and the line below a grid with labels. An error says why the text is none.
pub fn from_text(text: &str, info: &GameInfo) -> Result<(Cells, Option<String>), String> {
    let [_, rows, columns] = info.feature_shape;
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() < rows {
        let plural = if lines.len() == 1 { "" } else { "s" };
        return Err(format!("text() has {} line{plural}, and feature_shape {rows} rows", lines.len()));
    }
    let mut grid: Vec<Vec<String>> = Vec::new();
    for (number, line) in lines[..rows].iter().enumerate() {
        // Labels in some rows and not in others are no grid: a text of words may look like one in its first line.
        let signs = signs_of(line, columns).filter(|signs| grid.first().is_none_or(|first| first.len() == signs.len()));
        grid.push(signs.ok_or_else(|| {
            let number = number + 1;
            let shown = line.chars().take(40).collect::<String>();
            format!("line {number} of text(), '{shown}', is not {columns} single signs, as feature_shape has columns")
        })?);
    }
    let is_labelled = grid[0].len() > columns;
    let has_more = is_labelled && lines.len() > rows + 1;
    let below: Vec<String> = lines.get(rows).filter(|_| has_more).map_or(Vec::new(), |line| words_of(line));
    let cells = Cells {
        signs: grid.iter().flat_map(|line| line[line.len() - columns..].concat().chars().collect::<Vec<_>>()).collect(),
        row_labels: grid.iter().map(|line| if is_labelled { line[0].clone() } else { String::new() }).collect(),
        column_labels: if below.len() == columns { below } else { vec![String::new(); columns] },
        checked: None,
    };
    Ok((cells, lines.last().filter(|_| has_more).map(|line| line.to_string())))
}

fn words_of(line: &str) -> Vec<String> {
    line.split_whitespace().map(String::from).collect()
}

/// The signs of a row, with its label before them if there is one; `None` where it is no such row. `8 . X O` and `8 .XO` are rows with a
/// label, `. X O` and `.XO` are rows without.
fn signs_of(line: &str, columns: usize) -> Option<Vec<String>> {
    let mut words = words_of(line);
    let is_row = |word: &String| word.chars().count() == columns;
    if let Some(row) = words.pop_if(|row| is_row(row)) {
        // More than a label before it: the last word is then no row, and what stands there is a sentence.
        if words.len() > 1 {
            words.push(row);
        } else {
            words.extend(row.chars().map(String::from));
        }
    }
    let fits = words.len() == columns || words.len() == columns + 1;
    let is_sign = |word: &String| word.chars().count() == 1;
    (fits && words[words.len() - columns..].iter().all(is_sign)).then_some(words)
}
