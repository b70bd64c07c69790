//! Games of chess as PGN: the main line is read, variations and comments are passed over.

use std::collections::BTreeMap;

use crate::played::Played;
use crate::position::{load_game, result_text, with_fen};
use crate::texts::{MOST_PLIES, ReadGame, is_number};

const LINE_WIDTH: usize = 80;
const CHESS960: [&str; 6] = ["chess960", "chess 960", "fischerandom", "fischerrandom", "fischer random", "freestyle"];
const STANDARD: [&str; 5] = ["", "standard", "chess", "normal", "from position"];
const RESULTS: [(&str, Option<i8>); 4] = [("1-0", Some(1)), ("1/2-1/2", Some(0)), ("0-1", Some(-1)), ("*", None)];

/// The tags of a text, and the words of its first game without comments and variations.
fn split(text: &str) -> Result<(BTreeMap<String, String>, Vec<String>), String> {
    let (mut tags, mut words, mut word, mut depth) = (BTreeMap::new(), Vec::new(), String::new(), 0usize);
    let mut rest = text;
    while let Some(sign) = rest.chars().next() {
        let ends_word = sign.is_whitespace() || "[{;()$".contains(sign);
        if ends_word && !word.is_empty() && depth == 0 {
            words.push(std::mem::take(&mut word));
        }
        let skipped = match sign {
            '[' if depth == 0 => {
                if !words.is_empty() {
                    break; // the next game
                }
                let end = rest.find("]\n").or_else(|| rest.find("]\r")).or_else(|| rest.rfind(']'));
                let end = end.ok_or("the PGN has a tag that is not closed")?;
                let (name, value) = rest[1..end].split_once(' ').unwrap_or((&rest[1..end], ""));
                tags.insert(name.to_string(), value.trim().trim_matches('"').to_string());
                end + 1
            }
            '{' => rest.find('}').ok_or("the PGN has a comment that is not closed")? + 1,
            ';' => rest.find('\n').unwrap_or(rest.len() - 1) + 1,
            '(' => {
                depth += 1;
                1
            }
            ')' => {
                depth = depth.checked_sub(1).ok_or("the PGN closes a variation that was not begun")?;
                word.clear();
                1
            }
            '$' => 1 + rest[1..].bytes().take_while(u8::is_ascii_digit).count(),
            sign => {
                if depth == 0 && !sign.is_whitespace() {
                    word.push(sign);
                }
                sign.len_utf8()
            }
        };
        rest = &rest[skipped..];
    }
    if !word.is_empty() {
        words.push(word);
    }
    Ok((tags, words))
}

/// The first game of a text.
pub fn read(text: &str) -> Result<ReadGame, String> {
    let (tags, words) = split(text)?;
    let tag = |name: &str| tags.get(name).map_or("", String::as_str);
    let variant = tag("Variant").to_lowercase();
    let is_960 = CHESS960.contains(&variant.as_str());
    if !is_960 && !STANDARD.contains(&variant.as_str()) {
        return Err(format!("PGN: is of the variant {:?}, not of chess", tag("Variant")));
    }
    let game = load_game(&with_fen(if is_960 { "chess(chess960=true)" } else { "chess" }, tag("FEN"))?)?;
    let mut played = Played::new(game.clone(), &[])?;
    let mut result = RESULTS.iter().find(|(name, _)| *name == tag("Result")).and_then(|(_, outcome)| *outcome);
    for word in words {
        if let Some((_, outcome)) = RESULTS.iter().find(|(name, _)| *name == word) {
            result = result.or(*outcome);
            break;
        }
        let san = word.trim_start_matches(|sign: char| sign.is_ascii_digit());
        let glued = san.len() < word.len() && san.starts_with('.'); // 1.e4
        let san = if glued { san.trim_start_matches('.') } else { word.as_str() };
        let san = san.trim_end_matches(['!', '?']);
        if san.is_empty() || is_number(&word) || san == "..." {
            continue;
        }
        let ply = played.position.moves.len() + 1;
        if ply > MOST_PLIES {
            return Err(format!("the game has more than {MOST_PLIES} plies"));
        }
        let action = played.position.parse(san).map_err(|error| format!("PGN, ply {ply}: {error}"))?;
        played.position.play(action)?;
    }
    let reason = if tag("Termination").to_lowercase().contains("resign") { "resignation" } else { "" };
    let ending = played.ending().map(|ending| (ending.outcome, ending.reason));
    Ok(ReadGame {
        game,
        actions: played.position.moves,
        names: [tag("White"), tag("Black")].map(|name| name.chars().take(60).collect()),
        ending: ending.or_else(|| result.map(|outcome| (outcome, reason.to_string()))),
    })
}

/// A game as PGN. `date`: year, month and day with hyphens.
pub fn written(played: &Played, names: &[String; 2], date: &str) -> String {
    let (ending, start) = (played.ending(), played.position.back_to(0));
    let result = ending.as_ref().map_or("*", |ending| result_text(ending.outcome));
    let mut tags = vec![("Event", "hauteur".to_string()), ("Site", "?".into()), ("Date", date.replace('-', "."))];
    tags.extend([("Round", "-".into()), ("White", names[0].clone()), ("Black", names[1].clone())]);
    tags.push(("Result", result.into()));
    if start.spec().contains("chess960=true") {
        tags.push(("Variant", "Chess960".into()));
    }
    if start.spec().contains("fen=") {
        tags.extend([("SetUp", "1".to_string()), ("FEN", start.state.notation())]);
    }
    if let Some(ending) = ending.filter(|ending| !ending.reason.is_empty()) {
        tags.push(("Termination", ending.reason));
    }
    let (mut words, mut place) = (Vec::new(), start);
    for (ply, &action) in played.position.moves.iter().enumerate() {
        if place.to_move() == 0 || ply == 0 {
            let notation = place.state.notation();
            let number = notation.split_whitespace().nth(5).unwrap_or("1");
            words.push(format!("{number}.{}", if place.to_move() == 0 { "" } else { ".." }));
        }
        words.push(place.text(action));
        place.state.play(action);
    }
    words.push(result.into());
    let value = |text: &str| {
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        line.replace('\\', "/").replace('"', "'")
    };
    let tags: String = tags.iter().map(|(name, text)| format!("[{name} \"{}\"]\n", value(text))).collect();
    format!("{tags}\n{}\n\n", wrapped(&words))
}

fn wrapped(words: &[String]) -> String {
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in words {
        if !line.is_empty() && line.len() + 1 + word.len() > LINE_WIDTH {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    lines.push(line);
    lines.join("\n")
}
