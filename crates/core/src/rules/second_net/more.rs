//! The nets after the second one, as the settings give them: `VISITS:ALPHA:BETA:PRIORITY` of each, the smaller one first.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::rules::second_net::LargePriority;
use crate::rules::second_net::net::MAX_NETS;
use crate::rules::setting::Setting;

/// Nets that may follow the second one.
const MOST: usize = MAX_NETS - 2;

/// A net after the second one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FurtherNet {
    /// Turns a move, 1 or more.
    pub visits: u32,
    /// Its share of the value, 0 to 1; the nets before it share the rest.
    pub alpha: f64,
    /// Its share of the prior, 0 to 1; the nets before it share the rest.
    pub beta: f64,
    /// The leaf that it sees next; `None`: as the second net.
    pub priority: Option<LargePriority>,
}

/// The nets after the second one. Text: `20:0.3:1 5` are two, the second of them with the default shares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MoreNets {
    // An array and not a vector: the settings of the rule are `Copy`, and are read at every edge.
    nets: [Option<FurtherNet>; MOST],
    len: usize,
}

impl MoreNets {
    /// The nets, the smaller one first.
    pub fn iter(&self) -> impl Iterator<Item = FurtherNet> {
        self.nets.into_iter().take(self.len).flatten()
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number `place` of them.
    #[inline]
    pub fn get(&self, place: usize) -> Option<FurtherNet> {
        self.nets.get(place).copied().flatten()
    }
}

impl Setting for MoreNets {
    fn kind() -> Value {
        json!({ "kind": "str" })
    }
}

impl TryFrom<String> for MoreNets {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let words: Vec<&str> = text.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        let mut more = MoreNets { len: words.len(), ..MoreNets::default() };
        let is_read = words.len() <= MOST
            && words.iter().enumerate().all(|(place, word)| {
                more.nets[place] = read_net(word, place);
                more.nets[place].is_some()
            });
        if is_read { Ok(more) } else { Err(complaint(&text)) }
    }
}

fn complaint(text: &str) -> String {
    format!(
        "more must be at most {MOST} times VISITS[:ALPHA[:BETA[:PRIORITY]]], with visits 1 to 4000000000, alpha and beta 0 to 1 \
         and visits, own_puct or parent_bonus as priority, such as \"20:0.3:1,5\", got {text:?}"
    )
}

/// Net number `place` after the second one. Without numbers each net has the same share of the value, and the largest that knows a
/// position has the prior.
fn read_net(word: &str, place: usize) -> Option<FurtherNet> {
    let mut parts = word.split(':');
    let visits = parts.next().and_then(read_visits)?;
    let alpha = parts.next().map_or(Some(1.0 / (place + 3) as f64), read_share)?;
    let beta = parts.next().map_or(Some(1.0), read_share)?;
    let priority = match parts.next() {
        None => None,
        Some(name) => Some(serde_json::from_value(json!(name)).ok()?),
    };
    parts.next().is_none().then_some(FurtherNet { visits, alpha, beta, priority })
}

fn read_visits(text: &str) -> Option<u32> {
    // `parse` would take a sign as well, and one number would have two texts.
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|visits| is_plain && (1..=4_000_000_000).contains(visits))
}

fn read_share(text: &str) -> Option<f64> {
    // `parse` would take signs, exponents, inf and nan.
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|share| is_plain && (0.0..=1.0).contains(share))
}

impl From<MoreNets> for String {
    fn from(more: MoreNets) -> String {
        more.iter().map(net_text).collect::<Vec<String>>().join(",")
    }
}

fn net_text(net: FurtherNet) -> String {
    let numbers = format!("{}:{}:{}", net.visits, net.alpha, net.beta);
    match net.priority.and_then(|priority| json!(priority).as_str().map(str::to_string)) {
        Some(priority) => format!("{numbers}:{priority}"),
        None => numbers,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<MoreNets, String> {
        MoreNets::try_from(text.to_string())
    }

    #[test]
    fn texts_are_nets_and_nets_are_texts() {
        let more = read(" 20:0.25:0.5:own_puct, 5 ").unwrap();
        let nets: Vec<FurtherNet> = more.iter().collect();
        let first = FurtherNet { visits: 20, alpha: 0.25, beta: 0.5, priority: Some(LargePriority::OwnPuct) };
        assert_eq!(nets, [first, FurtherNet { visits: 5, alpha: 0.25, beta: 1.0, priority: None }]);
        assert_eq!(String::from(more), "20:0.25:0.5:own_puct,5:0.25:1");
        assert_eq!(read(&String::from(more)), Ok(more));
        assert!(read("").unwrap().is_empty());
    }

    #[test]
    fn other_texts_are_refused() {
        for text in
            ["0", "-1", "x", "5:2", "5:.5:-0", "5:0.5:1:best", "5:0.5:1:visits:1", "1 1 1 1 1 1 1", "5:", "5:1e-1"]
        {
            let error = read(text).unwrap_err();
            assert!(
                error.starts_with("more must be at most 6 times VISITS") && error.ends_with(&format!("got {text:?}")),
                "{error}"
            );
        }
    }
}
