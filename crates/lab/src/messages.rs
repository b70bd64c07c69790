//! Messages: the fields of those that pages send, numbers in their ranges, and words in errors.

use serde::de::DeserializeOwned;
use serde_json::Value as Json;

/// What a page's message must hold; an error, in one line, names it.
pub fn fields<T: DeserializeOwned>(given: Json, label: &str) -> Result<T, String> {
    serde_json::from_value(given).map_err(|error| format!("{label}: {error}"))
}

/// A number in its range.
pub fn within<T: PartialOrd + std::fmt::Display>(name: &str, value: T, least: T, most: T) -> Result<T, String> {
    if least <= value && value <= most {
        Ok(value)
    } else {
        Err(format!("{name} must be {least} to {most}, got {value}"))
    }
}

/// A text in quotes, as errors show it.
pub fn quoted(text: &str) -> String {
    // As Python's repr, so that an error is the same line in both labs.
    let sign = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(sign);
    for one in text.chars() {
        match one {
            _ if one == sign || one == '\\' => out.extend(['\\', one]),
            _ if one.is_control() => out.extend(one.escape_default()),
            _ => out.push(one),
        }
    }
    out + &sign.to_string()
}

/// ` (did you mean X?)` for the word nearest to what was given, empty where none is near.
pub fn near<'a>(given: &str, allowed: impl IntoIterator<Item = &'a str>) -> String {
    let lower = given.to_lowercase();
    let distances = allowed.into_iter().map(|word| (edits(&lower, word), word));
    // One edit for three letters: with more any short word would be near to any other.
    let nearest = distances.filter(|(edits, word)| 3 * edits <= word.len()).min();
    nearest.map_or_else(String::new, |(_, word)| format!(" (did you mean {word}?)"))
}

/// Letters to add, to leave out or to exchange between two words.
fn edits(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (count, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], count + 1);
        for (place, &wanted) in other.iter().enumerate() {
            let exchanged = diagonal + usize::from(letter != wanted);
            diagonal = row[place + 1];
            row[place + 1] = exchanged.min(diagonal + 1).min(row[place] + 1);
        }
    }
    row[other.len()]
}

/// A number with a comma between its thousands.
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let before = |place: usize| place > 0 && (digits.len() - place).is_multiple_of(3);
    digits.char_indices().flat_map(|(place, digit)| before(place).then_some(',').into_iter().chain([digit])).collect()
}
