//! Networks that the core computes: layers from Python, rows in and answers out.

use std::sync::Arc;

use hauteur_core::evaluator::{Batch, Evaluator, Halted};
use hauteur_evaluate::layers::{Activation, Block, Convolution, Dense, Layers, Policy, Value};
use hauteur_evaluate::{Instructions, Network, Precision};
use numpy::ndarray::Dimension;
use numpy::{Element, IntoPyArray, Ix1, Ix2, Ix4, PyArray2, PyArrayMethods, PyReadonlyArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rayon::prelude::*;

use crate::arrays::read;
use crate::errors::value_error;

/// Fewest rows that a thread gets: with fewer it costs more to wake it than it brings.
const LEAST_ROWS: usize = 2;

/// A network with the threads that share its rows.
pub struct ThreadedNetwork {
    network: Network,
    pool: Option<rayon::ThreadPool>,
    batch_size: usize,
}

impl ThreadedNetwork {
    /// Threads that share its rows.
    pub fn threads(&self) -> usize {
        self.pool.as_ref().map_or(1, rayon::ThreadPool::current_num_threads)
    }

    /// Computes rows in the thread that calls, whatever threads it has.
    pub fn evaluate_here(
        &self,
        features: &[f32],
        rows: usize,
        logits: &mut [f32],
        wdl: &mut [f32],
    ) -> Result<(), String> {
        self.network.evaluate(features, rows, logits, wdl).map_err(|error| error.to_string())
    }
}

impl Evaluator for ThreadedNetwork {
    fn evaluate(&self, features: &[f32], rows: usize, logits: &mut [f32], wdl: &mut [f32]) -> Result<(), String> {
        self.evaluate_unless(Batch::Planes(features), rows, logits, wdl, &|| false).map(|_| ())
    }

    fn batch_size(&self) -> usize {
        self.batch_size
    }

    fn evaluate_unless(
        &self,
        batch: Batch,
        rows: usize,
        logits: &mut [f32],
        wdl: &mut [f32],
        halted: Halted,
    ) -> Result<bool, String> {
        let Batch::Planes(features) = batch else { return Err("a network reads features".into()) };
        let compute = |(features, (logits, wdl)): (&[f32], (&mut [f32], &mut [f32]))| {
            let rows = features.len() / self.network.row_length();
            self.network.evaluate_unless(features, rows, logits, wdl, halted).map_err(|error| error.to_string())
        };
        let threads = self.pool.as_ref().map_or(1, |pool| pool.current_num_threads().min(rows / LEAST_ROWS));
        let (Some(pool), 2..) = (&self.pool, threads) else {
            return compute((features, (logits, wdl)));
        };
        let part = rows.div_ceil(threads);
        let answers = logits.par_chunks_mut(part * self.network.actions()).zip(wdl.par_chunks_mut(part * 3));
        let work = features.par_chunks(part * self.network.row_length()).zip(answers);
        pool.install(|| work.map(compute).try_reduce(|| true, |first, second| Ok(first && second)))
    }
}

/// Weights and biases of a layer.
struct Affine<'py> {
    weights: Bound<'py, PyAny>,
    bias: Bound<'py, PyAny>,
}

impl<'py> FromPyObject<'_, 'py> for Affine<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let (weights, bias) = object.extract()?;
        Ok(Affine { weights, bias })
    }
}

fn numbers<T: Element + Copy, D: Dimension>(array: &PyReadonlyArray<'_, T, D>) -> PyResult<Vec<T>> {
    Ok(array.as_slice()?.to_vec())
}

impl Affine<'_> {
    fn convolution(&self) -> PyResult<Convolution> {
        let weights = read::<f32, Ix4>("weights", &self.weights)?;
        let (bias, shape) = (read::<f32, Ix1>("bias", &self.bias)?, weights.shape());
        if shape[2] != shape[3] {
            return Err(value_error(format!("weights of a convolution must be [out, in, k, k], got {shape:?}")));
        }
        let (outputs, inputs, kernel) = (shape[0], shape[1], shape[2]);
        Ok(Convolution { inputs, outputs, kernel, weights: numbers(&weights)?, bias: numbers(&bias)? })
    }

    fn dense(&self) -> PyResult<Dense> {
        let weights = read::<f32, Ix2>("weights", &self.weights)?;
        let (bias, shape) = (read::<f32, Ix1>("bias", &self.bias)?, weights.shape());
        Ok(Dense { inputs: shape[1], outputs: shape[0], weights: numbers(&weights)?, bias: numbers(&bias)? })
    }
}

/// Reads one item of the layers.
fn item<'py, T>(layers: &Bound<'py, PyAny>, name: &str) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    layers.get_item(name)?.extract()
}

fn layers_of(layers: &Bound<'_, PyAny>) -> PyResult<Layers> {
    let (rows, columns): (usize, usize) = item(layers, "board")?;
    let activation: String = item(layers, "activation")?;
    let blocks: Vec<Bound<'_, PyTuple>> = item(layers, "blocks")?;
    let block = |block: &Bound<'_, PyTuple>| -> PyResult<Block> {
        type Parts<'py> = (Affine<'py>, Affine<'py>, Option<(Affine<'py>, Affine<'py>)>, Option<Affine<'py>>);
        let (first, second, excitation, pooling): Parts<'_> = block.extract()?;
        let excitation = excitation.map(|(reduce, expand)| Ok::<_, PyErr>((reduce.dense()?, expand.dense()?)));
        Ok(Block {
            first: first.convolution()?,
            second: second.convolution()?,
            excitation: excitation.transpose()?,
            pooling: pooling.map(|layer| layer.dense()).transpose()?,
        })
    };
    let (planes, output, actions): (Affine<'_>, Affine<'_>, Option<Vec<u32>>) = item(layers, "policy")?;
    let (value, hidden, outputs): (Affine<'_>, Affine<'_>, Affine<'_>) = item(layers, "value")?;
    Ok(Layers {
        rows,
        columns,
        activation: match activation.as_str() {
            "relu" => Activation::Relu,
            "mish" => Activation::Mish,
            other => return Err(value_error(format!("activation must be relu or mish, got {other:?}"))),
        },
        input: item::<Affine<'_>>(layers, "input")?.convolution()?,
        blocks: blocks.iter().map(block).collect::<PyResult<_>>()?,
        policy: match actions {
            Some(actions) => Policy::Planes(planes.convolution()?, output.convolution()?, actions),
            None => Policy::Dense(planes.convolution()?, output.dense()?),
        },
        value: Value {
            planes: value.convolution()?,
            hidden: hidden.dense()?,
            pooled: item(layers, "pooled")?,
            output: outputs.dense()?,
        },
    })
}

/// Policy logits and shares of win, draw and loss.
type Answers<'py> = (Bound<'py, PyArray2<f32>>, Bound<'py, PyArray2<f32>>);

/// A network that the core computes.
#[pyclass(frozen, name = "Network", module = "hauteur._core")]
pub struct PyNetwork(pub Arc<ThreadedNetwork>);

#[pymethods]
impl PyNetwork {
    #[new]
    #[pyo3(signature = (layers, precision="float32", threads=1, batch_size=64, instructions=None))]
    fn new(
        layers: &Bound<'_, PyAny>,
        precision: &str,
        threads: usize,
        batch_size: usize,
        instructions: Option<&str>,
    ) -> PyResult<Self> {
        if !(1..=1024).contains(&threads) {
            return Err(value_error(format!("threads must be 1 to 1024, got {threads}")));
        }
        let precision = precision.parse().map_err(value_error)?;
        let instructions = instructions.map(str::parse::<Instructions>).transpose().map_err(value_error)?;
        let layers = layers_of(layers)?;
        let build = || rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(value_error);
        let pool = if threads > 1 { Some(build()?) } else { None };
        let ready = Network::new(&layers, precision, instructions, None).map_err(value_error)?;
        Ok(PyNetwork(Arc::new(ThreadedNetwork { network: ready, pool, batch_size })))
    }

    fn evaluate<'py>(&self, py: Python<'py>, features: &Bound<'py, PyAny>) -> PyResult<Answers<'py>> {
        let features = read::<f32, Ix4>("features", features)?;
        let (rows, network) = (features.shape()[0], &self.0.network);
        let floats = features.as_slice()?;
        if floats.len() != rows * network.row_length() {
            let (length, got) = (network.row_length(), features.shape());
            return Err(value_error(format!("features must be rows of {length} numbers, got {got:?}")));
        }
        let (mut logits, mut wdl) = (vec![0.0; rows * network.actions()], vec![0.0; rows * 3]);
        py.detach(|| self.0.evaluate(floats, rows, &mut logits, &mut wdl)).map_err(value_error)?;
        let shaped = |numbers: Vec<f32>, columns| numbers.into_pyarray(py).reshape([rows, columns]);
        Ok((shaped(logits, network.actions())?, shaped(wdl, 3)?))
    }

    /// The instructions that it computes with.
    #[getter]
    fn instructions(&self) -> &'static str {
        self.0.network.instructions().name()
    }

    /// What the products of its tower are taken of.
    #[getter]
    fn precision(&self) -> &'static str {
        self.0.network.precision().name()
    }

    /// Bytes of its weights in memory.
    #[getter]
    fn bytes(&self) -> usize {
        self.0.network.bytes()
    }

    /// Instructions that this processor has, the best first, each with the precisions that it computes in.
    #[staticmethod]
    fn available() -> Vec<(&'static str, Vec<&'static str>)> {
        let precisions = |one: Instructions| {
            let all = Precision::ALL.into_iter();
            all.filter(move |p| *p == Precision::Float32 || one.has_bfloat16()).map(|p| p.name())
        };
        let all = Instructions::ALL.into_iter().filter(|one| one.available());
        all.map(|one| (one.name(), precisions(one).collect())).collect()
    }
}
