//! Whether this process may use tiles: what the processor has, what the system keeps, and the permission that Linux gives.
//!
//! `ldtilecfg` works without permission and the first instruction on tiles then ends the process, so nothing is tried out: the processor
//! is asked by CPUID (Intel's Architectures Software Developer's Manual, volume 1, chapter 18) and Linux by `arch_prctl`.

use std::fmt;

/// Why tiles are not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code)] // each platform has some of them
pub enum Missing {
    /// Tiles are used on Linux for x86-64 alone.
    Platform,
    /// The processor has no tiles of bfloat16, or no AVX-512 with bfloat16 to go with them.
    Processor,
    /// The system does not keep tiles when it changes from one thread to another.
    System,
    /// Linux refuses permission; its error number.
    Refused(i32),
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missing::Platform => f.write_str("AMX is used on Linux for x86-64 alone"),
            Missing::Processor => f.write_str("this processor has no AMX with bfloat16"),
            Missing::System => f.write_str("the operating system does not keep the tiles of AMX"),
            Missing::Refused(28) => {
                f.write_str("Linux refuses AMX: the signal stack of a thread is too small for its tiles (error 28)")
            }
            Missing::Refused(number) => write!(f, "Linux refuses AMX (error {number})"),
        }
    }
}

/// Asks for permission, once for this process.
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
pub fn granted() -> Result<(), Missing> {
    Err(Missing::Platform)
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub use linux::granted;

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod linux {
    use core::arch::asm;
    use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
    use std::sync::OnceLock;

    use super::Missing;

    /// The state of tiles in XCR0: configuration and data.
    const TILE_STATE: u64 = 0x6_0000;

    /// Asks for permission, once for this process: all its threads have it then, those that exist too.
    pub fn granted() -> Result<(), Missing> {
        // Permission is the process's, and stays: nets that are opened later find the answer.
        static ANSWER: OnceLock<Result<(), Missing>> = OnceLock::new();
        *ANSWER.get_or_init(ask)
    }

    fn ask() -> Result<(), Missing> {
        if !has_tiles() || !has_vectors() {
            return Err(Missing::Processor);
        }
        // SAFETY: `has_tiles` saw that the system lets processes read XCR0.
        if unsafe { enabled_states() } & TILE_STATE != TILE_STATE {
            return Err(Missing::System);
        }
        match request_tile_data() {
            0 => Ok(()),
            error => Err(Missing::Refused(error)),
        }
    }

    /// AMX-TILE and AMX-BF16, with 8 tiles of 16 rows of 64 bytes, and XGETBV enabled.
    #[allow(unused_unsafe)] // CPUID is safe from Rust 1.92 on
    fn has_tiles() -> bool {
        const XGETBV_ENABLED: u32 = 1 << 27;
        const AMX_BF16: u32 = 1 << 22;
        const AMX_TILE: u32 = 1 << 24;
        const TILE_LEAF: u32 = 0x1d;
        // SAFETY: every processor of this architecture has CPUID; leaves are read up to the last that it names.
        // Leaf 0x1d is read before `last` says that it exists: a processor without it answers with something else,
        // which is not looked at.
        let (last, first, features, tiles) =
            unsafe { (__cpuid(0).eax, __cpuid(1), __cpuid_count(7, 0), __cpuid_count(TILE_LEAF, 1)) };
        if last < TILE_LEAF || first.ecx & XGETBV_ENABLED == 0 {
            return false;
        }
        let bytes_of_a_tile = tiles.eax >> 16;
        let bytes_of_a_row = tiles.ebx & 0xffff;
        let number_of_tiles = tiles.ebx >> 16;
        let rows_of_a_tile = tiles.ecx & 0xffff;
        features.edx & AMX_BF16 != 0
            && features.edx & AMX_TILE != 0
            // The kernels have these sizes in their addresses; a processor with larger tiles would read other memory.
            && bytes_of_a_tile == 1024
            && bytes_of_a_row == 64
            && number_of_tiles >= 8
            && rows_of_a_tile >= 16
    }

    /// What computes between the products.
    fn has_vectors() -> bool {
        // All that the lanes between the products are compiled for.
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512bf16")
            && is_x86_feature_detected!("fma")
    }

    /// The processor's states that the system keeps: XCR0.
    ///
    /// # Safety
    /// The system has enabled XGETBV.
    #[target_feature(enable = "xsave")]
    unsafe fn enabled_states() -> u64 {
        // SAFETY: as above.
        unsafe { _xgetbv(0) }
    }

    /// `arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)`; 0, or Linux's error number: 22 (EINVAL) where it knows no tiles (before
    /// 5.16), 28 (ENOSPC) where a thread's signal stack is too small.
    fn request_tile_data() -> i32 {
        const ARCH_PRCTL: i64 = 158;
        const ARCH_REQ_XCOMP_PERM: usize = 0x1023;
        const XFEATURE_XTILEDATA: usize = 18;
        let answer: i64;
        // SAFETY: a system call that neither reads nor writes memory of this process.
        unsafe {
            asm!(
                // Written out, so that the crate needs no libc.
                "syscall",
                inlateout("rax") ARCH_PRCTL => answer,
                in("rdi") ARCH_REQ_XCOMP_PERM,
                in("rsi") XFEATURE_XTILEDATA,
                // The instruction itself overwrites these two: with the address to return to, and with the flags.
                out("rcx") _,
                out("r11") _,
                options(nostack, nomem),
            );
        }
        -(answer as i32)
    }
}
