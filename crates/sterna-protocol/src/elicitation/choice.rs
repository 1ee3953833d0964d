//! Fields where the user picks from a list.

use crate::json::JsonObject;

/// One of several strings.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UntitledSingleSelectEnumSchema {
    /// What can be picked.
    pub values: Vec<String>,
    /// What to call the field.
    pub title: Option<String>,
    /// What belongs there.
    pub description: Option<String>,
    /// What is picked before the user chooses.
    pub default: Option<String>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl UntitledSingleSelectEnumSchema {
    /// A choice between `values`.
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

/// One of several strings, each with a title.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TitledSingleSelectEnumSchema {
    /// What can be picked.
    pub one_of: Vec<EnumOption>,
    /// What to call the field.
    pub title: Option<String>,
    /// What belongs there.
    pub description: Option<String>,
    /// What is picked before the user chooses.
    pub default: Option<String>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl TitledSingleSelectEnumSchema {
    /// A choice between `one_of`.
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

/// One of several strings, with titles in a list beside them, as 2025-06-18
/// had it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LegacyTitledEnumSchema {
    /// What can be picked.
    pub values: Vec<String>,
    /// What to show for each of them, in the same order.
    ///
    /// Without this member it would be an [`UntitledSingleSelectEnumSchema`].
    pub enum_names: Vec<String>,
    /// What to call the field.
    pub title: Option<String>,
    /// What belongs there.
    pub description: Option<String>,
    /// What is picked before the user chooses.
    pub default: Option<String>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl LegacyTitledEnumSchema {
    /// A choice between `values`, shown as `enum_names`.
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

/// Some of several strings.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UntitledMultiSelectEnumSchema {
    /// What can be picked.
    pub items: UntitledItems,
    /// How many must be picked.
    pub min_items: Option<u64>,
    /// How many may be picked.
    pub max_items: Option<u64>,
    /// What to call the field.
    pub title: Option<String>,
    /// What belongs there.
    pub description: Option<String>,
    /// What is picked before the user chooses.
    pub default: Option<Vec<String>>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl UntitledMultiSelectEnumSchema {
    /// Any of `values`.
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

/// The strings of an [`UntitledMultiSelectEnumSchema`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UntitledItems {
    /// What can be picked.
    pub values: Vec<String>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(UntitledItems {
    tag: "type" = "string";
    required: values = "enum";
    rest: extra
});

/// Some of several strings, each with a title.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TitledMultiSelectEnumSchema {
    /// What can be picked.
    pub items: TitledItems,
    /// How many must be picked.
    pub min_items: Option<u64>,
    /// How many may be picked.
    pub max_items: Option<u64>,
    /// What to call the field.
    pub title: Option<String>,
    /// What belongs there.
    pub description: Option<String>,
    /// What is picked before the user chooses.
    pub default: Option<Vec<String>>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl TitledMultiSelectEnumSchema {
    /// Any of `any_of`.
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

/// The strings of a [`TitledMultiSelectEnumSchema`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TitledItems {
    /// What can be picked.
    pub any_of: Vec<EnumOption>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(TitledItems {
    required: any_of = "anyOf";
    rest: extra
});

/// A string that can be picked and what to show for it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct EnumOption {
    /// What the answer will hold.
    pub value: String,
    /// What the user sees.
    pub title: String,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl EnumOption {
    /// `value`, shown as `title`.
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
