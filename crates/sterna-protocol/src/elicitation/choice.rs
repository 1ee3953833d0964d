//! Schemas of fields with a list of choices (`EnumSchema`).

use crate::json::JsonObject;

/// Single choice among strings.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UntitledSingleSelectEnumSchema {
    /// The choices.
    pub values: Vec<String>,
    /// Display name of the field.
    pub title: Option<String>,
    /// Description of the value.
    pub description: Option<String>,
    /// Choice that is selected at first.
    pub default: Option<String>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl UntitledSingleSelectEnumSchema {
    /// Creates a single choice among `values`.
    pub fn new(values: Vec<String>) -> Self {
        Self {
            values,
            title: None,
            description: None,
            default: None,
            extra: JsonObject::new(),
        }
    }
}

members!(UntitledSingleSelectEnumSchema {
    tag: "type" = "string";
    required: values = "enum";
    optional: title = "title", description = "description", default = "default";
    rest: extra
});

/// Single choice among strings with titles.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TitledSingleSelectEnumSchema {
    /// The choices.
    pub one_of: Vec<EnumOption>,
    /// Display name of the field.
    pub title: Option<String>,
    /// Description of the value.
    pub description: Option<String>,
    /// Choice that is selected at first.
    pub default: Option<String>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl TitledSingleSelectEnumSchema {
    /// Creates a single choice among `one_of`.
    pub fn new(one_of: Vec<EnumOption>) -> Self {
        Self {
            one_of,
            title: None,
            description: None,
            default: None,
            extra: JsonObject::new(),
        }
    }
}

members!(TitledSingleSelectEnumSchema {
    tag: "type" = "string";
    required: one_of = "oneOf";
    optional: title = "title", description = "description", default = "default";
    rest: extra
});

/// Single choice among strings, with the titles in a parallel list, as in
/// 2025-06-18.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LegacyTitledEnumSchema {
    /// The choices.
    pub values: Vec<String>,
    /// Title of each choice, in the order of `values`.
    ///
    /// A schema without this member is an [`UntitledSingleSelectEnumSchema`].
    pub enum_names: Vec<String>,
    /// Display name of the field.
    pub title: Option<String>,
    /// Description of the value.
    pub description: Option<String>,
    /// Choice that is selected at first.
    pub default: Option<String>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl LegacyTitledEnumSchema {
    /// Creates a single choice among `values`, shown as `enum_names`.
    pub fn new(values: Vec<String>, enum_names: Vec<String>) -> Self {
        Self {
            values,
            enum_names,
            title: None,
            description: None,
            default: None,
            extra: JsonObject::new(),
        }
    }
}

members!(LegacyTitledEnumSchema {
    tag: "type" = "string";
    required: values = "enum", enum_names = "enumNames";
    optional: title = "title", description = "description", default = "default";
    rest: extra
});

/// Multiple choice among strings.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UntitledMultiSelectEnumSchema {
    /// The choices.
    pub items: UntitledItems,
    /// Least number of choices.
    pub min_items: Option<u64>,
    /// Largest number of choices.
    pub max_items: Option<u64>,
    /// Display name of the field.
    pub title: Option<String>,
    /// Description of the value.
    pub description: Option<String>,
    /// Choice that is selected at first.
    pub default: Option<Vec<String>>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl UntitledMultiSelectEnumSchema {
    /// Creates a multiple choice among `values`.
    pub fn new(values: Vec<String>) -> Self {
        let items = UntitledItems {
            values,
            extra: JsonObject::new(),
        };
        Self {
            items,
            min_items: None,
            max_items: None,
            title: None,
            description: None,
            default: None,
            extra: JsonObject::new(),
        }
    }
}

members!(UntitledMultiSelectEnumSchema {
    tag: "type" = "array";
    required: items = "items";
    optional: min_items = "minItems", max_items = "maxItems", title = "title",
        description = "description", default = "default";
    rest: extra
});

/// Choices of an [`UntitledMultiSelectEnumSchema`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UntitledItems {
    /// The choices.
    pub values: Vec<String>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(UntitledItems {
    tag: "type" = "string";
    required: values = "enum";
    rest: extra
});

/// Multiple choice among strings with titles.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TitledMultiSelectEnumSchema {
    /// The choices.
    pub items: TitledItems,
    /// Least number of choices.
    pub min_items: Option<u64>,
    /// Largest number of choices.
    pub max_items: Option<u64>,
    /// Display name of the field.
    pub title: Option<String>,
    /// Description of the value.
    pub description: Option<String>,
    /// Choice that is selected at first.
    pub default: Option<Vec<String>>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl TitledMultiSelectEnumSchema {
    /// Creates a multiple choice among `any_of`.
    pub fn new(any_of: Vec<EnumOption>) -> Self {
        let items = TitledItems {
            any_of,
            extra: JsonObject::new(),
        };
        Self {
            items,
            min_items: None,
            max_items: None,
            title: None,
            description: None,
            default: None,
            extra: JsonObject::new(),
        }
    }
}

members!(TitledMultiSelectEnumSchema {
    tag: "type" = "array";
    required: items = "items";
    optional: min_items = "minItems", max_items = "maxItems", title = "title",
        description = "description", default = "default";
    rest: extra
});

/// Choices of a [`TitledMultiSelectEnumSchema`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TitledItems {
    /// The choices.
    pub any_of: Vec<EnumOption>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(TitledItems {
    required: any_of = "anyOf";
    rest: extra
});

/// Choice with a title.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct EnumOption {
    /// Value in the answer.
    pub value: String,
    /// Title that the user sees.
    pub title: String,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl EnumOption {
    /// Creates the choice `value`, shown as `title`.
    pub fn new(value: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            title: title.into(),
            extra: JsonObject::new(),
        }
    }
}

members!(EnumOption {
    required: value = "const", title = "title";
    rest: extra
});
