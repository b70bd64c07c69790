//! Networks with random weights, and their answers computed plainly in float64.

#![allow(dead_code)] // the examples use a part of it

use hauteur_evaluate::layers::{Activation, Block, Convolution, Dense, Layers, Policy, Value};

/// Numbers in (-1, 1), the same everywhere (xorshift64).
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f32 / 8_388_608.0 - 1.0
    }

    /// A whole number below `most`.
    pub fn below(&mut self, most: usize) -> usize {
        let _ = self.next();
        (self.0 >> 20) as usize % most
    }

    fn many(&mut self, count: usize, scale: f32) -> Vec<f32> {
        (0..count).map(|_| self.next() * scale).collect()
    }

    pub fn convolution(&mut self, inputs: usize, outputs: usize, kernel: usize) -> Convolution {
        let taps = kernel * kernel;
        // The variance of outputs is that of inputs, so that numbers neither vanish nor grow from layer to layer, and
        // errors show.
        let scale = (3.0 / (taps * inputs) as f32).sqrt();
        let weights = self.many(outputs * inputs * taps, scale);
        Convolution { inputs, outputs, kernel, weights, bias: self.many(outputs, 0.1) }
    }

    pub fn dense(&mut self, inputs: usize, outputs: usize) -> Dense {
        let weights = self.many(outputs * inputs, (3.0 / inputs as f32).sqrt());
        Dense { inputs, outputs, weights, bias: self.many(outputs, 0.1) }
    }

    /// Features of which about a third are 1.
    pub fn features(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| if self.next() > 0.3 { 1.0 } else { 0.0 }).collect()
    }
}

/// Sizes of a network.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub planes: usize,
    pub rows: usize,
    pub columns: usize,
    pub filters: usize,
    pub blocks: usize,
    pub excitation: usize,
    /// Pooled channels of every second block, and whether the value's planes are pooled; 0: none.
    pub pooling: usize,
    pub activation: Activation,
    /// Planes of the last convolution of the policy; 0: a dense layer.
    pub policy_planes: usize,
    pub actions: usize,
    pub value_outputs: usize,
    /// Side of the kernels of the heads' first layers.
    pub head_kernel: usize,
}

pub fn network(seed: u64, sizes: Sizes) -> Layers {
    let mut numbers = Numbers(seed);
    let Sizes { rows, columns, filters, .. } = sizes;
    let squares = rows * columns;
    let input = numbers.convolution(sizes.planes, filters, 3);
    let blocks = (0..sizes.blocks).map(|number| Block {
        first: numbers.convolution(filters, filters, 3),
        second: numbers.convolution(filters, filters, 3),
        excitation: (sizes.excitation > 0)
            .then(|| (numbers.dense(filters, sizes.excitation), numbers.dense(sizes.excitation, 2 * filters))),
        pooling: (sizes.pooling > 0 && number % 2 == 1)
            .then(|| numbers.dense(2 * sizes.pooling, filters - sizes.pooling)),
    });
    let blocks = blocks.collect();
    let policy = if sizes.policy_planes == 0 {
        Policy::Dense(numbers.convolution(filters, 24, sizes.head_kernel), numbers.dense(24 * squares, sizes.actions))
    } else {
        let all = (sizes.policy_planes * squares) as u32;
        // A prime far above the number of planes: actions are spread over planes and squares, in no order that a
        // mistake could share.
        let actions = (0..sizes.actions as u32).map(|action| action * 7919 % all).collect();
        let planes = numbers.convolution(filters, filters, 3);
        Policy::Planes(planes, numbers.convolution(filters, sizes.policy_planes, 3), actions)
    };
    let pooled = sizes.pooling > 0;
    let value = Value {
        planes: numbers.convolution(filters, 20, sizes.head_kernel),
        hidden: numbers.dense(20 * (squares + if pooled { 2 } else { 0 }), 40),
        pooled,
        output: numbers.dense(40, sizes.value_outputs),
    };
    Layers { rows, columns, activation: sizes.activation, input, blocks, policy, value }
}

struct Plain<'a>(&'a Layers);

impl Plain<'_> {
    fn convolved(&self, layer: &Convolution, x: &[f64]) -> Vec<f64> {
        let rows = self.0.rows as isize;
        let columns = self.0.columns as isize;
        let side = layer.kernel as isize;
        let squares = self.0.rows * self.0.columns;
        let mut y = Vec::with_capacity(layer.outputs * squares);
        for output in 0..layer.outputs {
            for row in 0..rows {
                for column in 0..columns {
                    let mut sum = f64::from(layer.bias[output]);
                    for input in 0..layer.inputs {
                        for i in 0..side {
                            for j in 0..side {
                                let r = row + i - side / 2;
                                let c = column + j - side / 2;
                                if (0..rows).contains(&r) && (0..columns).contains(&c) {
                                    let tap = (output * layer.inputs + input) * layer.kernel * layer.kernel;
                                    let weight = layer.weights[tap + (i * side + j) as usize];
                                    sum += f64::from(weight) * x[input * squares + (r * columns + c) as usize];
                                }
                            }
                        }
                    }
                    y.push(sum);
                }
            }
        }
        y
    }

    fn dense(&self, layer: &Dense, x: &[f64]) -> Vec<f64> {
        let sum = |output: usize| {
            let weights = &layer.weights[output * layer.inputs..][..layer.inputs];
            f64::from(layer.bias[output]) + weights.iter().zip(x).map(|(w, x)| f64::from(*w) * x).sum::<f64>()
        };
        (0..layer.outputs).map(sum).collect()
    }

    fn activated(&self, x: Vec<f64>) -> Vec<f64> {
        let one = |x: f64| match self.0.activation {
            Activation::Relu => x.max(0.0),
            Activation::Mish => x * x.exp().ln_1p().tanh(),
        };
        x.into_iter().map(one).collect()
    }

    /// Mean and greatest number of each plane, one plane after the other.
    fn pooled(&self, planes: &[f64]) -> Vec<f64> {
        let squares = self.0.rows * self.0.columns;
        let of =
            |plane: &[f64]| [plane.iter().sum::<f64>() / squares as f64, plane.iter().copied().fold(-1e9, f64::max)];
        planes.chunks(squares).flat_map(of).collect()
    }

    fn block(&self, block: &Block, x: &[f64]) -> Vec<f64> {
        let squares = self.0.rows * self.0.columns;
        let mut first = self.convolved(&block.first, x);
        if let Some(layer) = &block.pooling {
            let (own, others) = first.split_at_mut(layer.inputs / 2 * squares);
            let added = self.dense(layer, &self.pooled(&self.activated(own.to_vec())));
            others.chunks_mut(squares).zip(added).for_each(|(plane, more)| plane.iter_mut().for_each(|x| *x += more));
        }
        let mut y = self.convolved(&block.second, &self.activated(first));
        if let Some((reduce, expand)) = &block.excitation {
            let means: Vec<f64> = y.chunks(squares).map(|plane| plane.iter().sum::<f64>() / squares as f64).collect();
            let both = self.dense(expand, &self.activated(self.dense(reduce, &means)));
            let filters = means.len();
            for (channel, plane) in y.chunks_mut(squares).enumerate() {
                let gamma = 1.0 / (1.0 + (-both[channel]).exp());
                plane.iter_mut().for_each(|x| *x = *x * gamma + both[filters + channel]);
            }
        }
        self.activated(y.iter().zip(x).map(|(a, b)| a + b).collect())
    }
}

/// Logits and win, draw, loss of one row.
pub fn plainly(layers: &Layers, features: &[f32]) -> (Vec<f64>, Vec<f64>) {
    let plain = Plain(layers);
    let features: Vec<f64> = features.iter().map(|x| f64::from(*x)).collect();
    let mut x = plain.activated(plain.convolved(&layers.input, &features));
    for block in &layers.blocks {
        x = plain.block(block, &x);
    }
    let logits = match &layers.policy {
        Policy::Dense(planes, output) => plain.dense(output, &plain.activated(plain.convolved(planes, &x))),
        Policy::Planes(planes, output, actions) => {
            let all = plain.convolved(output, &plain.activated(plain.convolved(planes, &x)));
            actions.iter().map(|index| all[*index as usize]).collect()
        }
    };
    let mut planes = plain.activated(plain.convolved(&layers.value.planes, &x));
    if layers.value.pooled {
        let squares = layers.rows * layers.columns;
        let pooled = plain.pooled(&planes);
        let both = planes.chunks(squares).zip(pooled.chunks(2));
        planes = both.flat_map(|(plane, two)| [plane, two].concat()).collect();
    }
    let last = plain.dense(&layers.value.output, &plain.activated(plain.dense(&layers.value.hidden, &planes)));
    let wdl = if last.len() == 1 {
        let value = last[0].tanh();
        vec![0.5 + value / 2.0, 0.0, 0.5 - value / 2.0]
    } else {
        let shares: Vec<f64> = last.iter().map(|x| x.exp()).collect();
        let sum: f64 = shares.iter().sum();
        shares.iter().map(|share| share / sum).collect()
    };
    (logits, wdl)
}

/// Layers of random sizes, each layer's its own: what a file of some other program may hold.
pub fn random_layers(seed: u64) -> Layers {
    let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    (0..8).for_each(|_| _ = numbers.next()); // the first numbers of near seeds are alike
    let rows = numbers.below(10) + 1;
    let columns = numbers.below(10) + 1;
    let filters = numbers.below(40) + 2;
    let squares = rows * columns;
    let kernel = |numbers: &mut Numbers| if numbers.below(2) == 0 { 1 } else { 3 };
    let planes = numbers.below(20) + 1;
    let input = numbers.convolution(planes, filters, 3);
    let blocks = (0..numbers.below(3)).map(|_| {
        let first = numbers.convolution(filters, filters, 3);
        let second = numbers.convolution(filters, filters, 3);
        let excitation = (numbers.below(2) == 0).then(|| {
            let few = numbers.below(12) + 1;
            (numbers.dense(filters, few), numbers.dense(few, 2 * filters))
        });
        let pooling = (numbers.below(3) == 0).then(|| {
            let pooled = numbers.below(filters - 1) + 1;
            numbers.dense(2 * pooled, filters - pooled)
        });
        Block { first, second, excitation, pooling }
    });
    let blocks = blocks.collect();
    let middle = numbers.below(70) + 1;
    let policy = if numbers.below(2) == 0 {
        let side = kernel(&mut numbers);
        let actions = numbers.below(60) + 1;
        Policy::Dense(numbers.convolution(filters, middle, side), numbers.dense(middle * squares, actions))
    } else {
        let outputs = numbers.below(30) + 1;
        let actions = (0..numbers.below(60) + 1).map(|_| numbers.below(outputs * squares) as u32).collect();
        Policy::Planes(numbers.convolution(filters, middle, 3), numbers.convolution(middle, outputs, 3), actions)
    };
    let pooled = numbers.below(3) == 0;
    let width = numbers.below(70) + 1;
    let hidden = numbers.below(50) + 1;
    let side = kernel(&mut numbers);
    let outputs = if numbers.below(2) == 0 { 1 } else { 3 };
    let value = Value {
        planes: numbers.convolution(filters, width, side),
        hidden: numbers.dense(width * (squares + if pooled { 2 } else { 0 }), hidden),
        pooled,
        output: numbers.dense(hidden, outputs),
    };
    let activation = if numbers.below(2) == 0 { Activation::Relu } else { Activation::Mish };
    Layers { rows, columns, activation, input, blocks, policy, value }
}
