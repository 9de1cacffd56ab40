//! Columns of a table, one variant for each type of value.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, Float64Array, ListArray, StringArray, UInt64Array};
use arrow_schema::DataType;
use bytes::Bytes;
use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedColumnWriter;
use parquet::schema::types::Type;

/// Values of one type. Numbers and text may be null, lists and whole numbers are not.
#[derive(Clone, Debug)]
pub(crate) enum Column {
    Whole(UInt64Array),
    Real(Float64Array),
    Text(StringArray),
    Lists(ListArray),
}

impl Column {
    pub(crate) fn lists<'a>(values: impl Iterator<Item = &'a [f64]>) -> Self {
        let lists = values.map(|list| Some(list.iter().copied().map(Some).collect::<Vec<_>>()));
        Self::Lists(ListArray::from_iter_primitive::<Float64Type, _, _>(lists))
    }

    pub(crate) fn data_type(&self) -> &DataType {
        match self {
            Self::Whole(values) => values.data_type(),
            Self::Real(values) => values.data_type(),
            Self::Text(values) => values.data_type(),
            Self::Lists(values) => values.data_type(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Whole(values) => values.len(),
            Self::Real(values) => values.len(),
            Self::Text(values) => values.len(),
            Self::Lists(values) => values.len(),
        }
    }

    pub(crate) fn into_array(self) -> ArrayRef {
        match self {
            Self::Whole(values) => Arc::new(values),
            Self::Real(values) => Arc::new(values),
            Self::Text(values) => Arc::new(values),
            Self::Lists(values) => Arc::new(values),
        }
    }

    /// The rows from `start` on, `rows` of them, without a copy.
    pub(crate) fn slice(&self, start: usize, rows: usize) -> Self {
        match self {
            Self::Whole(values) => Self::Whole(values.slice(start, rows)),
            Self::Real(values) => Self::Real(values.slice(start, rows)),
            Self::Text(values) => Self::Text(values.slice(start, rows)),
            Self::Lists(values) => Self::Lists(values.slice(start, rows)),
        }
    }

    /// Its type in the schema of a Parquet file.
    pub(crate) fn parquet_type(&self, name: &str, nullable: bool) -> Result<Type, ParquetError> {
        let repetition = if nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let one = |physical| Type::primitive_type_builder(name, physical).with_repetition(repetition);
        match self {
            Self::Whole(_) => one(PhysicalType::INT64).with_logical_type(Some(LogicalType::integer(64, false))).build(),
            Self::Real(_) => one(PhysicalType::DOUBLE).build(),
            Self::Text(_) => one(PhysicalType::BYTE_ARRAY).with_logical_type(Some(LogicalType::String)).build(),
            Self::Lists(_) => {
                let number = Type::primitive_type_builder("item", PhysicalType::DOUBLE)
                    .with_repetition(Repetition::OPTIONAL)
                    .build()?;
                let numbers = Type::group_type_builder("list")
                    .with_repetition(Repetition::REPEATED)
                    .with_fields(vec![Arc::new(number)])
                    .build()?;
                Type::group_type_builder(name)
                    .with_repetition(repetition)
                    .with_logical_type(Some(LogicalType::List))
                    .with_fields(vec![Arc::new(numbers)])
                    .build()
            }
        }
    }

    /// Writes its values to a column of the type that [`Self::parquet_type`] gave.
    pub(crate) fn write(&self, nullable: bool, out: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        match self {
            Self::Whole(values) => {
                // Parquet stores an unsigned number in the signed one of the same bits.
                let bits: Vec<i64> = values.values().iter().map(|value| value.cast_signed()).collect();
                out.typed::<Int64Type>().write_batch(&bits, None, None)?;
            }
            Self::Real(values) => {
                let present: Vec<f64> = values.iter().flatten().collect();
                let definitions = definitions(values, nullable);
                out.typed::<DoubleType>().write_batch(&present, definitions.as_deref(), None)?;
            }
            Self::Text(values) => {
                let all = Bytes::copy_from_slice(values.values());
                let ends = values.offsets().iter().map(|end| usize::try_from(*end).expect("offsets are not negative"));
                let ranges = ends.clone().zip(ends.skip(1)).enumerate().filter(|(row, _)| values.is_valid(*row));
                let present: Vec<ByteArray> = ranges.map(|(_, (from, to))| all.slice(from..to).into()).collect();
                let definitions = definitions(values, nullable);
                out.typed::<ByteArrayType>().write_batch(&present, definitions.as_deref(), None)?;
            }
            Self::Lists(lists) => {
                let (mut numbers, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
                for list in lists.iter().flatten() {
                    let list: &[f64] = list.as_primitive::<Float64Type>().values();
                    numbers.extend_from_slice(list);
                    // An empty list is one entry below the level of the list's entries.
                    definitions.extend(std::iter::repeat_n(if list.is_empty() { 0 } else { 2 }, list.len().max(1)));
                    repetitions.extend((0..list.len().max(1)).map(|index| i16::from(index > 0)));
                }
                out.typed::<DoubleType>().write_batch(&numbers, Some(&definitions), Some(&repetitions))?;
            }
        }
        Ok(())
    }
}

/// Which values are there, or `None` where all have to be.
fn definitions(values: &impl Array, nullable: bool) -> Option<Vec<i16>> {
    nullable.then(|| (0..values.len()).map(|row| i16::from(values.is_valid(row))).collect())
}
