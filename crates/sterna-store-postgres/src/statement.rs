//! SQL with its values.

use tokio_postgres::types::{ToSql, Type};

use crate::Schema;

/// A statement and its values. `@` stands for the schema of the store.
pub(crate) struct Statement<'a> {
    sql: &'static str,
    values: Vec<(Box<dyn ToSql + Send + Sync + 'a>, Type)>,
}

impl<'a> Statement<'a> {
    pub(crate) fn new(sql: &'static str) -> Self {
        Self {
            sql,
            values: Vec::new(),
        }
    }

    /// Adds the next value.
    pub(crate) fn with<V: Value + 'a>(mut self, value: V) -> Self {
        self.values.push((Box::new(value), V::TYPE));
        self
    }

    pub(crate) fn sql(&self, schema: &Schema) -> String {
        self.sql.replace('@', &format!("{}.", schema.as_str()))
    }

    pub(crate) fn values(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
        self.values
            .iter()
            .map(|(value, kind)| (&**value as &(dyn ToSql + Sync), kind.clone()))
            .collect()
    }
}

/// A value whose type in the database is known from its type here.
pub(crate) trait Value: ToSql + Send + Sync {
    const TYPE: Type;
}

impl Value for bool {
    const TYPE: Type = Type::BOOL;
}

impl Value for i64 {
    const TYPE: Type = Type::INT8;
}

impl Value for &str {
    const TYPE: Type = Type::TEXT;
}

impl Value for &[u8] {
    const TYPE: Type = Type::BYTEA;
}

impl<V: Value> Value for Option<V> {
    const TYPE: Type = V::TYPE;
}

impl Value for Vec<bool> {
    const TYPE: Type = Type::BOOL_ARRAY;
}

impl Value for Vec<i64> {
    const TYPE: Type = Type::INT8_ARRAY;
}

impl Value for Vec<Option<i64>> {
    const TYPE: Type = Type::INT8_ARRAY;
}

impl Value for Vec<&str> {
    const TYPE: Type = Type::TEXT_ARRAY;
}

impl Value for Vec<Option<&str>> {
    const TYPE: Type = Type::TEXT_ARRAY;
}

impl Value for Vec<&[u8]> {
    const TYPE: Type = Type::BYTEA_ARRAY;
}
