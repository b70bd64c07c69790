//! A network as its layers, in the order in which they are computed.

use thiserror::Error;

/// A network that cannot be computed, and why.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("{0}")]
pub struct NetworkError(pub String);

/// A convolution over the board with its batch norm folded in, borders filled with zeros.
#[derive(Clone, Debug)]
pub struct Convolution {
    /// Input channels.
    pub inputs: usize,
    /// Output channels.
    pub outputs: usize,
    /// Squares of the kernel's side: 1 or 3.
    pub kernel: usize,
    /// [output][input][row][column].
    pub weights: Vec<f32>,
    /// One number an output.
    pub bias: Vec<f32>,
}

/// A dense layer.
#[derive(Clone, Debug)]
pub struct Dense {
    /// Numbers that it takes.
    pub inputs: usize,
    /// Numbers that it gives.
    pub outputs: usize,
    /// [output][input].
    pub weights: Vec<f32>,
    /// One number an output.
    pub bias: Vec<f32>,
}

/// Two 3x3 convolutions with a skip connection (He et al. 2016), with squeeze-excitation (Hu et al. 2018) where it is given:
/// channels -> few -> twice the channels, of which the first half scales (by its sigmoid) and the second is added, as in lc0. With global
/// pooling (Wu 2019) the first channels of the first convolution, activated, give their mean and greatest number, from which a dense layer
/// computes what is added to each of the other channels before their activation.
#[derive(Clone, Debug)]
pub struct Block {
    /// The first convolution, followed by the activation.
    pub first: Convolution,
    /// The second one, followed by excitation, skip and activation.
    pub second: Convolution,
    /// The two dense layers.
    pub excitation: Option<(Dense, Dense)>,
    /// From mean and greatest number of one pooled channel after the other to the channels that are not pooled.
    pub pooling: Option<Dense>,
}

/// How the last planes become logits of actions.
#[derive(Clone, Debug)]
pub enum Policy {
    /// A convolution with activation, then one dense layer over all its planes (channel by channel).
    Dense(Convolution, Dense),
    /// A convolution with activation, then a convolution; action i is number `actions[i]` of its planes (channel by channel).
    Planes(Convolution, Convolution, Vec<u32>),
}

/// Convolution with activation, dense layer with activation, dense layer to the logits of win, draw and loss, or to one number whose
/// tanh is the value.
#[derive(Clone, Debug)]
pub struct Value {
    /// To the planes of the head.
    pub planes: Convolution,
    /// Over all planes (channel by channel).
    pub hidden: Dense,
    /// Whether the hidden layer gets, after the squares of each plane, their mean and the greatest.
    pub pooled: bool,
    /// To three numbers or one.
    pub output: Dense,
}

impl Value {
    /// Numbers of a plane that the hidden layer takes.
    pub fn numbers(&self, squares: usize) -> usize {
        squares + if self.pooled { 2 } else { 0 }
    }
}

/// What follows convolutions and dense layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// max(0, x).
    Relu,
    /// x tanh(ln(1 + e^x)).
    Mish,
}

/// A residual tower with its two heads (Silver et al. 2017).
#[derive(Clone, Debug)]
pub struct Layers {
    /// Rows of the board.
    pub rows: usize,
    /// Columns of the board.
    pub columns: usize,
    /// After every layer but the last ones.
    pub activation: Activation,
    /// From the features to the tower's channels.
    pub input: Convolution,
    /// The tower.
    pub blocks: Vec<Block>,
    /// Logits of actions.
    pub policy: Policy,
    /// Win, draw, loss.
    pub value: Value,
}

/// Sizes beyond which a network is refused.
// Far beyond any net. Products of sizes are counted with checks all the same: four of the largest overflow 64 bits.
const MOST: usize = 65_536;

impl Layers {
    /// Logits that the policy gives.
    pub fn actions(&self) -> usize {
        match &self.policy {
            Policy::Dense(_, output) => output.outputs,
            Policy::Planes(_, _, actions) => actions.len(),
        }
    }

    /// The most channels that a board has on its way through the network.
    pub fn widest(&self) -> usize {
        let policy = match &self.policy {
            Policy::Dense(planes, _) => planes.outputs,
            Policy::Planes(planes, output, _) => planes.outputs.max(output.outputs),
        };
        self.input.inputs.max(self.input.outputs).max(policy).max(self.value.planes.outputs)
    }

    /// Raises the first thing that does not fit: sizes of arrays, channels from layer to layer, kernels, numbers that are not finite.
    pub fn check(&self) -> Result<(), NetworkError> {
        range("rows", self.rows)?;
        range("columns", self.columns)?;
        let squares = self.rows.saturating_mul(self.columns);
        let filters = self.input.outputs;
        range("squares", squares)?;
        // Everything below computes on pointers and trusts these sizes, which come from a file: nothing that passes
        // here may read beyond an array.
        self.input.check("input", self.input.inputs, &[3])?;
        for (number, block) in self.blocks.iter().enumerate() {
            block.first.check(&format!("block {number}, first"), filters, &[3])?;
            same(&format!("block {number}: outputs"), block.first.outputs, filters)?;
            if let Some(pooling) = &block.pooling {
                let pooled = pooling.inputs / 2;
                range(&format!("block {number}: pooled channels"), pooled)?;
                pooling.check(&format!("block {number}, pooling"), 2 * pooled)?;
                same(&format!("block {number}: pooled and other channels"), pooled + pooling.outputs, filters)?;
            }
            block.second.check(&format!("block {number}, second"), filters, &[3])?;
            same(&format!("block {number}: outputs"), block.second.outputs, filters)?;
            if let Some((reduce, expand)) = &block.excitation {
                reduce.check(&format!("block {number}, excitation"), filters)?;
                expand.check(&format!("block {number}, excitation"), reduce.outputs)?;
                same(&format!("block {number}: outputs of the excitation"), expand.outputs, 2 * filters)?;
            }
        }
        match &self.policy {
            Policy::Dense(planes, output) => {
                planes.check("policy planes", filters, &[1, 3])?;
                output.check("policy", planes.outputs.saturating_mul(squares))?;
            }
            Policy::Planes(planes, output, actions) => {
                planes.check("policy planes", filters, &[3])?;
                output.check("policy", planes.outputs, &[3])?;
                range("policy: actions", actions.len())?;
                if let Some(index) =
                    actions.iter().find(|index| **index as usize >= output.outputs.saturating_mul(squares))
                {
                    let most = output.outputs.saturating_mul(squares) - 1;
                    return Err(NetworkError(format!(
                        "policy: an action is number {index} of its planes, at most {most}"
                    )));
                }
            }
        }
        let value = &self.value;
        value.planes.check("value planes", filters, &[1, 3])?;
        // Saturated where a machine of 32 bits cannot count so far: what does not fit is then refused as another size,
        // and not wrapped around to one that fits.
        value.hidden.check("value, hidden", value.planes.outputs.saturating_mul(value.numbers(squares)))?;
        value.output.check("value", value.hidden.outputs)?;
        match value.output.outputs {
            1 | 3 => Ok(()),
            other => Err(NetworkError(format!("value: outputs must be 3 (win, draw, loss) or 1, got {other}"))),
        }
    }
}

impl Convolution {
    fn check(&self, name: &str, inputs: usize, kernels: &[usize]) -> Result<(), NetworkError> {
        range(&format!("{name}: inputs"), self.inputs)?;
        range(&format!("{name}: outputs"), self.outputs)?;
        same(&format!("{name}: inputs"), self.inputs, inputs)?;
        if !kernels.contains(&self.kernel) {
            return Err(NetworkError(format!(
                "{name}: the kernel's side must be one of {kernels:?}, got {}",
                self.kernel
            )));
        }
        let weights = product(&[self.outputs, self.inputs, self.kernel, self.kernel]).unwrap_or(usize::MAX);
        same(&format!("{name}: weights"), self.weights.len(), weights)?;
        same(&format!("{name}: biases"), self.bias.len(), self.outputs)?;
        finite(name, &self.weights, &self.bias)
    }
}

impl Dense {
    fn check(&self, name: &str, inputs: usize) -> Result<(), NetworkError> {
        range(&format!("{name}: outputs"), self.outputs)?;
        same(&format!("{name}: inputs"), self.inputs, inputs)?;
        let weights = product(&[self.outputs, self.inputs]).unwrap_or(usize::MAX);
        same(&format!("{name}: weights"), self.weights.len(), weights)?;
        same(&format!("{name}: biases"), self.bias.len(), self.outputs)?;
        finite(name, &self.weights, &self.bias)
    }
}

/// A product of sizes; `None` where this machine cannot count so far.
pub fn product(sizes: &[usize]) -> Option<usize> {
    sizes.iter().try_fold(1_usize, |all, size| all.checked_mul(*size))
}

fn range(name: &str, size: usize) -> Result<(), NetworkError> {
    if (1..=MOST).contains(&size) {
        return Ok(());
    }
    Err(NetworkError(format!("{name} must be 1 to {MOST}, got {size}")))
}

fn same(name: &str, got: usize, expected: usize) -> Result<(), NetworkError> {
    if got == expected {
        return Ok(());
    }
    Err(NetworkError(format!("{name} must be {expected}, got {got}")))
}

fn finite(name: &str, weights: &[f32], bias: &[f32]) -> Result<(), NetworkError> {
    if weights.iter().chain(bias).all(|number| number.is_finite()) {
        return Ok(());
    }
    Err(NetworkError(format!("{name}: holds numbers that are not finite")))
}
