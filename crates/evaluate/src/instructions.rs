//! Which instructions there are, and the network made ready for them.

use std::fmt;
use std::str::FromStr;

use crate::amx::permission;
#[cfg(not(target_arch = "wasm32"))]
use crate::lanes::emulated::Halves;
use crate::lanes::portable::Portable;
use crate::layers::{Layers, NetworkError};
use crate::memory;
use crate::tower::{Pass, Tower};

/// Instruction sets, and plain Rust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// Tiles of bfloat16 (Advanced Matrix Extensions), and AVX-512 between the products.
    Amx,
    /// 16 floats at a time.
    Avx512,
    /// 8 floats at a time, with fused multiply-add.
    Avx2,
    /// 4 floats at a time (64-bit ARM).
    Neon,
    /// 4 floats at a time (WebAssembly), with the fused multiply-add of relaxed SIMD.
    Relaxed,
    /// 4 floats at a time (WebAssembly), without fused multiply-add.
    Simd128,
    /// Plain Rust with the bits of the fused multiply-add: slow where the processor has none.
    Portable,
    /// Plain Rust with the bits of WebAssembly.
    Unfused,
    /// Plain Rust with the bits of AMX: for tests, slow everywhere.
    EmulatedAmx,
    /// Plain Rust with the bits of AVX-512's bfloat16: for tests, slow everywhere.
    EmulatedAvx512,
}

/// What the products of the tower are taken of. Sums are always float32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// float32, in tiles of three or four outputs a side.
    Float32,
    /// bfloat16: with AVX-512 in the same tiles, which has about two and a half times the error of plain bfloat16, and float32 in
    /// the dense layers; with AMX plainly, in all layers but the value's last one. The two do not have the same bits.
    Bfloat16,
}

use Instructions::{
    Amx, Avx2, Avx512, EmulatedAmx, EmulatedAvx512, Neon, Portable as Plain, Relaxed, Simd128, Unfused,
};

impl Instructions {
    /// All of them that are for use, the best first.
    pub const ALL: [Instructions; 8] = [Amx, Avx512, Avx2, Neon, Relaxed, Simd128, Plain, Unfused];

    /// Those that are for tests alone.
    pub const EMULATED: [Instructions; 2] = [EmulatedAmx, EmulatedAvx512];

    /// The best that this processor has, for float32.
    pub fn best() -> Self {
        Self::best_for(Precision::Float32).unwrap_or(Plain)
    }

    /// The best that this processor has for a precision, if there are any.
    pub fn best_for(precision: Precision) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.computes(precision))
    }

    /// Does this processor have them? For AMX this asks the system for permission, once.
    pub fn available(self) -> bool {
        match self {
            // Asked, not tried: the first tile instruction without permission would end the process.
            Amx => permission::granted().is_ok(),
            #[cfg(target_arch = "x86_64")]
            Avx512 => {
                // All that `run` of these lanes compiles for, whether a kernel uses it or not: the compiler may use any
                // of it.
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("fma")
            }
            #[cfg(target_arch = "x86_64")]
            Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            Neon => cfg!(target_arch = "aarch64"),
            #[cfg(target_feature = "relaxed-simd")]
            // WebAssembly leaves open whether relaxed instructions fuse, so it is found out; without fusion the bits
            // are those of `Simd128`.
            Relaxed => crate::lanes::simd128::fuses(),
            Simd128 => cfg!(all(target_arch = "wasm32", target_feature = "simd128")),
            Plain | Unfused => true,
            EmulatedAmx | EmulatedAvx512 => cfg!(not(target_arch = "wasm32")),
            #[allow(unreachable_patterns)] // where there are all of them
            _ => false,
        }
    }

    /// Does this processor have them, and do they compute this precision?
    pub fn computes(self, precision: Precision) -> bool {
        let multiplies = match (self, precision) {
            // Tiles have no products of float32, and what emulates bfloat16 is for its tests.
            (Amx | EmulatedAmx | EmulatedAvx512, _) => precision == Precision::Bfloat16,
            (_, Precision::Float32) => true,
            #[cfg(target_arch = "x86_64")]
            (Avx512, Precision::Bfloat16) => is_x86_feature_detected!("avx512bf16"),
            (_, Precision::Bfloat16) => false,
        };
        multiplies && self.available()
    }

    /// Why AMX is not used here, in one line; None where it is.
    pub fn why_not_amx() -> Option<String> {
        permission::granted().err().map(|missing| missing.to_string())
    }

    /// The name, as read.
    pub fn name(self) -> &'static str {
        match self {
            Amx => "amx",
            Avx512 => "avx512",
            Avx2 => "avx2",
            Neon => "neon",
            Relaxed => "relaxed-simd",
            Simd128 => "simd128",
            Plain => "portable",
            Unfused => "unfused",
            EmulatedAmx => "emulated-amx",
            EmulatedAvx512 => "emulated-avx512",
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
        let found = Self::ALL.into_iter().chain(Self::EMULATED).find(|one| one.name() == text);
        // The message names none of those for tests, though they are read.
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

/// Makes checked layers ready. `chunk`: rows that go through all layers together, None for what suits the network.
pub fn ready(
    layers: &Layers,
    precision: Precision,
    instructions: Instructions,
    chunk: Option<usize>,
) -> Result<Box<dyn Pass>, NetworkError> {
    // The last gate before `unsafe`: whoever holds a `Pass` may call it, because none is made for instructions that are
    // missing here.
    if !instructions.available() {
        return Err(NetworkError(format!("this processor has no {instructions}")));
    }
    if !instructions.computes(precision) {
        let other = if precision == Precision::Bfloat16 { "float32 always works" } else { "bfloat16 alone" };
        return Err(NetworkError(format!("{instructions} does not multiply {}; {other}", precision.name())));
    }
    #[cfg(not(target_arch = "wasm32"))]
    if matches!(instructions, Amx | EmulatedAmx) {
        memory::check_tiles(layers)?;
        return Ok(tiles(layers, instructions, chunk));
    }
    // Cut off before memory is checked, so that what is checked is what will be taken.
    let chunk = chunk.unwrap_or_else(|| memory::default_chunk(layers)).clamp(1, 256);
    memory::check(layers, chunk)?;
    Ok(winograd(layers, precision, instructions, chunk))
}

/// A network of tiles.
#[cfg(not(target_arch = "wasm32"))]
fn tiles(layers: &Layers, instructions: Instructions, chunk: Option<usize>) -> Box<dyn Pass> {
    use crate::amx::emulated::Emulated;
    use crate::amx::tower::TileTower;
    match instructions {
        #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
        Amx => {
            use crate::amx::kernels::Hardware;
            use crate::lanes::x86::{Avx512, Avx512Bf16};
            Box::new(TileTower::<Hardware, Avx512Bf16, Avx512>::new(layers, chunk))
        }
        _ => Box::new(TileTower::<Emulated, Halves, Portable<true>>::new(layers, chunk)),
    }
}

/// A network of Winograd's transforms.
fn winograd(layers: &Layers, precision: Precision, instructions: Instructions, chunk: usize) -> Box<dyn Pass> {
    match (instructions, precision) {
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
        #[cfg(target_feature = "relaxed-simd")]
        (Relaxed, _) => {
            use crate::lanes::simd128::Simd128;
            Box::new(Tower::<Simd128<true>, Simd128<true>>::new(layers, chunk))
        }
        #[cfg(target_feature = "simd128")]
        (Simd128, _) => {
            use crate::lanes::simd128::Simd128;
            Box::new(Tower::<Simd128<false>, Simd128<false>>::new(layers, chunk))
        }
        #[cfg(not(target_arch = "wasm32"))]
        (EmulatedAvx512, _) => Box::new(Tower::<Halves, Portable<true>>::new(layers, chunk)),
        (Unfused, _) => Box::new(Tower::<Portable<false>, Portable<false>>::new(layers, chunk)),
        _ => Box::new(Tower::<Portable<true>, Portable<true>>::new(layers, chunk)),
    }
}
