//! Settings of a search as forms and texts have them: dotted keys and values as text (`hauteur.system.settings.assign`).

use std::collections::BTreeMap;

use hauteur_core::params::SearchParams;
use serde_json::{Map, Value as Json, json};

/// The value that a text means: `on` an empty section, a switch, none, a number, else the text itself.
fn value_of(text: &str) -> Json {
    // The words of forms and of players, as Python reads them; what is none of them is left to the core, which
    // knows the types.
    match text.trim() {
        "on" => json!({}),
        "true" => json!(true),
        "false" => json!(false),
        "none" | "off" => Json::Null,
        text => {
            let whole = text.parse::<i64>().map(Json::from).ok();
            // NaN and infinity are numbers for `parse`, and JSON has neither.
            let number = || text.parse::<f64>().ok().filter(|value| value.is_finite()).map(Json::from);
            whole.or_else(number).unwrap_or_else(|| json!(text))
        }
    }
}

/// Puts a value at a dotted key into nested settings; a section stays where it only is switched on once more.
pub fn assign(values: &mut Map<String, Json>, key: &str, value: Json) -> Result<(), String> {
    // Names of settings have underscores, people write hyphens as on the command line.
    let key = key.replace('-', "_");
    let (name, rest) = match key.split_once('.') {
        Some((name, rest)) => (name, Some(rest)),
        None => (key.as_str(), None),
    };
    let Some(rest) = rest else {
        // `solver=on` after `solver.threats=1000` must not take the threats away.
        let stays = value == json!({}) && values.get(name).is_some_and(Json::is_object);
        if !stays {
            values.insert(name.to_string(), value);
        }
        return Ok(());
    };
    let section = values.entry(name.to_string()).or_insert_with(|| json!({}));
    // A section that was switched off is on again where one of its settings is given.
    if section.is_null() {
        *section = json!({});
    }
    match section.as_object_mut() {
        Some(section) => assign(section, rest, value),
        None => Err(format!("{name} has no settings of its own, got {key}")),
    }
}

/// Puts a value, as text, at a dotted key.
pub fn assign_text(values: &mut Map<String, Json>, key: &str, text: &str) -> Result<(), String> {
    assign(values, key, value_of(text))
}

/// The settings of a search that nested values give; an error, in one line, that begins with the label.
pub fn search_of(values: &Map<String, Json>, label: &str) -> Result<SearchParams, String> {
    let given: Map<String, Json> =
        // A setting that is off is not there for the core, which has no null.
        values.iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| (key.clone(), value.clone())).collect();
    let read = SearchParams::from_json(&Json::Object(given).to_string());
    read.map_err(|error| {
        let text = error.to_string();
        let (what, _) = text.split_once(", expected one of").unwrap_or((&text, "")); // some fifty names
        format!("{label}: {what}")
    })
}

/// The settings of a search that a form gives, nested.
pub fn chosen_values(settings: &BTreeMap<String, String>, label: &str) -> Result<Map<String, Json>, String> {
    let mut values = Map::new();
    for (key, text) in settings {
        assign_text(&mut values, key, text).map_err(|error| format!("{label}: {error}"))?;
    }
    Ok(values)
}

/// The settings below a key as words.
pub fn leaves(prefix: &str, value: &Json, words: &mut Vec<String>) {
    match value.as_object().filter(|section| !section.is_empty()) {
        Some(section) => {
            for (key, inner) in section {
                leaves(&if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") }, inner, words);
            }
        }
        None if prefix.is_empty() => {}
        None => words.push(format!("{prefix}={}", value_text(value))),
    }
}

fn value_text(value: &Json) -> String {
    match value {
        Json::Null => "none".into(),
        Json::String(text) => text.clone(),
        Json::Object(_) => "on".into(),
        other => other.to_string(),
    }
}

/// Positions whose evaluations a tree keeps on the page: memory is short there.
const CACHED: usize = 50_000;

/// Settings with the limits of the page: bytes of the tree, positions of the cache. Neither changes what a search finds before it is
/// full.
pub fn bounded(mut search: SearchParams, tree_bytes: u64) -> SearchParams {
    search.max_tree_bytes = if search.max_tree_bytes == 0 { tree_bytes } else { search.max_tree_bytes.min(tree_bytes) };
    // Both are limits and no settings of the search: a smaller number that was given stays.
    search.cache_size = search.cache_size.min(CACHED);
    search
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(pairs: &[(&str, &str)]) -> Result<SearchParams, String> {
        let settings = pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        search_of(&chosen_values(&settings, "settings")?, "settings")
    }

    #[test]
    fn dotted_keys_are_read() {
        let found =
            search(&[("search_contempt.n_scl", "8"), ("cpuct.init", "1.5"), ("reuse_tree", "false"), ("solver", "on")]);
        let found = found.unwrap();
        assert_eq!(found.search_contempt.unwrap().n_scl, 8);
        assert_eq!((found.cpuct.init, found.reuse_tree, found.solver.is_some()), (1.5, false, true));
        assert_eq!(search(&[]).unwrap(), SearchParams::default());
    }

    #[test]
    fn what_is_wrong_is_one_line() {
        for pairs in [[("cput", "1")], [("cpuct.init", "-1")], [("graph.x", "1")], [("draw_score", "much")]] {
            let error = search(&pairs).unwrap_err();
            assert!(error.starts_with("settings: ") && !error.contains('\n'), "{error}");
        }
    }
}
