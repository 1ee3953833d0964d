//! Elicitation: asking the user, through a form or at a URL.

mod check;
mod choice;
mod content;
mod format;
mod primitive;
mod request;
mod schema;

pub use check::{AnswerError, Choices, Rule};
pub use choice::{
    EnumOption, LegacyTitledEnumSchema, TitledItems, TitledMultiSelectEnumSchema,
    TitledSingleSelectEnumSchema, UntitledItems, UntitledMultiSelectEnumSchema,
    UntitledSingleSelectEnumSchema,
};
pub use content::{ElicitAction, ElicitContent, ElicitResult, ElicitValue};
pub use primitive::{
    BooleanSchema, NumberSchema, NumberType, PrimitiveSchema, StringFormat, StringSchema,
};
pub use request::{ElicitRequestFormParams, ElicitRequestParams, ElicitRequestUrlParams, FormMode};
pub use schema::{FormSchema, Properties};
