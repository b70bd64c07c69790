//! Named random streams, those of `hauteur.system.seeds` to the last bit: Philox 4x64-10 (Salmon et al. 2011, "Parallel random
//! numbers: as easy as 1, 2, 3"), as numpy counts.

const MULTIPLIERS: [u64; 2] = [0xd2e7_470e_e14c_6c93, 0xca5a_8263_9512_1157];
const WEYL: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xbb67_ae85_84ca_a73b];
const ROUNDS: usize = 10;

/// What a stream is for; its value is the BLAKE2b digest of 8 bytes of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// "moves": the moves that are drawn in a game, in their order.
    Moves = 0xee86_54c1_ee3a_4912,
    /// "tree": seeds of the trees of a game, by their number.
    Tree = 0x2dac_6619_fc8b_a27f,
    /// "play through": whether a game goes on after somebody had reason to resign.
    PlayThrough = 0x1ab1_853a_7624_735d,
    /// "playout cap": whether the move at a ply is searched in full.
    PlayoutCap = 0xaf7f_48a8_cf3e_09cf,
    /// "answer": seeds of those who are asked for a move, by the ply.
    Answer = 0x8256_51f9_387b_2ac3,
}

/// A stream of random numbers, at the next of them.
#[derive(Clone, Debug)]
pub struct Stream {
    key: [u64; 2],
    counter: [u64; 4],
    block: [u64; 4],
    used: usize,
}

impl Stream {
    /// The stream with this name.
    pub fn new(seed: u64, purpose: Purpose, index: u64) -> Self {
        let mut key = [seed, purpose as u64];
        if (seed ^ key[1]) >> 63 != 0 {
            key = key.map(|half| half as f64 as u64); // numpy takes signed beside unsigned numbers as floats
        }
        // numpy counts up from the lowest word: with the index in the highest one, streams of one name never meet.
        Stream { key, counter: [0, 0, 0, index], block: [0; 4], used: 4 }
    }

    /// The next 64 bits. A stream has 2^66 of them.
    pub fn next_word(&mut self) -> u64 {
        if self.used == 4 {
            // numpy counts before it draws.
            self.counter[0] = self.counter[0].wrapping_add(1);
            self.block = philox(self.counter, self.key);
            self.used = 0;
        }
        self.used += 1;
        self.block[self.used - 1]
    }

    /// A number in [0, 1): the upper 53 bits of a word.
    pub fn uniform(&mut self) -> f64 {
        (self.next_word() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The first number of a stream, 0 to 2^63 - 1: the seed of something that has its own generator.
pub fn derived_seed(seed: u64, purpose: Purpose, index: u64) -> u64 {
    Stream::new(seed, purpose, index).next_word() >> 1
}

fn philox(mut counter: [u64; 4], mut key: [u64; 2]) -> [u64; 4] {
    for _ in 0..ROUNDS {
        let products = [0, 2].map(|k| u128::from(MULTIPLIERS[k / 2]) * u128::from(counter[k]));
        let [high, low] = [products.map(|p| (p >> 64) as u64), products.map(|p| p as u64)];
        counter = [high[1] ^ counter[1] ^ key[0], low[1], high[0] ^ counter[3] ^ key[1], low[0]];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    counter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_numpy() {
        let mut stream = Stream::new(7, Purpose::Moves, 3);
        let expected = [
            0.5616691373149623,
            0.9637846837099767,
            0.8003495029830279,
            0.5868570663348731,
            0.8493628607053063,
            0.9640371478158262,
        ];
        assert_eq!(expected.map(|_| stream.uniform()), expected);
        assert_eq!(derived_seed(7, Purpose::Tree, 1), 5109421680203848129);
        assert_eq!(derived_seed((1 << 63) - 1, Purpose::Answer, 9), 7774200773462463084);
    }
}
