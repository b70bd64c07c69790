//! A page's session and what it works with: messages in, replies and events out, all of them JSON.

use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::host::{Lab, NOTHING_YET, Session};
use crate::sessions::session;

/// Bytes of a request, as the server of the lab allows them.
const MAX_MESSAGE: usize = 1 << 20;
/// Characters of an error.
const MAX_ERROR: usize = 1500;

#[derive(Deserialize)]
struct Request {
    id: Json,
    #[serde(rename = "do")]
    name: String,
    #[serde(default)]
    fields: Json,
}

/// One page.
pub struct Page {
    /// What the session works with.
    pub lab: Lab,
    session: Box<dyn Session>,
}

impl Page {
    /// A page with the session of this name.
    pub fn new(lab: Lab, name: &str) -> Result<Self, String> {
        Ok(Page { lab, session: session(name)? })
    }

    /// Answers a request `{"id": ..., "do": ..., "fields": {...}}` by `{"id": ..., "reply": {...}}`, or with `error` in one line and, where the page
    /// acts on it, `code`.
    pub fn answer(&mut self, text: &str) -> String {
        let request: Result<Request, _> = match text.len() {
            // Before it is parsed, which takes several times its length in memory.
            length if length > MAX_MESSAGE => {
                return json!({ "id": null, "error": "the request is too long" }).to_string();
            }
            _ => serde_json::from_str(text),
        };
        let Request { id, name, fields } = match request {
            Ok(request) => request,
            Err(error) => return json!({ "id": null, "error": one_line(&error.to_string()) }).to_string(),
        };
        // Requests without fields are sent without them, and sessions read fields from an object.
        let fields = if fields.is_null() { json!({}) } else { fields };
        match self.session.handle(&name, fields, &mut self.lab) {
            Ok(reply) => json!({ "id": id, "reply": reply }).to_string(),
            // The page asks for the tree before there is one, and knows by the code that this is no error to show.
            Err(error) if error == NOTHING_YET => json!({ "id": id, "error": error, "code": "nothing" }).to_string(),
            Err(error) => json!({ "id": id, "error": one_line(&error) }).to_string(),
        }
    }

    /// Does a piece of work; whether there is more.
    pub fn turn(&mut self) -> bool {
        self.session.turn(&mut self.lab)
    }

    /// The events since the last call.
    pub fn events(&mut self) -> Vec<Json> {
        self.lab.take_events()
    }

    /// Seconds until a turn is due without any request.
    pub fn alarm(&self) -> Option<f64> {
        self.session.alarm(&self.lab)
    }
}

/// An error as a line of at most `MAX_ERROR` characters: it may repeat what was given.
fn one_line(error: &str) -> String {
    // Errors repeat what was given, which may be long and of several lines.
    error.chars().take(MAX_ERROR).map(|sign| if sign.is_control() { ' ' } else { sign }).collect()
}
