//! An interpreter of tile instructions: with it the machine code of the kernels runs, and is tested, on processors without tiles.
//!
//! A processor that lacks an instruction stops the program at it with a signal (SIGILL). The handler reads the instruction (Intel's
//! manual, volume 2, chapters 2.3 and 3), does what it says on tiles in memory, and continues after it.

use std::cell::UnsafeCell;
use std::sync::Once;

use super::emulated::TileProduct;
use super::grid::TILE_ROWS;
use super::products::ROW_BYTES;
use crate::lanes::Lanes;
use crate::lanes::emulated::Halves;

/// Tiles of a thread: rows of each (0 where it is not configured), and the numbers in them.
#[repr(align(64))]
struct State {
    rows: [u8; 8],
    tiles: [[u8; TILE_ROWS * ROW_BYTES]; 8],
}

thread_local! {
    static STATE: UnsafeCell<State> =
        const { UnsafeCell::new(State { rows: [0; 8], tiles: [[0; TILE_ROWS * ROW_BYTES]; 8] }) };
}

/// Lets tile instructions of this process be interpreted where the processor stops at them.
pub fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: zeros are an empty set of signals; the handler has the form that SA_SIGINFO asks for.
        let answer = unsafe {
            let mut action: libc::sigaction = core::mem::zeroed();
            action.sa_sigaction = handle as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO;
            libc::sigaction(libc::SIGILL, &action, core::ptr::null_mut())
        };
        assert_eq!(answer, 0, "Linux takes a handler of SIGILL");
    });
}

extern "C" fn handle(_: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: Linux gives the handler the registers of the thread that was stopped, at an instruction that can be read.
    unsafe {
        let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        let begin = registers[libc::REG_RIP as usize] as *const u8;
        match Instruction::read(begin, registers) {
            Some(found) if STATE.with(|state| found.perform(&mut *state.get())) => {
                registers[libc::REG_RIP as usize] += found.length as i64;
            }
            // Returning would meet the same instruction again, for ever.
            _ => libc::abort(),
        }
    }
}

/// Numbers of the general registers in `gregs`, in the order of the processor.
const REGISTERS: [i32; 16] = [
    libc::REG_RAX,
    libc::REG_RCX,
    libc::REG_RDX,
    libc::REG_RBX,
    libc::REG_RSP,
    libc::REG_RBP,
    libc::REG_RSI,
    libc::REG_RDI,
    libc::REG_R8,
    libc::REG_R9,
    libc::REG_R10,
    libc::REG_R11,
    libc::REG_R12,
    libc::REG_R13,
    libc::REG_R14,
    libc::REG_R15,
];

/// Opcode of LDTILECFG, TILERELEASE and TILEZERO.
const CONFIGURE: u8 = 0x49;
/// Opcode of TILELOADD and TILESTORED.
const MOVE: u8 = 0x4b;
/// Opcode of TDPBF16PS.
const MULTIPLY: u8 = 0x5c;

/// What `Instruction::prefix` is without a prefix, and where it stands for F3 or F2.
const NONE: u8 = 0;
const F3: u8 = 2;
const F2: u8 = 3;

/// An instruction with a VEX prefix of three bytes, of the map 0F38.
struct Instruction {
    opcode: u8,
    /// Of the prefixes none, 66, F3, F2: which it stands for.
    prefix: u8,
    /// The tile of ModRM's reg, of its r/m, and of VEX.vvvv.
    tiles: [usize; 3],
    /// Address, and bytes from a row to the next; none where r/m is a register.
    memory: Option<(usize, usize)>,
    length: usize,
}

impl Instruction {
    /// # Safety
    /// An instruction of at most 15 bytes can be read.
    unsafe fn read(begin: *const u8, registers: &[i64; 23]) -> Option<Self> {
        let byte = |place: usize| *begin.add(place);
        if byte(0) != 0xc4 || byte(1) & 0x1f != 2 {
            return None;
        }
        let extend_index = byte(1) & 0x40 == 0;
        let extend_base = byte(1) & 0x20 == 0;
        let mode = byte(4) >> 6;
        let low = byte(4) & 7;
        let register =
            |low: u8, extended: bool| registers[REGISTERS[(low | u8::from(extended) << 3) as usize] as usize];
        let mut length = 5;
        let memory = if mode == 3 {
            None
        } else {
            let mut base = low;
            let mut step = 0;
            if low == 4 {
                let index = register(byte(5) >> 3 & 7, extend_index);
                step = index << (byte(5) >> 6);
                base = byte(5) & 7;
                length += 1;
            }
            if mode == 0 && base == 5 {
                return None; // no base: the kernels have none such
            }
            let displacement = match mode {
                0 => 0,
                1 => i64::from(byte(length) as i8),
                _ => i64::from(begin.add(length).cast::<i32>().read_unaligned()),
            };
            length += [0, 1, 4][mode as usize];
            Some(((register(base, extend_base) + displacement) as usize, step as usize))
        };
        Some(Instruction {
            opcode: byte(3),
            prefix: byte(2) & 3,
            tiles: [(byte(4) >> 3 & 7).into(), low.into(), (!byte(2) >> 3 & 7).into()],
            memory,
            length,
        })
    }

    /// Does it; false where it is no tile instruction.
    ///
    /// # Safety
    /// What it names can be read or written.
    unsafe fn perform(&self, state: &mut State) -> bool {
        let [first, second, third] = self.tiles;
        match (self.opcode, self.prefix, self.memory) {
            (CONFIGURE, NONE, Some((from, _))) => {
                let configuration = core::slice::from_raw_parts(from as *const u8, 64);
                assert_eq!(configuration[0], 1, "the palette");
                state.rows.copy_from_slice(&configuration[48..56]);
                // As the processor does: a kernel that relied on what tiles held before would be found out.
                state.tiles = [[0; TILE_ROWS * ROW_BYTES]; 8];
            }
            (CONFIGURE, NONE, None) => state.rows = [0; 8],
            (CONFIGURE, F2, None) => state.tiles[first].fill(0),
            (MOVE, F2, Some((from, step))) => {
                for row in 0..state.rows_of(first) {
                    let from = core::slice::from_raw_parts((from + row * step) as *const u8, ROW_BYTES);
                    state.tiles[first][row * ROW_BYTES..][..ROW_BYTES].copy_from_slice(from);
                }
            }
            (MOVE, F3, Some((to, step))) => {
                for row in 0..state.rows_of(first) {
                    let to = core::slice::from_raw_parts_mut((to + row * step) as *mut u8, ROW_BYTES);
                    to.copy_from_slice(&state.tiles[first][row * ROW_BYTES..][..ROW_BYTES]);
                }
            }
            (MULTIPLY, F3, None) => {
                assert_eq!(state.rows_of(first), state.rows_of(second), "rows of sums and factors");
                assert_eq!(state.rows_of(third), TILE_ROWS, "rows of weights");
                let count = state.rows_of(first);
                let tiles = state.tiles.as_mut_ptr();
                Halves::run(TileProduct {
                    sums: tiles.add(first).cast(),
                    sums_step: ROW_BYTES,
                    rows: tiles.add(second).cast(),
                    rows_step: ROW_BYTES,
                    count,
                    weights: tiles.add(third).cast(),
                });
            }
            _ => return false,
        }
        true
    }
}

impl State {
    fn rows_of(&self, tile: usize) -> usize {
        assert_ne!(self.rows[tile], 0, "tile {tile} is configured");
        self.rows[tile].into()
    }
}
