//! The settings as data: the schema that Python's models are written from, and the checks that those models ask for.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::params::SearchParams;
use crate::play::settings::Temperature;
use crate::rules::setting::{ParamsError, Setting};
use crate::rules::{Rule, with_rules};

/// The schema of all settings, as JSON: a list of sections, each after those that it has.
///
/// A section has `name`, `text`, `rule` (it is one) and `settings`; a setting `name`, `text`, `type`, `default`, and `range` (empty:
/// none).
pub fn schema() -> String {
    let mut sections = Vec::new();
    SearchParams::collect(&mut sections);
    Temperature::collect(&mut sections);
    for section in &mut sections {
        section["rule"] = section["name"].as_str().is_some_and(is_rule).into();
    }
    Value::from(sections).to_string()
}

macro_rules! rule_sections {
    ({} $($(#[doc = $doc:literal])* $rule:ident: $Rule:ident;)*) => {
        fn is_rule(section: &str) -> bool {
            [$(stringify!($Rule)),*].contains(&section)
        }

        /// Checks the settings of a section, given as JSON; true where they leave the search unchanged. Fails on what is not allowed, and
        /// on sections that are neither `SearchParams` nor a rule.
        pub fn check(section: &str, json: &str) -> Result<bool, ParamsError> {
            match section {
                "SearchParams" => SearchParams::from_json(json).map(|_| false),
                $(stringify!($Rule) => check_rule::<crate::rules::$rule::$Rule>(json),)*
                _ => Err(ParamsError(format!("{section} is not a section of a rule"))),
            }
        }
    };
}
with_rules! { rule_sections! {} }

fn check_rule<R: Rule + Setting + DeserializeOwned>(json: &str) -> Result<bool, ParamsError> {
    let rule: R = serde_json::from_str(json).map_err(|error| ParamsError::unread(&error))?;
    rule.check_as("")?;
    Ok(rule.is_neutral())
}
