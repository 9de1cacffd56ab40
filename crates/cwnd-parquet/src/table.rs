//! A table under construction, column by column.

use std::io::Write;
use std::sync::Arc;

use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, Float64Array, ListArray, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use crate::About;

/// Columns of equal length, each with its unit and its description.
#[derive(Debug, Default)]
pub struct Table {
    fields: Vec<Field>,
    columns: Vec<ArrayRef>,
}

impl Table {
    /// A column of whole numbers.
    pub fn whole(&mut self, name: &str, unit: &str, description: &str, values: impl Iterator<Item = u64>) {
        self.add(
            Field::new(name, DataType::UInt64, false),
            unit,
            description,
            Arc::new(UInt64Array::from_iter_values(values)),
        );
    }

    /// A column of numbers; NaN becomes null.
    pub fn real(&mut self, name: &str, unit: &str, description: &str, values: impl Iterator<Item = f64>) {
        let values: Float64Array = values.map(|value| (!value.is_nan()).then_some(value)).collect();
        self.add(Field::new(name, DataType::Float64, true), unit, description, Arc::new(values));
    }

    /// A column of text.
    pub fn text<'a>(&mut self, name: &str, description: &str, values: impl Iterator<Item = &'a str>) {
        let values = StringArray::from_iter_values(values);
        self.add(Field::new(name, DataType::Utf8, false), "", description, Arc::new(values));
    }

    /// A column of text; `None` becomes null.
    pub fn optional_text<'a>(&mut self, name: &str, description: &str, values: impl Iterator<Item = Option<&'a str>>) {
        let values: StringArray = values.collect();
        self.add(Field::new(name, DataType::Utf8, true), "", description, Arc::new(values));
    }

    /// A column of lists of numbers.
    pub fn lists<'a>(&mut self, name: &str, unit: &str, description: &str, values: impl Iterator<Item = &'a [f64]>) {
        let lists = values.map(|list| Some(list.iter().copied().map(Some).collect::<Vec<_>>()));
        let lists = ListArray::from_iter_primitive::<Float64Type, _, _>(lists);
        let data_type = lists.data_type().clone();
        self.add(Field::new(name, data_type, false), unit, description, Arc::new(lists));
    }

    /// The table in memory, with units and descriptions in the metadata of its fields.
    ///
    /// # Errors
    /// Two columns differ in length.
    pub fn batch(self) -> Result<RecordBatch, ArrowError> {
        RecordBatch::try_new(Arc::new(Schema::new(self.fields)), self.columns)
    }

    /// Writes the table as a Parquet file.
    ///
    /// # Errors
    /// `out` fails, or two columns differ in length.
    pub fn write(self, out: impl Write + Send, about: &About<'_>) -> Result<(), ParquetError> {
        let metadata =
            [("kind", "simulated"), ("title", about.title), ("program", about.program), ("command", about.command)];
        let metadata = metadata.map(|(key, value)| KeyValue::new(key.to_string(), value.to_string()));
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(about.program.to_string())
            .set_key_value_metadata(Some(metadata.to_vec()))
            .build();
        let batch = self.batch()?;
        let mut writer = ArrowWriter::try_new(out, batch.schema(), Some(properties))?;
        writer.write(&batch)?;
        writer.close().map(drop)
    }

    fn add(&mut self, field: Field, unit: &str, description: &str, values: ArrayRef) {
        self.fields.push(field.with_metadata([("unit", unit), ("description", description)]));
        self.columns.push(values);
    }
}
