//! Networks that the core computes: layers from Python, rows in and answers out.

use std::sync::Arc;

use hauteur_core::evaluator::{Batch, Evaluator, Halted, Reads};
use hauteur_evaluate::layers::{Activation, Block, Convolution, Dense, Layers, Policy, Value};
use hauteur_evaluate::{Instructions, Network, Precision, Rows};
use numpy::ndarray::Dimension;
use numpy::{Element, IntoPyArray, Ix1, Ix2, Ix4, PyArray2, PyArrayMethods, PyReadonlyArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rayon::prelude::*;

use crate::arrays::read;
use crate::errors::value_error;
use crate::game::PyGame;

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
    pub fn evaluate_here(&self, batch: Batch, rows: usize, logits: &mut [f32], wdl: &mut [f32]) -> Result<(), String> {
        let given = rows_of(batch)?;
        let done = self.network.evaluate_unless(given, rows, logits, wdl, &|| false);
        done.map(|_| ()).map_err(|error| error.to_string())
    }

    /// What it reads of a game: bit planes where it can take them, which are a twentieth of the bytes. A game that is written in Python
    /// (`is_foreign`) may have planes of several values, which have no such form.
    pub fn reads_of(&self, is_foreign: bool) -> Reads {
        if self.network.reads_packed() && !is_foreign { Reads::Packed } else { Reads::Planes }
    }
}

/// The rows of a batch, as networks read them.
fn rows_of(batch: Batch<'_>) -> Result<Rows<'_>, String> {
    match batch {
        Batch::Planes(features) => Ok(Rows::Planes(features)),
        Batch::Packed(masks, values) => Ok(Rows::Packed(masks, values)),
        Batch::Nothing | Batch::Positions(_) => Err("a network reads features".into()),
    }
}

/// A network for a game whose positions it reads as bit planes.
pub struct PackedNetwork(Arc<ThreadedNetwork>);

impl Evaluator for PackedNetwork {
    fn evaluate(&self, features: &[f32], rows: usize, logits: &mut [f32], wdl: &mut [f32]) -> Result<(), String> {
        self.0.evaluate(features, rows, logits, wdl)
    }

    fn batch_size(&self) -> usize {
        self.0.batch_size()
    }

    fn reads(&self) -> Reads {
        Reads::Packed
    }

    fn evaluate_unless(
        &self,
        batch: Batch,
        rows: usize,
        logits: &mut [f32],
        wdl: &mut [f32],
        halted: Halted,
    ) -> Result<bool, String> {
        self.0.evaluate_unless(batch, rows, logits, wdl, halted)
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
        let given = rows_of(batch)?;
        let threads = self.pool.as_ref().map_or(1, |pool| pool.current_num_threads().min(rows / LEAST_ROWS));
        let (Some(pool), 2..) = (&self.pool, threads) else {
            let done = self.network.evaluate_unless(given, rows, logits, wdl, halted);
            return done.map_err(|error| error.to_string());
        };
        // Equal parts, whole rows: a row has the same bits in any part, so the number of threads changes no answer.
        let part = rows.div_ceil(threads);
        let compute = |(number, (logits, wdl)): (usize, (&mut [f32], &mut [f32]))| {
            let count = part.min(rows - number * part);
            let given = self.network.part(given, number * part, count);
            self.network.evaluate_unless(given, count, logits, wdl, halted).map_err(|error| error.to_string())
        };
        let answers = logits.par_chunks_mut(part * self.network.actions()).zip(wdl.par_chunks_mut(part * 3));
        let work = answers.enumerate();
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

// Copied: weights are arrays of the user's, or of torch's memory, and the network lives longer.
fn numbers<T: Element + Copy, D: Dimension>(array: &PyReadonlyArray<'_, T, D>) -> PyResult<Vec<T>> {
    Ok(array.as_slice()?.to_vec())
}

impl Affine<'_> {
    fn convolution(&self) -> PyResult<Convolution> {
        let weights = read::<f32, Ix4>("weights", &self.weights)?;
        let bias = read::<f32, Ix1>("bias", &self.bias)?;
        let shape = weights.shape();
        if shape[2] != shape[3] {
            return Err(value_error(format!("weights of a convolution must be [out, in, k, k], got {shape:?}")));
        }
        let outputs = shape[0];
        let inputs = shape[1];
        let kernel = shape[2];
        Ok(Convolution { inputs, outputs, kernel, weights: numbers(&weights)?, bias: numbers(&bias)? })
    }

    fn dense(&self) -> PyResult<Dense> {
        let weights = read::<f32, Ix2>("weights", &self.weights)?;
        let bias = read::<f32, Ix1>("bias", &self.bias)?;
        let shape = weights.shape();
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
pub struct PyNetwork {
    /// What computes it.
    pub network: Arc<ThreadedNetwork>,
    packed: Arc<PackedNetwork>,
}

impl PyNetwork {
    /// The evaluator of a game: always the same one.
    pub fn evaluator(&self, game: &PyGame) -> Arc<dyn Evaluator> {
        // One object for each form, since the forest keeps its buffers for an evaluator by its address.
        match self.network.reads_of(game.0.foreign().is_some()) {
            Reads::Packed => self.packed.clone(),
            _ => self.network.clone(),
        }
    }
}

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
        // One thread is the caller's own, without the way to a pool and back.
        let build = || rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(value_error);
        let pool = if threads > 1 { Some(build()?) } else { None };
        let ready = Network::new(&layers, precision, instructions, None).map_err(value_error)?;
        let network = Arc::new(ThreadedNetwork { network: ready, pool, batch_size });
        let packed = Arc::new(PackedNetwork(network.clone()));
        Ok(PyNetwork { network, packed })
    }

    fn evaluate<'py>(&self, py: Python<'py>, features: &Bound<'py, PyAny>) -> PyResult<Answers<'py>> {
        let features = read::<f32, Ix4>("features", features)?;
        let rows = features.shape()[0];
        let network = &self.network.network;
        let floats = features.as_slice()?;
        if floats.len() != rows * network.row_length() {
            let length = network.row_length();
            let got = features.shape();
            return Err(value_error(format!("features must be rows of {length} numbers, got {got:?}")));
        }
        let mut logits = vec![0.0; rows * network.actions()];
        let mut wdl = vec![0.0; rows * 3];
        py.detach(|| self.network.evaluate(floats, rows, &mut logits, &mut wdl)).map_err(value_error)?;
        let shaped = |numbers: Vec<f32>, columns| numbers.into_pyarray(py).reshape([rows, columns]);
        Ok((shaped(logits, network.actions())?, shaped(wdl, 3)?))
    }

    /// The instructions that it computes with.
    #[getter]
    fn instructions(&self) -> &'static str {
        self.network.network.instructions().name()
    }

    /// What the products of its tower are taken of.
    #[getter]
    fn precision(&self) -> &'static str {
        self.network.network.precision().name()
    }

    /// Bytes of its weights in memory.
    #[getter]
    fn bytes(&self) -> usize {
        self.network.network.bytes()
    }

    /// Why AMX is not used on this machine; None where it is.
    #[staticmethod]
    fn why_not_amx() -> Option<String> {
        Instructions::why_not_amx()
    }

    /// Instructions that this processor has, the best first, each with the precisions that it computes in.
    #[staticmethod]
    fn available() -> Vec<(&'static str, Vec<&'static str>)> {
        let precisions = |one: Instructions| {
            let all = Precision::ALL.into_iter();
            all.filter(move |precision| one.computes(*precision)).map(Precision::name)
        };
        let all = Instructions::ALL.into_iter().filter(|one| one.available());
        all.map(|one| (one.name(), precisions(one).collect())).collect()
    }
}
