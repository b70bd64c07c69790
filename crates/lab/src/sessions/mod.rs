//! The sessions of the pages, which speak the messages of `python/hauteur/web/sessions`.

pub mod analyse;
pub mod explain;
pub mod play;

use crate::host::Session;

/// The session of this name.
pub fn session(name: &str) -> Result<Box<dyn Session>, String> {
    match name {
        "analyse" => Ok(Box::new(analyse::AnalyseSession::default())),
        "explain" => Ok(Box::new(explain::ExplainSession::default())),
        "play" => Ok(Box::new(play::PlaySession::default())),
        other => Err(format!("there is no session {other:?}")),
    }
}
