//! Numpy arrays from Python: one clear ValueError for whatever is not the array that is wanted.

use numpy::ndarray::Dimension;
use numpy::{
    Element, Ix1, PyArray, PyArrayMethods, PyReadonlyArray, PyReadonlyArray1, PyReadwriteArray, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;

use crate::errors::value_error;

/// Tree ids, int64 [T].
pub struct Ids<'py>(PyReadonlyArray1<'py, i64>);

impl Ids<'_> {
    /// The ids.
    pub fn as_slice(&self) -> PyResult<&[i64]> {
        Ok(self.0.as_slice()?)
    }
}

impl<'py> FromPyObject<'_, 'py> for Ids<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Ids(read::<i64, Ix1>("ids", &object)?))
    }
}

/// The array argument `name`, to be read: this type and number of dimensions, in C order.
pub fn read<'py, T: Element, D: Dimension>(
    name: &str,
    object: &Bound<'py, PyAny>,
) -> PyResult<PyReadonlyArray<'py, T, D>> {
    let array = fitting::<T, D>(name, object)?;
    array.try_readonly().map_err(|error| value_error(format!("{name}: {error}")))
}

/// The array argument `name`, to be written into.
pub fn write<'py, T: Element, D: Dimension>(
    name: &str,
    object: &Bound<'py, PyAny>,
) -> PyResult<PyReadwriteArray<'py, T, D>> {
    let array = fitting::<T, D>(name, object)?;
    array.try_readwrite().map_err(|error| value_error(format!("{name}: {error}")))
}

fn fitting<'a, 'py, T: Element, D: Dimension>(
    name: &str,
    object: &'a Bound<'py, PyAny>,
) -> PyResult<&'a Bound<'py, PyArray<T, D>>> {
    match object.cast::<PyArray<T, D>>() {
        Ok(array) if array.is_c_contiguous() => Ok(array),
        _ => {
            let wanted = T::get_dtype(object.py());
            let dimensions = D::NDIM.map_or("any number of".to_string(), |n| n.to_string());
            let got = describe(object);
            Err(value_error(format!(
                "{name} must be a numpy array of {wanted} in C order, dimensions: {dimensions}; got {got}"
            )))
        }
    }
}

/// What an argument is, in a few words.
fn describe(object: &Bound<'_, PyAny>) -> String {
    let Ok(array) = object.cast::<PyUntypedArray>() else {
        return object.get_type().name().map_or("something else".into(), |name| name.to_string());
    };
    let order = if array.is_c_contiguous() { "" } else { ", not in C order" };
    format!("{} of shape {:?}{order}", array.dtype(), array.shape())
}
