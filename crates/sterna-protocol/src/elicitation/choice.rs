//! Schemas of fields with a list of choices (`EnumSchema`).

use crate::json::JsonObject;

wire! {
    /// Single choice among strings.
    pub struct UntitledSingleSelectEnumSchema {
        tag "type" = "string";
        required {
            /// The choices.
            values: Vec<String> = "enum",
        }
        optional {
            /// Display name of the field.
            title: Option<String> = "title",
            /// Description of the value.
            description: Option<String> = "description",
            /// Choice that is selected at first.
            default: Option<String> = "default",
        }
    }

    /// Creates a single choice among `values`.
    new(values: Vec<String>);
}

wire! {
    /// Single choice among strings with titles.
    pub struct TitledSingleSelectEnumSchema {
        tag "type" = "string";
        required {
            /// The choices.
            one_of: Vec<EnumOption> = "oneOf",
        }
        optional {
            /// Display name of the field.
            title: Option<String> = "title",
            /// Description of the value.
            description: Option<String> = "description",
            /// Choice that is selected at first.
            default: Option<String> = "default",
        }
    }

    /// Creates a single choice among `one_of`.
    new(one_of: Vec<EnumOption>);
}

wire! {
    /// Single choice among strings, with the titles in a parallel list, as in
    /// 2025-06-18.
    pub struct LegacyTitledEnumSchema {
        tag "type" = "string";
        required {
            /// The choices.
            values: Vec<String> = "enum",
            /// Title of each choice, in the order of `values`.
            ///
            /// A schema without this member is an
            /// [`UntitledSingleSelectEnumSchema`].
            enum_names: Vec<String> = "enumNames",
        }
        optional {
            /// Display name of the field.
            title: Option<String> = "title",
            /// Description of the value.
            description: Option<String> = "description",
            /// Choice that is selected at first.
            default: Option<String> = "default",
        }
    }

    /// Creates a single choice among `values`, shown as `enum_names`.
    new(values: Vec<String>, enum_names: Vec<String>);
}

wire! {
    /// Multiple choice among strings.
    pub struct UntitledMultiSelectEnumSchema {
        tag "type" = "array";
        required {
            /// The choices.
            items: UntitledItems = "items",
        }
        optional {
            /// Least number of choices.
            min_items: Option<u64> = "minItems",
            /// Largest number of choices.
            max_items: Option<u64> = "maxItems",
            /// Display name of the field.
            title: Option<String> = "title",
            /// Description of the value.
            description: Option<String> = "description",
            /// Choice that is selected at first.
            default: Option<Vec<String>> = "default",
        }
    }
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

wire! {
    /// Choices of an [`UntitledMultiSelectEnumSchema`].
    pub struct UntitledItems {
        tag "type" = "string";
        required {
            /// The choices.
            values: Vec<String> = "enum",
        }
    }
}

wire! {
    /// Multiple choice among strings with titles.
    pub struct TitledMultiSelectEnumSchema {
        tag "type" = "array";
        required {
            /// The choices.
            items: TitledItems = "items",
        }
        optional {
            /// Least number of choices.
            min_items: Option<u64> = "minItems",
            /// Largest number of choices.
            max_items: Option<u64> = "maxItems",
            /// Display name of the field.
            title: Option<String> = "title",
            /// Description of the value.
            description: Option<String> = "description",
            /// Choice that is selected at first.
            default: Option<Vec<String>> = "default",
        }
    }
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

wire! {
    /// Choices of a [`TitledMultiSelectEnumSchema`].
    pub struct TitledItems {
        required {
            /// The choices.
            any_of: Vec<EnumOption> = "anyOf",
        }
    }
}

wire! {
    /// Choice with a title.
    pub struct EnumOption {
        required {
            /// Value in the answer.
            value: String = "const",
            /// Title that the user sees.
            title: String = "title",
        }
    }

    /// Creates the choice `value`, shown as `title`.
    new(value: impl Into<String>, title: impl Into<String>);
}
