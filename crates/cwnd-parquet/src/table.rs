//! A table under construction, column by column.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{RecordBatch, StringArray, UInt64Array};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, Field, Schema};
use data_encoding::BASE64;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::About;
use crate::column::Column;

/// Rows of a row group: what readers take in at once.
const ROWS: usize = 1 << 20;

/// Columns of equal length, each with its unit and its description.
#[derive(Debug, Default)]
pub struct Table {
    fields: Vec<Field>,
    columns: Vec<Column>,
}

impl Table {
    /// A column of whole numbers.
    pub fn whole(&mut self, name: &str, unit: &str, description: &str, values: impl Iterator<Item = u64>) {
        self.add(name, false, unit, description, Column::Whole(UInt64Array::from_iter_values(values)));
    }

    /// A column of numbers; NaN becomes null.
    pub fn real(&mut self, name: &str, unit: &str, description: &str, values: impl Iterator<Item = f64>) {
        let values = values.map(|value| (!value.is_nan()).then_some(value));
        self.add(name, true, unit, description, Column::Real(values.collect()));
    }

    /// A column of text.
    pub fn text<'a>(&mut self, name: &str, description: &str, values: impl Iterator<Item = &'a str>) {
        self.add(name, false, "", description, Column::Text(StringArray::from_iter_values(values)));
    }

    /// A column of text; `None` becomes null.
    pub fn optional_text<'a>(&mut self, name: &str, description: &str, values: impl Iterator<Item = Option<&'a str>>) {
        self.add(name, true, "", description, Column::Text(values.collect()));
    }

    /// A column of lists of numbers.
    pub fn lists<'a>(&mut self, name: &str, unit: &str, description: &str, values: impl Iterator<Item = &'a [f64]>) {
        self.add(name, false, unit, description, Column::lists(values));
    }

    /// The table in memory, with units and descriptions in the metadata of its fields.
    ///
    /// # Errors
    /// Two columns differ in length.
    pub fn batch(self) -> Result<RecordBatch, ArrowError> {
        let columns = self.columns.into_iter().map(Column::into_array).collect();
        RecordBatch::try_new(Arc::new(Schema::new(self.fields)), columns)
    }

    /// Writes the table as a Parquet file.
    ///
    /// # Errors
    /// `out` fails, or two columns differ in length.
    pub fn write(self, out: impl Write + Send, about: &About<'_>) -> Result<(), ParquetError> {
        let rows = self.columns.first().map_or(0, Column::len);
        if let Some((field, column)) = self.fields.iter().zip(&self.columns).find(|(_, column)| column.len() != rows) {
            let name = field.name();
            return Err(ParquetError::General(format!(
                "column `{name}` has {} rows, the first has {rows}",
                column.len()
            )));
        }
        let schema = encoded(&Schema::new(self.fields.clone()))?;
        let metadata = [
            ("kind", "simulated"),
            ("title", about.title),
            ("program", about.program),
            ("command", about.command),
            ("ARROW:schema", &schema),
        ];
        let metadata = metadata.map(|(key, value)| KeyValue::new(key.to_string(), value.to_string()));
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(about.program.to_string())
            .set_key_value_metadata(Some(metadata.to_vec()))
            .build();
        let types = self.fields.iter().zip(&self.columns);
        let types = types.map(|(field, column)| column.parquet_type(field.name(), field.is_nullable()).map(Arc::new));
        let root = Type::group_type_builder("schema").with_fields(types.collect::<Result<_, _>>()?).build()?;
        let mut file = SerializedFileWriter::new(out, Arc::new(root), Arc::new(properties))?;
        for start in (0..rows).step_by(ROWS) {
            let mut group = file.next_row_group()?;
            for (field, column) in self.fields.iter().zip(&self.columns) {
                let Some(mut writer) = group.next_column()? else { break };
                column.slice(start, ROWS.min(rows - start)).write(field.is_nullable(), &mut writer)?;
                writer.close()?;
            }
            group.close()?;
        }
        file.close().map(drop)
    }

    fn add(&mut self, name: &str, nullable: bool, unit: &str, description: &str, column: Column) {
        let field = Field::new(name, column.data_type().clone(), nullable);
        self.fields.push(field.with_metadata([("unit", unit), ("description", description)]));
        self.columns.push(column);
    }
}

/// The schema as readers of Arrow expect it in a Parquet file: as a stream of Arrow begins, in base 64. With it, fields keep their metadata.
fn encoded(schema: &Schema) -> Result<String, ParquetError> {
    let stream = StreamWriter::try_new(Vec::new(), schema).map_err(|error| ParquetError::External(Box::new(error)))?;
    Ok(BASE64.encode(stream.get_ref()))
}
