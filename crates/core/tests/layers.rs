//! The order of the core's folders: which of them the source text of each may name.

use std::fs;
use std::path::{Path, PathBuf};

/// Folder or file of `src`, and the parts of the crate that it may name; those that are missing here may name all.
const ALLOWED: &[(&str, &[&str])] = &[
    ("game.rs", &["game", "math"]),
    ("math", &["math"]),
    ("stats.rs", &["game", "math", "stats"]),
    ("games", &["game", "games", "math"]),
    ("picture", &["game", "picture"]),
    ("players", &["game", "games", "math", "players"]),
    ("rules", &["game", "math", "stats", "rules"]),
    ("params.rs", &["math", "rules", "params"]),
    ("tree", &["game", "math", "stats", "rules", "tree"]),
    ("search", &["game", "math", "stats", "rules", "params", "players", "tree", "search"]),
];

/// Every `crate::part` of the files below a path, tests left out, with the file.
fn named(path: &Path) -> Vec<(PathBuf, String)> {
    if path.is_dir() {
        return fs::read_dir(path).unwrap().flat_map(|entry| named(&entry.unwrap().path())).collect();
    }
    let text = fs::read_to_string(path).unwrap();
    // A comment may name what it likes, and a test may use what it wants.
    let code = text.split("#[cfg(test)]").next().unwrap().lines().filter(|line| !line.trim_start().starts_with("//"));
    let word = |rest: &str| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap().to_string();
    let parts = |line: &str| line.split("crate::").skip(1).map(word).collect::<Vec<_>>();
    code.flat_map(parts).map(|part| (path.to_path_buf(), part)).collect()
}

#[test]
fn rules_do_not_reach_into_trees_or_searches() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (place, allowed) in ALLOWED {
        let found = named(&src.join(place));
        assert!(*place == "game.rs" || *place == "math" || !found.is_empty(), "nothing found in {place}");
        for (file, part) in found {
            assert!(allowed.contains(&part.as_str()), "{} names crate::{part}", file.display());
        }
    }
}
