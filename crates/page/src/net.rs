//! Nets as the package writes them for the page (`tools/page_nets.py`), and the network that the evaluator makes of one.
//!
//! A file is the length of its header (32 bits, little-endian), the header as JSON, and the numbers. A layer's weights are stored in the
//! type that the network's own file has; each is multiplied by the scale of its output, which is a folded batch norm, in float64. So all
//! numbers are, bit for bit, those that Python hands to the evaluator.

use hauteur_evaluate::layers::{Activation, Block, Convolution, Dense, Layers, Policy, Value};
use serde::Deserialize;

const FORMAT: &str = "hauteur page net 1";
/// Bytes of a header, at most.
const MAX_HEADER: usize = 1 << 20;

/// A layer in the header: its shape, and where its numbers begin.
#[derive(Deserialize)]
struct StoredLayer {
    shape: Vec<usize>,
    weights: StoredWeights,
    /// Where the scales (float64, one an output) begin.
    scale: Option<usize>,
    /// Where the biases (float32, one an output) begin.
    bias: usize,
}

#[derive(Deserialize)]
struct StoredWeights {
    at: usize,
    kind: Kind,
    /// Ends of the range of `linear16`.
    #[serde(default)]
    range: [f32; 2],
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Float32,
    Float16,
    /// lc0's: the ends of a range, and 65535 steps between them.
    Linear16,
}

#[derive(Deserialize)]
struct StoredBlock {
    first: StoredLayer,
    second: StoredLayer,
    excitation: Option<[StoredLayer; 2]>,
    pooling: Option<StoredLayer>,
}

#[derive(Deserialize)]
struct Header {
    format: String,
    board: [usize; 2],
    activation: String,
    input: StoredLayer,
    blocks: Vec<StoredBlock>,
    policy: [StoredLayer; 2],
    /// The index of each action among the planes of the last convolution; absent: the last layer is dense.
    actions: Option<Vec<u32>>,
    value: [StoredLayer; 3],
    pooled: bool,
}

/// The layers of a net's bytes; an error, in one line, for what is no net.
pub fn read(bytes: &[u8]) -> Result<Layers, String> {
    let cut = || "a net's file ends too early".to_string();
    let length = bytes.first_chunk::<4>().map(|four| u32::from_le_bytes(*four) as usize).ok_or_else(cut)?;
    // Before anything is parsed: the number is of a file from outside, and four wrong bytes mean gigabytes.
    if length > MAX_HEADER {
        return Err(format!("a net's header has {length} bytes, allowed are {MAX_HEADER}"));
    }
    let text = bytes.get(4..4 + length).ok_or_else(cut)?;
    let header: Header = serde_json::from_slice(text).map_err(|error| format!("a net's header: {error}"))?;
    // A page in the browser's cache may meet nets of a later one.
    if header.format != FORMAT {
        return Err(format!("a net's format is {:?}, this page reads {FORMAT:?}", header.format));
    }
    let numbers = Numbers(&bytes[4 + length..]);
    numbers.layers(header)
}

/// The numbers of a file.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn layers(&self, header: Header) -> Result<Layers, String> {
        let [planes, last] = &header.policy;
        let [value, hidden, output] = &header.value;
        Ok(Layers {
            rows: header.board[0],
            columns: header.board[1],
            activation: match header.activation.as_str() {
                "relu" => Activation::Relu,
                "mish" => Activation::Mish,
                other => return Err(format!("activation must be relu or mish, got {other:?}")),
            },
            input: self.convolution(&header.input)?,
            blocks: header.blocks.iter().map(|block| self.block(block)).collect::<Result<_, _>>()?,
            policy: match header.actions {
                Some(actions) => Policy::Planes(self.convolution(planes)?, self.convolution(last)?, actions),
                None => Policy::Dense(self.convolution(planes)?, self.dense(last)?),
            },
            value: Value {
                planes: self.convolution(value)?,
                hidden: self.dense(hidden)?,
                pooled: header.pooled,
                output: self.dense(output)?,
            },
        })
    }

    fn block(&self, block: &StoredBlock) -> Result<Block, String> {
        let excitation = block.excitation.as_ref();
        let both = excitation.map(|[reduce, expand]| Ok::<_, String>((self.dense(reduce)?, self.dense(expand)?)));
        Ok(Block {
            first: self.convolution(&block.first)?,
            second: self.convolution(&block.second)?,
            excitation: both.transpose()?,
            pooling: block.pooling.as_ref().map(|layer| self.dense(layer)).transpose()?,
        })
    }

    fn convolution(&self, layer: &StoredLayer) -> Result<Convolution, String> {
        let [outputs, inputs, kernel, width] = layer.shape[..] else {
            return Err(format!("weights of a convolution must be [out, in, k, k], got {:?}", layer.shape));
        };
        if kernel != width {
            return Err(format!("weights of a convolution must be [out, in, k, k], got {:?}", layer.shape));
        }
        let weights = self.weights(layer, outputs)?;
        let bias = self.floats(layer.bias, outputs)?;
        Ok(Convolution { inputs, outputs, kernel, weights, bias })
    }

    fn dense(&self, layer: &StoredLayer) -> Result<Dense, String> {
        let [outputs, inputs] = layer.shape[..] else {
            return Err(format!("weights of a dense layer must be [out, in], got {:?}", layer.shape));
        };
        let weights = self.weights(layer, outputs)?;
        let bias = self.floats(layer.bias, outputs)?;
        Ok(Dense { inputs, outputs, weights, bias })
    }

    /// The weights of a layer, scaled.
    fn weights(&self, layer: &StoredLayer, outputs: usize) -> Result<Vec<f32>, String> {
        // The product of sizes from a file may be larger than any number; a layer has at most as many numbers as
        // the file bytes.
        let count = layer.shape.iter().try_fold(1usize, |product, size| product.checked_mul(*size));
        let count = count.filter(|count| *count <= self.0.len()).ok_or("a net's layer is larger than its file")?;
        let mut weights = self.stored(&layer.weights, count)?;
        if let Some(at) = layer.scale {
            let scales = self.take::<8>(at, outputs)?.map(f64::from_le_bytes);
            for (row, scale) in weights.chunks_mut(count / outputs.max(1)).zip(scales) {
                // In float64 and rounded once, as Python folds the norm: weights have the wheel's bits.
                row.iter_mut().for_each(|weight| *weight = (f64::from(*weight) * scale) as f32);
            }
        }
        Ok(weights)
    }

    fn stored(&self, weights: &StoredWeights, count: usize) -> Result<Vec<f32>, String> {
        match weights.kind {
            Kind::Float32 => self.floats(weights.at, count),
            Kind::Float16 => Ok(self.take::<2>(weights.at, count)?.map(u16::from_le_bytes).map(from_half).collect()),
            Kind::Linear16 => {
                let [low, high] = weights.range;
                // lc0's own formula, in float32 throughout: another order of these products has other last bits.
                let value = |step: u16| {
                    let t = f32::from(step) / 65535.0;
                    low * (1.0 - t) + high * t
                };
                Ok(self.take::<2>(weights.at, count)?.map(u16::from_le_bytes).map(value).collect())
            }
        }
    }

    fn floats(&self, at: usize, count: usize) -> Result<Vec<f32>, String> {
        Ok(self.take::<4>(at, count)?.map(f32::from_le_bytes).collect())
    }

    /// This many numbers of `SIZE` bytes.
    fn take<const SIZE: usize>(&self, at: usize, count: usize) -> Result<impl Iterator<Item = [u8; SIZE]>, String> {
        let end = count.checked_mul(SIZE).and_then(|bytes| bytes.checked_add(at));
        let part = end.and_then(|end| self.0.get(at..end)).ok_or("a net's file ends too early")?;
        Ok(part.chunks_exact(SIZE).map(|chunk| chunk.try_into().expect("chunks of this size")))
    }
}

/// The number that 16 bits mean.
fn from_half(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let exponent = u32::from(bits >> 10) & 31;
    let fraction = u32::from(bits) & 1023;
    match exponent {
        // Halves below 2^-14 have no leading one; 2^24 is the step of their fractions, and the division is exact.
        0 => f32::from_bits(sign | (fraction as f32 / 16_777_216.0).to_bits()),
        // Infinity and NaN keep their bits, and `Network::new` refuses them, as it does in the wheel.
        31 => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_read_exactly() {
        for (bits, value) in
            [(0x3c00, 1.0), (0xc000, -2.0), (0x0001, 2f32.powi(-24)), (0x7bff, 65504.0), (0x3555, 0.333_251_95)]
        {
            assert_eq!(from_half(bits), value);
        }
    }

    #[test]
    fn what_is_no_net_is_an_error() {
        assert!(read(&[]).is_err() && read(&[255; 64]).is_err());
        let header = br#"{"format": "other"}"#;
        let bytes = [&(header.len() as u32).to_le_bytes()[..], header].concat();
        assert!(read(&bytes).is_err());
    }
}
