//! Tables for Python's data frames.

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, RecordBatch, RecordBatchIterator};
use arrow_schema::DataType;
use arrow_schema::ffi::FFI_ArrowSchema;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList};

use crate::failure::Failure;

/// Columns of equal length with their units, handed over without a copy through Arrow's PyCapsule interface.
#[pyclass(frozen, module = "cwnd._native")]
pub(crate) struct Table {
    batch: RecordBatch,
}

impl Table {
    /// The table without the column of this name.
    pub(crate) fn without(mut self, name: &str) -> Self {
        if let Ok(index) = self.batch.schema().index_of(name) {
            self.batch.remove_column(index);
        }
        self
    }

    /// A table that was put together.
    pub(crate) fn of(table: cwnd_parquet::Table) -> Result<Self, Failure> {
        table.batch().map(|batch| Self { batch }).map_err(|error| Failure::Unexpected(error.to_string()))
    }
}

/// A column as it travels: name, unit, description, its type as [`Table::column`] names it, and its values.
type Travelling<'py> = (String, String, String, String, Bound<'py, PyAny>);

#[pymethods]
impl Table {
    /// A table of the columns that [`Table::fields`] and [`Table::column`] gave.
    #[new]
    fn new(columns: Vec<Travelling<'_>>) -> PyResult<Self> {
        let mut table = cwnd_parquet::Table::default();
        for (name, unit, description, kind, values) in &columns {
            match kind.as_str() {
                "<u8" => {
                    let numbers = numbers(values)?;
                    table.whole(name, unit, description, numbers.into_iter().map(u64::from_le_bytes));
                }
                "<f8" => {
                    let numbers = numbers(values)?;
                    table.real(name, unit, description, numbers.into_iter().map(f64::from_le_bytes));
                }
                "list" => {
                    let lists: Vec<Vec<f64>> = values.extract()?;
                    table.lists(name, unit, description, lists.iter().map(Vec::as_slice));
                }
                _ => {
                    let words: Vec<Option<String>> = values.extract()?;
                    if words.iter().all(Option::is_some) {
                        table.text(name, description, words.iter().flatten().map(String::as_str));
                    } else {
                        table.optional_text(name, description, words.iter().map(Option::as_deref));
                    }
                }
            }
        }
        Ok(Self::of(table)?)
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// Name, unit and description of every column.
    fn fields(&self) -> Vec<(String, String, String)> {
        let schema = self.batch.schema();
        let said = |field: &arrow_schema::Field, key: &str| field.metadata().get(key).cloned().unwrap_or_default();
        let field = |field: &std::sync::Arc<arrow_schema::Field>| {
            (field.name().clone(), said(field, "unit"), said(field, "description"))
        };
        schema.fields().iter().map(field).collect()
    }

    /// A column: its type in NumPy's notation with its bytes, `str` with a list, or `list` with a list of lists of numbers.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<(&'static str, Bound<'py, PyAny>)> {
        let column = self.batch.column_by_name(name).ok_or_else(|| PyKeyError::new_err(name.to_string()))?;
        match column.data_type() {
            DataType::UInt64 => {
                let values = column.as_primitive::<UInt64Type>().values();
                Ok(("<u8", bytes(py, values.iter().flat_map(|value| value.to_le_bytes()))))
            }
            DataType::Float64 => {
                let values = column.as_primitive::<Float64Type>().iter();
                let values = values.flat_map(|value| value.unwrap_or(f64::NAN).to_le_bytes());
                Ok(("<f8", bytes(py, values)))
            }
            DataType::List(_) => {
                let lists = column.as_list::<i32>().iter().map(|list| {
                    let numbers = list.map(|list| list.as_primitive::<Float64Type>().values().to_vec());
                    numbers.unwrap_or_default()
                });
                Ok(("list", PyList::new(py, lists.collect::<Vec<_>>())?.into_any()))
            }
            _ => Ok(("str", PyList::new(py, column.as_string::<i32>().iter())?.into_any())),
        }
    }

    /// Arrow's C stream of the table in one batch.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer that cannot cast ignores the requested schema, as the interface allows.
        drop(requested_schema);
        let reader = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
    }

    /// Arrow's C schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema().as_ref())
            .map_err(|error| Failure::Unexpected(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }
}

/// Numbers of eight bytes each.
fn numbers(values: &Bound<'_, PyAny>) -> PyResult<Vec<[u8; 8]>> {
    let bytes: &[u8] = values.extract()?;
    Ok(bytes.as_chunks().0.to_vec())
}

fn bytes(py: Python<'_>, values: impl Iterator<Item = u8>) -> Bound<'_, PyAny> {
    PyBytes::new(py, &values.collect::<Vec<u8>>()).into_any()
}
