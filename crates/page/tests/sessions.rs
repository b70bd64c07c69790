//! The sessions by their messages, with random games and without any net.

use std::cell::Cell;

use hauteur_lab::page::Page;
use hauteur_page::browser::lab;
use serde_json::{Value as Json, json};

/// Facts of a page without nets.
fn facts() -> String {
    let queen = json!({
        "pieces": "q", "gives": 0, "nodes": null,
        "settings": [["ScLimit", "search.search_contempt.n_scl", 40], ["Temperature", "temperature.initial", 0.7]],
    });
    let facts = json!({
        "nets": [], "ladder": [], "methods": {}, "handicaps": ["queen d1"], "odds_settings": [queen],
    });
    facts.to_string()
}

/// A page whose clock goes on by a millisecond at every look.
fn page(name: &str) -> Page {
    // The same time in every run: reports come by the clock, and batches against a clock are cut by it.
    let time = Cell::new(0.0);
    let clock = Box::new(move || {
        time.set(time.get() + 0.001);
        time.get()
    });
    Page::new(lab(&facts(), 1, "2026-11-26", clock, None).unwrap().0, name).unwrap()
}

fn ask(page: &mut Page, request: &str, fields: Json) -> Json {
    let answer = page.answer(&json!({ "id": 1, "do": request, "fields": fields }).to_string());
    serde_json::from_str(&answer).unwrap()
}

/// The reply to a request, which must be one.
fn reply(page: &mut Page, request: &str, fields: Json) -> Json {
    let answer = ask(page, request, fields);
    assert!(answer.get("error").is_none(), "{request}: {answer}");
    answer["reply"].clone()
}

/// The error in one line that a request is answered with.
fn error(page: &mut Page, request: &str, fields: Json) -> String {
    let answer = ask(page, request, fields);
    let text = answer["error"].as_str().unwrap_or_else(|| panic!("{request}: {answer}")).to_string();
    assert!(!text.is_empty() && !text.contains('\n'), "{text}");
    text
}

/// Works until there is no more to do; all events, and the last one of a name.
fn work(page: &mut Page, name: &str) -> Json {
    let mut last = Json::Null;
    loop {
        let more = page.turn();
        for event in page.events() {
            assert_ne!(event["event"], "failed", "{event}");
            if event["event"] == name {
                last = event["fields"].clone();
            }
        }
        if !more {
            return last;
        }
    }
}

#[test]
fn a_position_is_searched_and_its_tree_is_read() {
    let mut page = page("analyse");
    assert!(error(&mut page, "start", json!({})).contains("no position"));
    let opened = reply(&mut page, "open", json!({ "game": "tictactoe", "moves": ["b2"], "net": "uniform" }));
    assert_eq!((opened["net"].as_str(), opened["moves"][0].as_str()), (Some("uniform"), Some("b2")));
    assert_eq!(opened["position"]["actions"].as_array().unwrap().len(), 8);
    assert!(error(&mut page, "tree", json!({})).contains("searched"));
    reply(&mut page, "start", json!({ "visits": 500 }));
    let done = work(&mut page, "done");
    assert_eq!((done["visits"].as_u64(), done["reason"].as_str()), (Some(500), Some("visits")));
    // The root's own evaluation is the one visit that no move has.
    let visits: u64 = done["moves"].as_array().unwrap().iter().map(|one| one["visits"].as_u64().unwrap()).sum();
    assert_eq!(visits, 499);
    let tree = reply(&mut page, "tree", json!({}));
    assert_eq!(tree["root"]["visits"], 500);
    let first = tree["root"]["children"][0]["line"].clone();
    let node = reply(&mut page, "nodes", json!({ "lines": [first] }))["nodes"][0].clone();
    assert_eq!(node["visits"], tree["root"]["children"][0]["visits"]);
    assert_eq!(node["children"].as_array().unwrap().len(), 7);
    assert_eq!(reply(&mut page, "look", json!({ "line": first }))["position"]["ply"], 2);
    assert_eq!(reply(&mut page, "history", json!({}))["moves"].as_array().unwrap().len(), 8);
}

/// Names of the sides of a game between these two players, whose net carries a search for play.
fn names_of_sides(first: &str, second: &str) -> Vec<String> {
    let mut facts: Json = serde_json::from_str(&facts()).unwrap();
    facts["nets"] = json!([{
        "name": "uniform", "file": "uniform", "feature_shape": [2, 3, 3], "num_actions": 9, "ships": false,
        "trained_for": null, "play_search": "solver.lookahead=1 search.cpuct.init=2",
    }]);
    let lab = lab(&facts.to_string(), 1, "2026-11-26", Box::new(|| 0.0), None).unwrap().0;
    let mut page = Page::new(lab, "play").unwrap();
    let sides = json!([{ "player": first }, { "player": second }]);
    reply(&mut page, "open", json!({ "game": "tictactoe", "paused": true, "sides": sides }));
    let game = page.events().pop().unwrap();
    game["fields"]["names"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_string()).collect()
}

#[test]
fn a_net_carries_its_search_and_what_is_given_counts() {
    let names = names_of_sides("net=uniform visits=5", "net=uniform visits=5 solver.lookahead=0");
    assert_eq!(names[0], "uniform visits=5 cpuct.init=2 solver.lookahead=1");
    assert_eq!(names[1], "uniform visits=5 cpuct.init=2 solver.lookahead=0");
    let names = names_of_sides("net=uniform visits=5 solver=off", "net=rollout visits=5");
    assert_eq!(names[0], "uniform visits=5 cpuct.init=2 solver=none");
    assert_eq!(names[1], "rollout visits=5");
}

#[test]
fn a_game_is_read_with_its_variations() {
    let mut page = page("analyse");
    let text = "[White \"A\"]\n\n{start} 1. e4! {best} e5 (1... c5 $13 2. Nf3) 2. Nf3 *";
    let read = reply(&mut page, "read", json!({ "text": text, "game": "connect4" }));
    assert_eq!((read["game"].as_str(), read["tree"]["headers"]["White"].as_str()), (Some("chess"), Some("A")));
    assert_eq!(read["tree"]["comment"], "start");
    let row = |parent: i64, text: &str, comment: &str, glyphs: &[u8]| json!({ "parent": parent, "move": text, "before": "", "comment": comment, "glyphs": glyphs });
    let expected = [
        row(-1, "e4", "best", &[1]),
        row(0, "e5", "", &[]),
        row(1, "Nf3", "", &[]),
        row(0, "c5", "", &[13]),
        row(3, "Nf3", "", &[]),
    ];
    assert_eq!(read["tree"]["nodes"], json!(expected));
    let moves = reply(&mut page, "read", json!({ "text": "4 4", "game": "connect4" }));
    assert_eq!(moves["tree"]["nodes"], json!([row(-1, "4", "", &[]), row(0, "4", "", &[])]));
    let place = json!({ "game": "chess", "fen": "4k3/8/8/8/8/8/4P3/4K3 b - - 0 12" });
    assert_eq!(reply(&mut page, "open", place)["first_ply"], 23);
    assert!(reply(&mut page, "open", json!({ "game": "connect4" }))["first_ply"].is_null());
}

#[test]
fn a_search_goes_on_and_stops_between_two_batches() {
    let mut page = page("analyse");
    reply(&mut page, "open", json!({ "game": "connect4", "net": "rollout" }));
    reply(&mut page, "start", json!({}));
    for _ in 0..20 {
        assert!(page.turn());
    }
    page.events();
    reply(&mut page, "stop", json!({}));
    let events = page.events();
    assert_eq!((events.len(), events[0]["fields"]["reason"].as_str()), (1, Some("stopped")));
    assert!(!page.turn());
    let before = events[0]["fields"]["visits"].as_u64().unwrap();
    reply(&mut page, "start", json!({ "visits": before + 100 }));
    assert_eq!(work(&mut page, "done")["visits"].as_u64(), Some(before + 100));
}

#[test]
fn the_same_search_gives_the_same_tree() {
    let digest = || {
        let mut page = page("explain");
        let side = json!({ "net": "uniform", "settings": { "search_contempt.n_scl": "5" } });
        let question = json!({ "game": "connect4", "visits": 300, "a": side, "b": { "net": "uniform" } });
        reply(&mut page, "start", question);
        let done = work(&mut page, "done");
        assert_eq!(done["rules"][0]["name"], "search_contempt");
        assert_eq!(done["moves"].as_array().unwrap().len(), 7);
        let children = reply(&mut page, "children", json!({ "line": [3] }));
        assert!(!children["children"].as_array().unwrap().is_empty());
        (done["sides"]["a"]["digest"].clone(), done["sides"]["b"]["digest"].clone())
    };
    let first = digest();
    let second = digest();
    assert_eq!(first, second);
    assert_ne!(first.0, first.1);
}

#[test]
fn a_game_is_played_taken_back_and_written() {
    let mut page = page("play");
    let sides = json!([{ "player": null }, { "player": "", "visits": 50 }]);
    reply(&mut page, "open", json!({ "game": "tictactoe", "sides": sides }));
    reply(&mut page, "play", json!({ "ply": 0, "text": "b2" }));
    let game = work(&mut page, "game");
    assert_eq!((game["actions"].as_array().unwrap().len(), game["persons"][0].as_u64()), (2, Some(0)));
    assert!(error(&mut page, "play", json!({ "ply": 0, "text": "a1" })).contains("changed"));
    assert!(error(&mut page, "play", json!({ "ply": 2, "text": "b2" })).len() > 3);
    reply(&mut page, "hint", json!({}));
    assert!(!work(&mut page, "hint")["moves"].as_array().unwrap().is_empty());
    reply(&mut page, "take_back", json!({}));
    assert_eq!(work(&mut page, "game")["actions"], json!([]));
    assert_eq!(reply(&mut page, "write", json!({ "form": "moves" }))["text"], "\n");
    reply(&mut page, "resign", json!({ "side": 0 }));
    assert_eq!(work(&mut page, "game")["result"], "0-1 (resignation)");
}

#[test]
fn a_game_that_is_refused_leaves_the_one_before() {
    let mut page = page("play");
    let sides = json!([{ "player": null }, { "player": null }]);
    reply(&mut page, "open", json!({ "game": "tictactoe", "sides": sides }));
    let bad = json!([{ "player": null }, { "player": "", "visits": 50, "seconds": 1 }]);
    assert!(error(&mut page, "open", json!({ "game": "connect4", "sides": bad })).contains("second side"));
    reply(&mut page, "play", json!({ "ply": 0, "text": "b2" }));
    assert_eq!(work(&mut page, "game")["spec"], "tictactoe");
}

#[test]
fn two_engines_play_a_game_to_its_end() {
    let mut page = page("play");
    let sides = json!([{ "player": "mcts:20" }, { "player": "random" }]);
    reply(&mut page, "open", json!({ "game": "connect4", "sides": sides }));
    let game = work(&mut page, "game");
    assert!(!game["ending"].is_null(), "{game}");
}

#[test]
fn the_giver_of_odds_has_its_settings() {
    let mut page = page("play");
    let sides = json!([{ "player": "" }, { "player": null }]);
    let odds = json!({ "odds": "queen", "gives": "white", "start": 518 });
    reply(&mut page, "open", json!({ "odds": odds, "sides": sides, "paused": true }));
    let game = work(&mut page, "game");
    assert_eq!((&game["handicap"], game["paused"].as_bool()), (&json!({ "name": "queen d1", "giver": 0 }), Some(true)));
    assert_eq!(game["odds"], "odds game, queen d1: ScLimit 40, Temperature 0.7");
    assert_eq!(game["names"][0], "hauteur, by random games (400 visits), settings for odds");
    let shown = reply(&mut page, "odds", json!({ "odds": "queen", "gives": "white", "start": 518, "toggle": "a1" }));
    assert_eq!(shown["odds"], "queen d1 + rook a1");
    assert_eq!(shown["position"]["actions"].as_array().unwrap().len(), 15);
}

#[test]
fn a_clock_runs_out() {
    let mut page = page("play");
    let sides = json!([{ "player": null, "clock": "0.05" }, { "player": "random" }]);
    reply(&mut page, "open", json!({ "game": "tictactoe", "sides": sides }));
    for _ in 0..200 {
        page.turn();
    }
    let last = page.events().pop().unwrap();
    assert_eq!(last["fields"]["result"], "0-1 (time)");
}

#[test]
fn bad_messages_are_answered_in_one_line() {
    let mut page = page("analyse");
    for (request, fields) in [
        ("nothing", json!({})),
        ("open", json!({ "game": "chess(fen=x)" })),
        ("open", json!({ "game": "nothing" })),
        ("open", json!({ "moves": ["e9"] })),
        ("open", json!({ "moves": 3 })),
        ("open", json!({ "net": "maia-1500" })),
        ("open", json!({ "search": { "cput": "1" } })),
        ("open", json!({ "search": { "search_contempt.n_scl": "0" } })),
        ("traps", json!({})),
        ("read", json!({ "text": "", "game": "chess" })),
        ("edit", json!({ "square": "z9", "piece": "Q" })),
    ] {
        error(&mut page, request, fields);
    }
    for text in ["", "[]", "{}", "{\"id\": 1}", "{\"id\": 1, \"do\": \"open\", \"fields\": 7}"] {
        let answer: Json = serde_json::from_str(&page.answer(text)).unwrap();
        assert!(answer["error"].is_string(), "{answer}");
    }
}

#[test]
fn a_position_is_set_up() {
    let mut page = page("analyse");
    let bare = "4k3/8/8/8/8/8/8/4K3 w - - 0 1";
    let edit = json!({ "game": "chess", "fen": bare, "square": "a1", "piece": "R", "mover": "w", "castling": "KQ" });
    assert_eq!(reply(&mut page, "edit", edit)["fen"], "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1");
}
