//! Weights as tiles: pairs of neighbouring inputs, 16 outputs wide, filled up with zeros.

use super::grid::ROW_CHANNELS;
use super::products::{DENSE_PANELS, TILE_HALVES};
use crate::lanes::bfloat16;
use crate::layers;
use hauteur_machine::Buffer;

/// Outputs of a tile of weights.
pub const PANEL: usize = 16;

/// Outputs that a product of a dense layer computes.
pub const DENSE_WIDTH: usize = PANEL * DENSE_PANELS;

/// A convolution of one or nine taps.
pub struct Convolution {
    /// Panels of 16 outputs.
    pub panels: usize,
    /// Blocks of 32 inputs.
    pub inputs: usize,
    /// Taps of the kernel.
    pub taps: usize,
    /// [panel][block of inputs][tap], a tile each.
    weights: Buffer<u16>,
    /// One number an output.
    bias: Buffer<f32>,
}

impl Convolution {
    /// Packs a layer.
    pub fn new(layer: &layers::Convolution) -> Self {
        let panels = layer.outputs.div_ceil(PANEL);
        let inputs = layer.inputs.div_ceil(ROW_CHANNELS);
        let taps = layer.kernel * layer.kernel;
        let mut weights = Buffer::zeros(panels * inputs * taps * TILE_HALVES);
        let packed = weights.as_mut_slice();
        for output in 0..layer.outputs {
            for input in 0..layer.inputs {
                for tap in 0..taps {
                    // The order in which a kernel reads: its pointer to weights only goes forwards, and the next tiles
                    // can be fetched ahead.
                    let tile = (output / PANEL * inputs + input / ROW_CHANNELS) * taps + tap;
                    let weight = layer.weights[(output * layer.inputs + input) * taps + tap];
                    packed[tile * TILE_HALVES + place(input, output)] = bfloat16(weight);
                }
            }
        }
        // Outputs beyond the layer's get biases of zero too: their channels stay zero, and so does what the next layer
        // makes of them.
        Convolution { panels, inputs, taps, weights, bias: Buffer::filled(&layer.bias, panels * PANEL) }
    }

    /// The weights of a panel.
    pub fn panel(&self, panel: usize) -> *const u16 {
        self.weights.as_slice()[panel * self.inputs * self.taps * TILE_HALVES..].as_ptr()
    }

    /// The biases of a panel.
    pub fn bias(&self, panel: usize) -> *const f32 {
        self.bias.as_slice()[panel * PANEL..].as_ptr()
    }

    /// Bytes of the weights.
    pub fn bytes(&self) -> usize {
        self.weights.bytes()
    }
}

/// A dense layer over planes.
pub struct Dense {
    /// Outputs, a multiple of 64; those that the layer does not have are zero.
    pub outputs: usize,
    /// Blocks of 32 inputs.
    pub inputs: usize,
    /// [four panels][block of inputs][panel], a tile each.
    weights: Buffer<u16>,
    /// One number an output.
    bias: Buffer<f32>,
}

impl Dense {
    /// Packs a layer over `planes` planes, which lie square by square here, each with `stride` channels. What is pooled of the planes
    /// lies after the squares as further ones.
    pub fn over_planes(layer: &layers::Dense, planes: usize, stride: usize) -> Self {
        let squares = layer.inputs / planes;
        let outputs = layer.outputs.next_multiple_of(DENSE_WIDTH);
        let inputs = (squares * stride).div_ceil(ROW_CHANNELS);
        let mut weights = Buffer::zeros(outputs / DENSE_WIDTH * inputs * DENSE_PANELS * TILE_HALVES);
        let packed = weights.as_mut_slice();
        for output in 0..layer.outputs {
            for plane in 0..planes {
                for square in 0..squares {
                    // Here channels lie side by side on a square; the layer was learned on planes one after the other.
                    let input = square * stride + plane;
                    let block = output / DENSE_WIDTH * inputs + input / ROW_CHANNELS;
                    let tile = block * DENSE_PANELS + output % DENSE_WIDTH / PANEL;
                    let weight = layer.weights[output * layer.inputs + plane * squares + square];
                    packed[tile * TILE_HALVES + place(input, output)] = bfloat16(weight);
                }
            }
        }
        Dense { outputs, inputs, weights, bias: Buffer::filled(&layer.bias, outputs) }
    }

    /// Products of `DENSE_PANELS` panels that make the layer.
    pub fn products(&self) -> usize {
        self.outputs / DENSE_WIDTH
    }

    /// The weights of a product.
    pub fn weights(&self, product: usize) -> *const u16 {
        self.weights.as_slice()[product * self.inputs * DENSE_PANELS * TILE_HALVES..].as_ptr()
    }

    /// The biases of a product.
    pub fn bias(&self, product: usize) -> &[f32] {
        &self.bias.as_slice()[product * DENSE_WIDTH..][..DENSE_WIDTH]
    }

    /// Bytes of the weights.
    pub fn bytes(&self) -> usize {
        self.weights.bytes()
    }
}

/// Place of a weight in its tile: [pair of inputs][output][2].
fn place(input: usize, output: usize) -> usize {
    // TDPBF16PS takes pairs of inputs: a row of a tile of weights is one pair for all outputs, and not one input.
    let pair = input % ROW_CHANNELS / 2;
    let half = input % 2;
    (pair * PANEL + output % PANEL) * 2 + half
}
