//! The session of the page Play: one game between two sides, each a person or an engine.

use hauteur_core::game::Action;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::engine::{Engine, MoveLimit};
use crate::game_text::{self, Writing, forms_of};
use crate::host::{Lab, Session, needs_server, unknown};
use crate::limits::clock_of;
use crate::messages::{fields, within};
use crate::odds::{self, Odds, start_game};
use crate::odds_mode::{SETTINGS_FOR_ODDS, odds_of_start, set_for_odds};
use crate::played::{Ending, Played, captured};
use crate::player::{self, Player, suggested};
use crate::position::{Position, load_game, with_fen};
use crate::report::Report;
use crate::start960::{NORMAL_START, home_squares, start_board};
use crate::table::{News, Side, SideClock, Table};
use crate::view::position_view;

// Two sides and a hint have their trees at one time, in the memory of one tab.
/// Bytes of the tree of one of the two sides, and of hints.
const SIDE_BYTES: u64 = 96 << 20;
/// Moves of a line that are shown.
const LINE_PLIES: usize = 8;
const HINT_MOVES: usize = 5;
const HINT_VISITS: u32 = 400;
/// Share of the draws that a model of the opponent takes (docs/experiments/opponent-models.md).
const SHARE: f64 = 0.5;
/// Temperature of a model of the opponent, at least.
const LEAST_TEMPERATURE: f64 = 0.001;

#[derive(Deserialize, Default)]
#[serde(default)]
struct SideFields {
    player: Option<String>,
    against: String,
    visits: Option<u32>,
    seconds: Option<f64>,
    clock: Option<String>,
}

#[derive(Deserialize)]
#[serde(default)]
struct OddsFields {
    odds: String,
    gives: String,
    start: usize,
    toggle: String,
    flip: bool,
}

impl Default for OddsFields {
    fn default() -> Self {
        let odds = String::new();
        let gives = "white".into();
        OddsFields { odds, gives, start: NORMAL_START, toggle: String::new(), flip: false }
    }
}

impl OddsFields {
    fn giver(&self) -> usize {
        usize::from(self.gives == "black")
    }

    /// The handicap after the toggle; None: nothing is given.
    fn handicap(&self) -> Result<Option<Odds>, String> {
        let giver = Some(self.giver());
        let found = if self.odds.is_empty() { None } else { Some(odds::parse(&self.odds, giver, self.start)?) };
        if self.toggle.is_empty() {
            return Ok(found);
        }
        odds::toggled(found.as_ref(), &self.toggle, self.giver(), self.start)
    }

    /// The game that begins there.
    fn game(&self) -> Result<String, String> {
        within("start", self.start, 0, 959)?;
        Ok(self.handicap()?.map_or_else(|| start_game(self.start), |odds| odds.game()))
    }
}

#[derive(Deserialize)]
#[serde(default)]
struct GameFields {
    game: String,
    fen: String,
    sides: [SideFields; 2],
    actions: Vec<Action>,
    left: [Option<f64>; 2],
    ending: Option<Ending>,
    paused: bool,
    flip: bool,
    odds: Option<OddsFields>,
    odds_mode: bool,
    text: String,
}

impl Default for GameFields {
    fn default() -> Self {
        let engine = SideFields { player: Some(String::new()), ..SideFields::default() };
        GameFields {
            game: "chess".into(),
            fen: String::new(),
            sides: [SideFields::default(), engine],
            actions: Vec::new(),
            left: [None, None],
            ending: None,
            paused: false,
            flip: false,
            odds: None,
            odds_mode: true,
            text: String::new(),
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Small {
    ply: usize,
    a: Option<Action>,
    text: String,
    side: usize,
    flip: bool,
    plies: usize,
    form: String,
}

/// One game at a time. Events: `game` whenever anything changes, `search` while an engine thinks, `hint`.
#[derive(Default)]
pub struct PlaySession {
    table: Option<Table>,
    flip: bool,
    side_names: [String; 2],
    handicap: Option<Json>,
}

impl Session for PlaySession {
    fn handle(&mut self, request: &str, given: Json, lab: &mut Lab) -> Result<Json, String> {
        match request {
            // These need no game, and the page asks them before it has one.
            "describe" => return describe(given, lab),
            "odds" => return show_odds(given),
            "read" => return read(given),
            "open" => return self.open(given, lab),
            "story" => return needs_server("looking where a handicap was won back"),
            _ => {}
        }
        let small: Small = fields(given, request)?;
        let table = self.table.as_mut().ok_or("there is no game yet")?;
        let reply = match request {
            "view" => return self.view(small.plies),
            "write" => {
                return written(&table.played, &table.names(), &small.form, &lab.date);
            }
            "hint" => {
                let engine = hint_engine(&table.played, lab)?;
                table.hint(engine, lab)?;
                return Ok(json!({}));
            }
            "play" => {
                // A click may be on its way while an engine moves or a move is taken back; the same number is
                // another move then.
                if table.played.position.state.ply() != small.ply {
                    return Err("the position has changed meanwhile; choose again".into());
                }
                let action = small.a.map_or_else(|| table.played.position.parse(&small.text), Ok)?;
                table.play(action, lab)?;
                json!({})
            }
            "take_back" if table.take_back(lab) == 0 => return Err("there is no move of yours to take back".into()),
            "take_back" => json!({}),
            "resign" => table.resign(small.side, lab).map(|()| json!({}))?,
            "draw" => json!({ "agreed": table.offer_draw(small.side, lab)? }),
            "pause" => {
                table.pause(lab);
                json!({})
            }
            "go_on" => {
                table.go_on(lab);
                json!({})
            }
            "move_now" => table.move_now(lab).map(|()| json!({}))?,
            "flip" => {
                self.flip = small.flip;
                json!({})
            }
            other => return unknown("play", other),
        };
        self.show(lab);
        Ok(reply)
    }

    fn turn(&mut self, lab: &mut Lab) -> bool {
        let Some(table) = &mut self.table else { return false };
        match table.turn(lab) {
            Some(News::Changed) => self.show(lab),
            Some(News::Search(side, report)) => self.show_search(side, &report, lab),
            Some(News::Hint(position, found)) => {
                // An event with the error: the request was answered long before.
                let hint = found.map(|report| hint_view(&position, &report));
                lab.emit("hint", hint.unwrap_or_else(|error| json!({ "error": error })));
            }
            None => {}
        }
        self.table.as_ref().is_some_and(Table::is_busy)
    }

    fn alarm(&self, lab: &Lab) -> Option<f64> {
        // A person may think until the flag falls, and nothing else would call `turn` then.
        self.table.as_ref()?.flag(lab.now())
    }
}

/// The facts of a game: players, odds starts, whether it can begin at a FEN, forms of its text.
fn describe(given: Json, lab: &Lab) -> Result<Json, String> {
    let game = load_game(&fields::<GameFields>(given, "game")?.game)?;
    let start = Position::start(game.clone());
    let usual = if game.info().name == "chess" { lab.facts.handicaps.clone() } else { Vec::new() };
    Ok(json!({
        "game": game.info().spec,
        "side_names": start.side_names(),
        "players": suggested(game.as_ref(), lab.host.own_net(game.as_ref()).is_some(), &lab.facts),
        "nets": [],
        "odds": usual,
        "has_fen": game.customs().has_fen,
        "forms": forms_of(game.as_ref()),
    }))
}

/// A handicap's name and its position, in which each piece that may be given is an action.
fn show_odds(given: Json) -> Result<Json, String> {
    let given: OddsFields = fields(given, "odds")?;
    let found = given.handicap()?;
    let start = Position::start(load_game(&given.game()?)?);
    let mut view = position_view(&start, given.flip);
    let home = home_squares(&start_board(given.start), given.giver());
    let squares = view["squares"].as_array().cloned().unwrap_or_default();
    let action = |(number, square): (usize, &Json)| {
        let name = square["name"].as_str()?;
        home.get(name).filter(|letter| **letter != 'k')?;
        Some(json!({ "a": number, "text": name, "squares": [number], "area": [number] }))
    };
    view["actions"] = squares.iter().enumerate().filter_map(action).collect();
    Ok(json!({ "odds": found.map_or(String::new(), |odds| odds.items()), "position": view }))
}

/// The game of a text, as `open` takes it.
fn read(given: Json) -> Result<Json, String> {
    let asked: GameFields = fields(given, "game")?;
    // With the game that is chosen, since moves and FENs do not say of which game they are.
    let read = game_text::read(&asked.text, &load_game(&asked.game)?)?;
    let ending = read.ending.map(|(outcome, reason)| json!({ "outcome": outcome, "reason": reason }));
    let spec = &read.game.info().spec;
    Ok(json!({ "game": spec, "actions": read.actions, "ending": ending, "names": read.names, "notes": read.notes }))
}

/// The game as text.
fn written(played: &Played, names: &[String; 2], form: &str, date: &str) -> Result<Json, String> {
    let ended = played.ending();
    let ending = ended.as_ref().map(|ending| (ending.outcome, ending.reason.as_str()));
    let writing = Writing { names, ending, event: "hauteur", date };
    let text = game_text::written(&played.position.back_to(0), &played.position.moves, form, &writing)?;
    Ok(json!({ "form": form, "text": text }))
}

/// The engine that gives hints: the game's own.
fn hint_engine(played: &Played, lab: &mut Lab) -> Result<Engine, String> {
    let start = played.position.back_to(0);
    let net = lab.net_or_own("", start.game.as_ref());
    // The game's own net gives hints, whoever plays: a player that is weak on purpose would give weak ones.
    let player = Player { visits: Some(HINT_VISITS), ..Player::default() };
    // Half of a side's memory: a hint has a few hundred visits.
    Engine::new(&player, &start, &net, MoveLimit::Visits, SIDE_BYTES / 2, lab)
}

/// A hint as the page takes it: the best moves of a search.
pub fn hint_view(position: &Position, report: &Report) -> Json {
    // Shares of the search's own visits; the root's evaluation is no visit of a move.
    let total = report.moves.iter().map(|one| one.visits).sum::<u32>().max(1);
    let view = |one: &crate::report::RootMove| {
        json!({
            "a": one.action,
            "text": position.text(one.action),
            "squares": position.squares(one.action),
            "share": f64::from(one.visits) / f64::from(total),
            "score": one.wdl.map(|[win, draw, _]| f64::from(win) + f64::from(draw) / 2.0),
            "line": position.line_texts(&one.line[..one.line.len().min(LINE_PLIES)]),
        })
    };
    let moves: Vec<Json> = report.moves.iter().take(HINT_MOVES).map(view).collect();
    let wdl = report.first_players(position.to_move()).map(f64::from);
    json!({ "ply": position.state.ply(), "wdl": wdl, "moves": moves })
}

impl PlaySession {
    fn open(&mut self, given: Json, lab: &mut Lab) -> Result<Json, String> {
        let order: GameFields = fields(given, "game")?;
        let spec = match &order.odds {
            Some(odds) => odds.game()?,
            None => with_fen(&order.game, &order.fen)?,
        };
        let game = load_game(&spec)?;
        let start = Position::start(game.clone());
        let mut played = Played::new(game, &order.actions)?;
        // A page that lost its worker sends the whole game again, an ending off the board included.
        if let Some(ending) = order.ending {
            within("outcome", ending.outcome, -1, 1)?;
            played.end(ending);
        }
        let mut sides = [Side::default(), Side::default()];
        for (number, (side, given)) in sides.iter_mut().zip(&order.sides).enumerate() {
            let label = format!("{} side", ["first", "second"][number]);
            *side = side_of(given, &start, number, order.left[number], order.odds_mode, lab)
                .map_err(|error| format!("{label}: {error}"))?;
        }
        // Nothing can be refused from here on: a side that does not fit must not end the game that is shown. Its trees
        // are freed before those of the new game grow.
        self.table = None;
        let mut table = Table::new(played, sides);
        // Clocks and engines of a game that was sent again stand still where they stood.
        if !order.paused {
            table.go_on(lab);
        }
        self.side_names = start.side_names();
        self.flip = order.flip;
        self.handicap = odds_of_start(&start).map(|odds| json!({ "name": odds.name(), "giver": odds.giver }));
        self.table = Some(table);
        self.show(lab);
        Ok(json!({}))
    }

    fn view(&self, plies: usize) -> Result<Json, String> {
        let position = &self.table.as_ref().ok_or("there is no game yet")?.played.position;
        if plies > position.moves.len() {
            return Err(format!("the game has {} plies, got {plies}", position.moves.len()));
        }
        Ok(json!({ "position": position_view(&position.back_to(plies), self.flip) }))
    }

    /// Sends the game as it stands.
    fn show(&mut self, lab: &mut Lab) {
        let Some(table) = &self.table else { return };
        let played = &table.played;
        let now = lab.now();
        let position = &played.position;
        let ending = played.ending();
        let odds: Vec<&str> =
            table.sides.iter().map(|side| side.odds.as_str()).filter(|odds| !odds.is_empty()).collect();
        let game = json!({
            "position": position_view(position, self.flip),
            "spec": position.spec(),
            "actions": position.moves,
            "moves": played.texts,
            "captured": captured(&position.back_to(0), position),
            "start_to_move": position.back_to(0).to_move(),
            "last_mover": played.movers.last(),
            "names": table.names(),
            "side_names": self.side_names,
            "persons": table.persons(),
            "ending": ending.as_ref().map(Ending::view),
            "result": ending.as_ref().map(Ending::text),
            "paused": table.paused,
            "thinking": table.thinking,
            "problem": table.problem,
            "note": table.note,
            "odds": odds.join("; "),
            "handicap": self.handicap,
            "left": table.left(now),
            "running": table.running(),
            "wdl": table.value,
            "flip": self.flip,
            "forms": forms_of(position.game.as_ref()),
        });
        lab.emit("game", game);
    }

    fn show_search(&self, side: usize, report: &Report, lab: &mut Lab) {
        let Some(table) = &self.table else { return };
        // By the table's position, which is the one that is searched: a move ends the search of the one before.
        let position = &table.played.position;
        let progress = table.sides[side].engine.as_ref().map(|engine| engine.progress(report));
        let (of, left) = progress.unwrap_or((None, None));
        let line = report.moves.first().map_or(&[][..], |best| &best.line[..best.line.len().min(LINE_PLIES)]);
        lab.emit(
            "search",
            json!({
                "side": side,
                "visits": report.visits,
                "of": of,
                "seconds": report.pace.seconds,
                "left": left,
                "wdl": report.first_players(position.to_move()),
                "line": position.line_texts(line),
            }),
        );
    }
}

/// The side that a page describes; an error says what is wrong. `left`: seconds on its clock, None: all.
fn side_of(
    given: &SideFields,
    start: &Position,
    number: usize,
    left: Option<f64>,
    odds_mode: bool,
    lab: &mut Lab,
) -> Result<Side, String> {
    let limits = [given.visits.is_some(), given.seconds.is_some(), given.clock.is_some()];
    if limits.iter().filter(|given| **given).count() > 1 {
        return Err("one limit at most: visits, seconds or a clock".into());
    }
    let clock = given.clock.as_deref().map(clock_of).transpose()?;
    let mut side = Side::default();
    side.clock = clock.map(|(seconds, increment)| SideClock::new(left.unwrap_or(seconds), increment));
    // An empty text is the game's own player; no text at all is a person.
    let Some(text) = &given.player else {
        return if given.visits.is_some() || given.seconds.is_some() {
            Err("a person has only a clock".into())
        } else {
            Ok(side)
        };
    };
    let mut player = player::parse(text, &lab.facts)?;
    if player.baseline.is_some() && (given.visits.is_some() || given.seconds.is_some()) {
        return Err(format!("{text} is a player without a network: it has neither visits nor seconds"));
    }
    // The form's number comes over the one in the player's text, as the form is what the reader sees.
    player.visits =
        given.visits.map(|visits| within("visits", visits, 1, 1_000_000_000)).transpose()?.or(player.visits);
    let seconds = given.seconds.map(|seconds| within("seconds", seconds, 0.01, 3600.0)).transpose()?;
    let limit = match (seconds, clock) {
        (Some(seconds), _) => MoveLimit::Seconds(seconds),
        (None, Some((_, increment))) => MoveLimit::Clock(increment),
        (None, None) => MoveLimit::Visits,
    };
    // Before the settings for odds, which leave alone what a player has been given.
    model(&mut player, &given.against, lab)?;
    let net = lab.net_or_own(&player.net, start.game.as_ref());
    let odds = if odds_mode { set_for_odds(&mut player, start, number, &net, &lab.facts)? } else { None };
    let mut engine = Engine::new(&player, start, &net, limit, SIDE_BYTES, lab)?;
    engine.name = name_of(&engine, text, given, &net, odds.is_some());
    side.odds = odds.map_or(String::new(), |odds| odds.0);
    side.engine = Some(engine);
    Ok(side)
}

/// The name of an engine in the game, with what limits it.
fn name_of(engine: &Engine, text: &str, given: &SideFields, net: &str, at_odds: bool) -> String {
    let limit = given.seconds.map(|seconds| format!("{seconds}s")).or_else(|| given.clock.clone());
    let suffix = if at_odds { SETTINGS_FOR_ODDS } else { "" };
    if !text.is_empty() {
        let name = match &limit {
            Some(limit) if engine.searches() => {
                // The search ends by another limit, so that the number of visits in the name would be wrong.
                format!("{} {limit}", engine.name.replace(&format!(" visits={}", engine.visits), ""))
            }
            _ => engine.name.clone(),
        };
        return name + suffix;
    }
    // Random games are much weaker than a net, and who plays against them should know it.
    let own = if net == "rollout" { "hauteur, by random games" } else { "hauteur" };
    let name = match limit {
        None => format!("{own} ({} visits)", engine.visits),
        Some(limit) => format!("{own} {limit}"),
    };
    name + suffix
}

/// Gives a player that searches the net of an opponent as its model, which takes a share of the draws, from the start or
/// after the opponent's visits, unless the player says when.
fn model(player: &mut Player, against: &str, lab: &Lab) -> Result<(), String> {
    // Whoever names a model in the player's text has chosen its share and temperature as well.
    if against.is_empty() || player.baseline.is_some() || player.search.contains_key("opponent_net") {
        return Ok(());
    }
    let other = player::parse(against, &lab.facts)?;
    if other.net.is_empty() {
        return Err(format!("against {against}: a model of the opponent needs a net"));
    }
    let number = |value: Option<&Json>, usual: f64| value.and_then(Json::as_f64).unwrap_or(usual);
    let initial = number(other.temperature.get("initial"), 0.0);
    // The policy that the opponent draws from: its net's at its policy temperature (1.359 is that of any search),
    // and at the temperature of its moves. One that always plays the best move has no temperature, and its policy
    // is the best guess there is.
    let heat = number(other.search.get("policy_temperature"), 1.359) * if initial > 0.0 { initial } else { 1.0 };
    player.second = other.net;
    // A net that is asked for one visit plays its policy, so the model holds from the first visit on. One that
    // searches plays more like a search, so as many visits by PUCT come first.
    let n_scl = other.visits.filter(|&visits| visits > 1).unwrap_or(0);
    // A section of the player's own counts. What was measured is 0 and 8 visits
    // (docs/experiments/opponent-models.md).
    player.search.entry("search_contempt").or_insert(json!({ "n_scl": n_scl }));
    player.search.insert("opponent_net".into(), json!({ "temperature": heat.max(LEAST_TEMPERATURE), "share": SHARE }));
    Ok(())
}
