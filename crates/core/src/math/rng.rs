//! The counter-based random generator of a tree: draw number `counter` of generator `key` is a pure function of both.

use std::convert::Infallible;
use std::f64::consts::PI;
use std::sync::LazyLock;

use rand::{Rng, TryRng};
use rand_distr::{Distribution, Gamma};

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of splitmix64: a well-mixed bijection of 64 bits.
#[inline]
pub fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Draw number `counter` of the generator with this key.
#[inline]
pub fn draw(key: u64, counter: u64) -> u64 {
    mix(mix(key ^ GOLDEN).wrapping_add(counter.wrapping_add(1).wrapping_mul(GOLDEN)))
}

/// The key of the tree with number `id` in a forest with this seed; a tree with a seed of its own is number 0.
pub fn tree_key(seed: u64, id: u64) -> u64 {
    draw(seed, id)
}

/// The generator of a tree's root number `root`: every root has its own, so no draw depends on how many went before.
pub fn root_rng(tree_key: u64, root: u64) -> CounterRng {
    CounterRng::new(draw(tree_key, root))
}

/// A generator and how many draws it has made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterRng {
    /// Which generator.
    pub key: u64,
    /// Number of draws made.
    pub counter: u64,
}

impl CounterRng {
    /// The generator with this key, before its first draw.
    pub fn new(key: u64) -> Self {
        CounterRng { key, counter: 0 }
    }

    /// A number in [0, 1), from one draw: its upper 53 bits.
    pub fn uniform(&mut self) -> f64 {
        let word = draw(self.key, self.counter);
        self.counter += 1;
        (word >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// g ~ Gumbel(0, 1), from one draw: -ln(-ln u), u = its upper 52 bits and a half, so that 0 < u < 1.
    pub fn gumbel(&mut self) -> f64 {
        let word = draw(self.key, self.counter);
        self.counter += 1;
        let u = ((word >> 12) as f64 + 0.5) / (1_u64 << 52) as f64;
        -(-u.ln()).ln()
    }

    /// z ~ N(0, 1), from two draws (Box and Muller 1958): sqrt(-2 ln(1 - u1)) cos(2 pi u2).
    pub fn normal(&mut self) -> f64 {
        // Only the cosine is used: the sine would be a second number to keep, and a draw would depend on the
        // draw before.
        let u1 = self.uniform();
        let u2 = self.uniform();
        // 1 - u1 is never 0, where the logarithm has no value.
        (-2.0 * (1.0 - u1).ln()).sqrt() * (2.0 * PI * u2).cos()
    }

    /// The draws to come; none is made.
    #[inline]
    pub fn ahead(&self) -> DrawsAhead {
        DrawsAhead(mix(self.key ^ GOLDEN).wrapping_add(self.counter.wrapping_mul(GOLDEN)))
    }
}

/// The draws that a generator has to come. The key is mixed once for all of them, where `draw` mixes it for each.
#[derive(Clone, Copy, Debug)]
pub struct DrawsAhead(u64);

impl DrawsAhead {
    /// A number that |z| of the `normal` after `ahead` other calls is not above; from one word.
    #[inline]
    pub fn radius(&self, ahead: u64, bounds: &NormalBounds) -> f64 {
        bounds.radius(1.0 - self.uniform(2 * ahead))
    }

    /// The |z| that `normal` would give after `ahead` other calls, unless `may` refuses a number that is no less.
    #[inline]
    pub fn abs_normal(&self, ahead: u64, bounds: &NormalBounds, may: impl Fn(f64) -> bool) -> Option<f64> {
        let rest = 1.0 - self.uniform(2 * ahead);
        let u2 = self.uniform(2 * ahead + 1);
        let z = || ((-2.0 * rest.ln()).sqrt() * (2.0 * PI * u2).cos()).abs();
        may(bounds.radius(rest) * bounds.cosine(u2)).then(z)
    }

    #[inline]
    fn uniform(&self, ahead: u64) -> f64 {
        let word = mix(self.0.wrapping_add((ahead + 1).wrapping_mul(GOLDEN)));
        (word >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Upper bounds of the two factors of [`CounterRng::normal`].
pub struct NormalBounds {
    /// Of sqrt(-2 ln x), by the exponent and the first bits of the mantissa of x in 2^-53..=1.
    radius: [f64; 425],
    /// Of |cos(2 pi u)|, by the first bits of u.
    cosine: [f64; 64],
}

impl NormalBounds {
    /// No |z| is greater.
    // sqrt(-2 ln x) is 8.572 at the least x that a draw gives, 2^-53.
    pub const GREATEST: f64 = 8.58;
    const SHIFT: u32 = 49;
    const FIRST: usize = (1023 - 53) << 3;
    /// Above what rounding can do.
    const MARGIN: f64 = 1e-9;

    fn new() -> Self {
        // The radius falls as x grows: the least x of an interval bounds them all.
        let radius =
            |k: usize| (-2.0 * f64::from_bits(((k + Self::FIRST) as u64) << Self::SHIFT).ln()).sqrt() + Self::MARGIN;
        let cosine = |k: usize| (2.0 * PI * k as f64 / 64.0).cos().abs();
        NormalBounds {
            radius: std::array::from_fn(radius),
            cosine: std::array::from_fn(|k| cosine(k).max(cosine(k + 1)) + Self::MARGIN),
        }
    }

    #[inline]
    fn radius(&self, x: f64) -> f64 {
        self.radius[(x.to_bits() >> Self::SHIFT) as usize - Self::FIRST]
    }

    #[inline]
    fn cosine(&self, u: f64) -> f64 {
        self.cosine[(u * self.cosine.len() as f64) as usize]
    }

    /// The bounds, computed once.
    pub fn get() -> &'static NormalBounds {
        static BOUNDS: LazyLock<NormalBounds> = LazyLock::new(NormalBounds::new);
        &BOUNDS
    }
}

/// The draws of one generator in order, each at half the cost of `draw`: number `i` is `draw(key, i)`.
#[derive(Clone, Debug)]
pub struct Stream(u64);

impl Stream {
    /// The generator with this key, before its first draw.
    pub fn new(key: u64) -> Self {
        Stream(mix(key ^ GOLDEN))
    }

    /// The next draw.
    #[inline]
    pub fn next_word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// A number from 0 to `n` - 1, from the upper half of one draw; `n` is at least 1 and far below 2^32.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        // Lemire's multiplication instead of a remainder; its bias is below n / 2^32.
        (((self.next_word() >> 32) * n as u64) >> 32) as usize
    }
}

/// The generator of the draws that the rules of a tree make during visits, in their order.
pub fn rule_rng(tree_key: u64) -> CounterRng {
    // Roots count up from 0: they never come to this number, nor to the one before it, which is that of turns.
    CounterRng::new(draw(tree_key, u64::MAX))
}

impl TryRng for CounterRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.next_u64() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let value = draw(self.key, self.counter);
        self.counter += 1;
        Ok(value)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            // In one order of bytes, so that a machine with the other one draws the same.
            let word = self.next_u64().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}

/// A draw from the symmetric Dirichlet distribution of `n` classes: `n` shares that sum to 1.
///
/// `alpha` is positive and finite. A draw whose gammas all underflow to 0 (tiny alpha) puts everything on one class.
pub fn dirichlet(rng: &mut CounterRng, alpha: f64, n: usize) -> Vec<f64> {
    // Normalised gamma variates are a Dirichlet variate.
    let gamma = Gamma::new(alpha, 1.0).expect("alpha is checked by SearchParams");
    let mut shares: Vec<f64> = (0..n).map(|_| gamma.sample(rng)).collect();
    let sum: f64 = shares.iter().sum();
    if sum > 0.0 {
        shares.iter_mut().for_each(|share| *share /= sum);
    } else if n > 0 {
        let lucky = (rng.next_u64() % n as u64) as usize;
        shares[lucky] = 1.0;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_pure_functions_of_key_and_counter() {
        let mut rng = CounterRng::new(7);
        let drawn: Vec<u64> = (0..5).map(|_| rng.next_u64()).collect();
        assert_eq!(drawn, (0..5).map(|i| draw(7, i)).collect::<Vec<_>>());
        assert_ne!(draw(7, 0), draw(8, 0));
        let mut stream = Stream::new(7);
        assert_eq!(drawn, (0..5).map(|_| stream.next_word()).collect::<Vec<_>>());
        assert!((0..100).map(|_| stream.below(3)).all(|number| number < 3));
    }

    #[test]
    fn normals_ahead_are_those_to_come_and_within_their_bounds() {
        let mut drawn = CounterRng::new(11);
        drawn.counter = 5;
        let rng = drawn.clone();
        for ahead in 0..20_000 {
            let z = drawn.normal().abs();
            let bounds = NormalBounds::get();
            assert_eq!(rng.ahead().abs_normal(ahead, bounds, |bound| bound >= z), Some(z));
            assert!(rng.ahead().abs_normal(ahead, bounds, |bound| bound > 9.0).is_none());
            let radius = rng.ahead().radius(ahead, bounds);
            assert!((z..NormalBounds::GREATEST).contains(&radius), "{z}: {radius}");
        }
    }

    #[test]
    fn dirichlet_sums_to_one() {
        for alpha in [1e-8, 0.03, 0.3, 10.0] {
            let shares = dirichlet(&mut CounterRng::new(3), alpha, 30);
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{alpha}");
            assert!(shares.iter().all(|s| *s >= 0.0));
        }
    }
}
