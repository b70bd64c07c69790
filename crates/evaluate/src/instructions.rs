//! Which instructions there are, and the network made ready for them.

use std::fmt;
use std::str::FromStr;

use crate::lanes::portable::Portable;
use crate::layers::{Layers, NetworkError};
use crate::tower::{Pass, Tower};

/// Instruction sets, and plain Rust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// 16 floats at a time.
    Avx512,
    /// 8 floats at a time, with fused multiply-add.
    Avx2,
    /// 4 floats at a time (64-bit ARM).
    Neon,
    /// 4 floats at a time (WebAssembly), without fused multiply-add.
    Simd128,
    /// Plain Rust with the bits of the fused multiply-add: slow where the processor has none.
    Portable,
    /// Plain Rust with the bits of WebAssembly.
    Unfused,
}

/// What the products of the tower are taken of. Sums are always float32, and so are the dense layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// float32, in tiles of 4x4 outputs.
    Float32,
    /// bfloat16, with about two and a half times the error of plain bfloat16.
    Bfloat16,
}

use Instructions::{Avx2, Avx512, Neon, Portable as Plain, Simd128, Unfused};

impl Instructions {
    /// All of them, the best first.
    pub const ALL: [Instructions; 6] = [Avx512, Avx2, Neon, Simd128, Plain, Unfused];

    /// The best that this processor has.
    pub fn best() -> Self {
        Self::ALL.into_iter().find(|one| one.available()).unwrap_or(Plain)
    }

    /// Does this processor have them?
    pub fn available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("fma")
            }
            #[cfg(target_arch = "x86_64")]
            Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            Neon => cfg!(target_arch = "aarch64"),
            Simd128 => cfg!(all(target_arch = "wasm32", target_feature = "simd128")),
            Plain | Unfused => true,
            #[allow(unreachable_patterns)] // on processors other than x86
            _ => false,
        }
    }

    /// Do they multiply bfloat16?
    pub fn has_bfloat16(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self == Avx512 && self.available() && is_x86_feature_detected!("avx512bf16");
        #[cfg(not(target_arch = "x86_64"))]
        return false;
    }

    /// The name, as read.
    pub fn name(self) -> &'static str {
        match self {
            Avx512 => "avx512",
            Avx2 => "avx2",
            Neon => "neon",
            Simd128 => "simd128",
            Plain => "portable",
            Unfused => "unfused",
        }
    }
}

impl fmt::Display for Instructions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Instructions {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let found = Self::ALL.into_iter().find(|one| one.name() == text);
        let allowed = || Self::ALL.into_iter().filter(|one| one.available()).map(Self::name).collect::<Vec<_>>();
        match found {
            Some(one) if one.available() => Ok(one),
            _ => Err(NetworkError(format!("instructions must be one of {}, got {text:?}", allowed().join(", ")))),
        }
    }
}

impl Precision {
    /// All of them.
    pub const ALL: [Precision; 2] = [Precision::Float32, Precision::Bfloat16];

    /// The name, as read.
    pub fn name(self) -> &'static str {
        match self {
            Precision::Float32 => "float32",
            Precision::Bfloat16 => "bfloat16",
        }
    }
}

impl FromStr for Precision {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let names = Self::ALL.map(Self::name).join(", ");
        let found = Self::ALL.into_iter().find(|one| one.name() == text);
        found.ok_or_else(|| NetworkError(format!("precision must be one of {names}, got {text:?}")))
    }
}

/// Makes checked layers ready.
pub fn ready(
    layers: &Layers,
    precision: Precision,
    instructions: Instructions,
    chunk: usize,
) -> Result<Box<dyn Pass>, NetworkError> {
    if !instructions.available() {
        return Err(NetworkError(format!("this processor has no {instructions}")));
    }
    if precision != Precision::Float32 && !instructions.has_bfloat16() {
        return Err(NetworkError(format!(
            "{} does not multiply {}; float32 always works",
            instructions,
            precision.name()
        )));
    }
    Ok(match (instructions, precision) {
        #[cfg(target_arch = "x86_64")]
        (Avx512, Precision::Bfloat16) => {
            Box::new(Tower::<crate::lanes::x86::Avx512Bf16, crate::lanes::x86::Avx512>::new(layers, chunk))
        }
        #[cfg(target_arch = "x86_64")]
        (Avx512, _) => Box::new(Tower::<crate::lanes::x86::Avx512, crate::lanes::x86::Avx512>::new(layers, chunk)),
        #[cfg(target_arch = "x86_64")]
        (Avx2, _) => Box::new(Tower::<crate::lanes::x86::Avx2, crate::lanes::x86::Avx2>::new(layers, chunk)),
        #[cfg(target_arch = "aarch64")]
        (Neon, _) => Box::new(Tower::<crate::lanes::neon::Neon, crate::lanes::neon::Neon>::new(layers, chunk)),
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        (Simd128, _) => {
            Box::new(Tower::<crate::lanes::simd128::Simd128, crate::lanes::simd128::Simd128>::new(layers, chunk))
        }
        (Unfused, _) => Box::new(Tower::<Portable<false>, Portable<false>>::new(layers, chunk)),
        _ => Box::new(Tower::<Portable<true>, Portable<true>>::new(layers, chunk)),
    })
}
