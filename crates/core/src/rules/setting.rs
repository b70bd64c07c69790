//! Settings of rules: defaults, ranges, and what is said of a value outside of them.

use thiserror::Error;

/// A parameter outside its range, or JSON that is no `SearchParams`.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct ParamsError(pub(crate) String);

/// Fails unless `value` is `least` to `most`.
pub(crate) fn within(name: &str, value: f64, least: f64, most: f64) -> Result<(), ParamsError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(ParamsError(format!("SearchParams.{name} must be {least} to {most}, got {value}")))
}

/// A section of `SearchParams`: `"name" Type { field: type = default, least => most; ... }`, the range where there is one.
///
/// Makes the struct, its defaults, and `check`, which fails on the first field outside its range. With `+ method` behind the type
/// `check` goes on with that method, for what is no range of one field.
macro_rules! settings {
    ($(#[$meta:meta])* $section:literal $name:ident $(+ $more:ident)? {
        $($(#[$doc:meta])* $field:ident: $type:ty = $default:expr $(, $least:expr => $most:expr)?;)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default,)* }
            }
        }

        impl $name {
            /// Fails on a setting outside its range.
            pub fn check(&self) -> Result<(), $crate::rules::setting::ParamsError> {
                self.check_as($section)
            }

            /// `check` of a section with another name.
            pub(crate) fn check_as(&self, section: &str) -> Result<(), $crate::rules::setting::ParamsError> {
                $($(
                    let name = format!("{section}.{}", stringify!($field));
                    $crate::rules::setting::within(&name, self.$field as f64, $least, $most)?;
                )?)*
                let _ = section;
                $(self.$more()?;)?
                Ok(())
            }
        }
    };
}
pub(crate) use settings;
