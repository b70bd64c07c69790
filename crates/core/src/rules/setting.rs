//! Settings, declared once: their defaults, ranges and texts, what is said of a value that is not allowed, and the schema from which
//! Python's models are written (`tools/settings_schema.py`).

use serde_json::{Value, json};
use thiserror::Error;

use crate::math::arithmetic::Arithmetic;

/// A parameter outside its range, or JSON that is not a `SearchParams`.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct ParamsError(pub(crate) String);

impl ParamsError {
    /// What is wrong with a setting of a section with this name.
    pub(crate) fn below(self, section: &str) -> ParamsError {
        if section.is_empty() { self } else { ParamsError(format!("{section}.{}", self.0)) }
    }

    /// What a reader of JSON says of settings that it cannot read, without the place in the text.
    pub(crate) fn unread(error: &serde_json::Error) -> ParamsError {
        // The settings come from Python, whose users never see the JSON that a line and a column would be of.
        let text = error.to_string();
        ParamsError(text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message).to_string())
    }
}

/// Fails unless `value` is `least` to `most`.
pub(crate) fn within(name: &str, value: f64, least: f64, most: f64) -> Result<(), ParamsError> {
    // What is no number is in no range, and is refused too.
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(ParamsError(format!("{name} must be {least} to {most}, got {value}")))
}

/// The value of a setting, or a section of settings.
pub trait Setting {
    /// What the schema says of its kind.
    fn kind() -> Value;

    /// The number that its range is for; `None` where there is none.
    fn number(&self) -> Option<f64> {
        None
    }

    /// An optional setting that is not there.
    fn is_absent(&self) -> bool {
        false
    }

    /// Fails on a section with a setting that is not allowed; `name` is its own.
    fn check_as(&self, _name: &str) -> Result<(), ParamsError> {
        Ok(())
    }

    /// Adds the schema of a section, after those of the sections in it.
    fn collect(_schema: &mut Vec<Value>) {}
}

macro_rules! plain {
    ($kind:literal, $number:expr; $($type:ty)*) => { $(
        impl Setting for $type {
            fn kind() -> Value {
                json!({ "kind": $kind })
            }

            fn number(&self) -> Option<f64> {
                #[allow(clippy::redundant_closure_call)]
                $number(self)
            }
        }
    )* };
}
plain!("int", |value: &_| Some(*value as f64); u8 u32 u64 usize i64);
plain!("float", |value: &f64| Some(*value); f64);
plain!("bool", |_| None; bool);

impl Setting for Arithmetic {
    fn kind() -> Value {
        json!({ "kind": "choice", "choices": [Arithmetic::Exact, Arithmetic::Lc0] })
    }
}

impl<T: Setting> Setting for Option<T> {
    fn kind() -> Value {
        let mut kind = T::kind();
        kind["optional"] = json!(true);
        kind
    }

    fn number(&self) -> Option<f64> {
        self.as_ref().and_then(T::number)
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }

    fn check_as(&self, name: &str) -> Result<(), ParamsError> {
        self.as_ref().map_or(Ok(()), |section| section.check_as(name))
    }

    fn collect(schema: &mut Vec<Value>) {
        T::collect(schema);
    }
}

/// A setting with a few values, which have the names of the variants in small letters.
macro_rules! choices {
    ($(#[doc = $about:literal])* pub enum $name:ident { $($(#[doc = $doc:literal])* $variant:ident,)* }) => {
        $(#[doc = $about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($(#[doc = $doc])* $variant,)*
        }

        impl $crate::rules::setting::Setting for $name {
            fn kind() -> serde_json::Value {
                serde_json::json!({ "kind": "choice", "choices": [$($name::$variant),*] })
            }
        }
    };
}
pub(crate) use choices;

/// A section of settings: `Type: Copy { field: type = default, least => most; ... }`, the range where there is one, `Copy` where its
/// settings are.
///
/// Makes the struct, its defaults and its schema, and `check_as`, which fails on the first field outside its range. With `+ method`
/// after the type it then calls that method, for conditions on more than one field.
macro_rules! settings {
    ($(#[doc = $about:literal])* $name:ident $(: $copy:ident)? $(+ $more:ident)? {
        $($(#[doc = $doc:literal])* $field:ident: $type:ty = $default:expr $(, $least:expr => $most:expr)?;)*
    }) => {
        $(#[doc = $about])*
        #[derive(Clone, $($copy,)? Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        // A setting that is misspelt would leave the default without a word.
        #[serde(deny_unknown_fields, default)]
        pub struct $name {
            $(
                $(#[doc = $doc])*
                #[serde(skip_serializing_if = "crate::rules::setting::Setting::is_absent")]
                pub $field: $type,
            )*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default,)* }
            }
        }

        impl $crate::rules::setting::Setting for $name {
            fn kind() -> serde_json::Value {
                serde_json::json!({ "kind": "section", "section": stringify!($name) })
            }

            fn check_as(&self, name: &str) -> Result<(), $crate::rules::setting::ParamsError> {
                $(
                    let field = format!("{name}{}{}", if name.is_empty() { "" } else { "." }, stringify!($field));
                    self.$field.check_as(&field)?;
                    $(if let Some(value) = self.$field.number() {
                        $crate::rules::setting::within(&field, value, $least, $most)?;
                    })?
                )*
                $(self.$more().map_err(|error| error.below(name))?;)?
                Ok(())
            }

            fn collect(schema: &mut Vec<serde_json::Value>) {
                // Sections that are used twice (`cpuct` and `root_cpuct`) are described once.
                if schema.iter().any(|section| section["name"] == stringify!($name)) {
                    return;
                }
                $(<$type as $crate::rules::setting::Setting>::collect(schema);)*
                let default = $name::default();
                schema.push(serde_json::json!({
                    "name": stringify!($name),
                    "text": concat!($($about, "\n"),*),
                    "settings": [$({
                        "name": stringify!($field),
                        "text": concat!($($doc, "\n"),*),
                        "type": <$type as $crate::rules::setting::Setting>::kind(),
                        "default": default.$field,
                        "range": [$($least, $most)?],
                    }),*],
                }));
            }
        }
    };
}
pub(crate) use settings;
