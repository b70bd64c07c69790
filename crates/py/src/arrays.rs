//! Numpy arrays from Python: one clear ValueError for whatever is not the array that is expected.

use numpy::ndarray::Dimension;
use numpy::{
    Element, Ix1, PyArray, PyArrayDescrMethods, PyArrayMethods, PyReadonlyArray, PyReadonlyArray1, PyReadwriteArray,
    PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::prelude::*;

use crate::errors::value_error;

/// Tree ids, int64 [T]; made of any sequence of whole numbers.
pub struct Ids<'py>(Whole<'py, i64>);

impl Ids<'_> {
    /// The ids.
    pub fn as_slice(&self) -> PyResult<&[i64]> {
        self.0.as_slice()
    }
}

impl<'py> FromPyObject<'_, 'py> for Ids<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Ids(Whole::read("ids", &object)?))
    }
}

/// Whole numbers, one dimension: an array of this type itself, or made of any sequence of whole numbers in its range.
pub enum Whole<'py, T: Element> {
    /// The caller's array.
    Given(PyReadonlyArray1<'py, T>),
    /// Numbers of another type.
    Made(Vec<T>),
}

impl<'py, T: Element + TryFrom<i64>> Whole<'py, T> {
    /// The argument `name`.
    pub fn read(name: &str, object: &Bound<'py, PyAny>) -> PyResult<Self> {
        // No copy where the type fits: ids of thousands of trees come here at every turn.
        if let Ok(array) = object.cast::<PyArray<T, Ix1>>()
            && array.is_c_contiguous()
        {
            return Ok(Whole::Given(array.try_readonly().map_err(|error| value_error(format!("{name}: {error}")))?));
        }
        Ok(Whole::Made(whole_numbers(name, object)?))
    }

    /// The numbers.
    pub fn as_slice(&self) -> PyResult<&[T]> {
        match self {
            Whole::Given(array) => Ok(array.as_slice()?),
            Whole::Made(numbers) => Ok(numbers),
        }
    }
}

fn whole_numbers<T: Element + TryFrom<i64>>(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    let dtype = T::get_dtype(object.py());
    let wrong = |got: String| value_error(format!("{name} must be whole numbers ({dtype}), one dimension; got {got}"));
    // By numpy, so that lists, ranges and arrays of any whole type are one case.
    let array = object.py().import("numpy")?.call_method1("asarray", (object,)).map_err(|_| wrong(describe(object)))?;
    let untyped = array.cast::<PyUntypedArray>()?;
    let kind = untyped.dtype().kind();
    // An empty list is an array of floats for numpy.
    if untyped.ndim() != 1 || (!matches!(kind, b'i' | b'u') && !untyped.is_empty()) {
        return Err(wrong(describe(array.as_any())));
    }
    // Wide first: a cast by numpy would wrap what is out of range, and name another tree.
    let wide: Vec<i64> = array.call_method0("tolist")?.extract().map_err(|_| wrong(describe(array.as_any())))?;
    let fitting = |number: i64| T::try_from(number).map_err(|_| wrong(format!("{number}")));
    wide.into_iter().map(fitting).collect()
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
        // The core reads slices. A copy in C order would do for reading; written into, it would leave the caller's
        // array as it was.
        Ok(array) if array.is_c_contiguous() => Ok(array),
        _ => {
            let expected = T::get_dtype(object.py());
            let dimensions = D::NDIM.map_or("any number of".to_string(), |n| n.to_string());
            let got = describe(object);
            Err(value_error(format!(
                "{name} must be a numpy array of {expected} in C order, dimensions: {dimensions}; got {got}"
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
