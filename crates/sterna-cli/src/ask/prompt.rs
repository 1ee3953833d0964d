//! Prompts of the terminal.
//!
//! Titles, labels, defaults and objections come from servers. They are cleaned
//! here, in the one place that hands them to the prompt library.

use inquire::list_option::ListOption;
use inquire::validator::{ErrorMessage, Validation};
use inquire::{InquireError, MultiSelect, Select, Text};

use crate::text::{one_line, printable};

/// The line that is asked, and the line below it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prompt {
    title: String,
    help: Option<String>,
}

impl Prompt {
    pub(crate) fn new(title: &str) -> Self {
        Self {
            title: one_line(title),
            help: None,
        }
    }

    /// Shows `help` below the question, unless it is empty.
    pub(super) fn help(mut self, help: &str) -> Self {
        self.help = Some(one_line(help)).filter(|help| !help.is_empty());
        self
    }

    /// Has the user type a line until `objection` has none. `None`: Esc.
    pub(super) fn line(
        &self,
        start: &str,
        objection: impl Fn(&str) -> Option<String> + Clone + 'static,
    ) -> Result<Option<String>, InquireError> {
        // A line holds no line ends; other blanks are part of the value.
        let start = printable(start).replace(['\n', '\t'], " ");
        let mut prompt = Text::new(&self.title)
            .with_initial_value(&start)
            .with_validator(move |text: &str| Ok(validation(objection(text))));
        if let Some(help) = &self.help {
            prompt = prompt.with_help_message(help);
        }
        prompt.prompt_skippable()
    }

    /// Has the user pick one label; returns its position. `None`: Esc.
    pub(crate) fn pick(
        &self,
        labels: &[impl AsRef<str>],
        cursor: usize,
    ) -> Result<Option<usize>, InquireError> {
        let mut prompt = Select::new(&self.title, clean(labels)).with_starting_cursor(cursor);
        prompt = match &self.help {
            Some(help) => prompt.with_help_message(help),
            None => prompt,
        };
        let picked = prompt.raw_prompt_skippable()?;
        Ok(picked.map(|picked| picked.index))
    }

    /// Has the user mark labels until `objection` has none; returns their
    /// positions. `None`: Esc.
    pub(super) fn mark(
        &self,
        labels: &[impl AsRef<str>],
        marked: &[usize],
        objection: impl Fn(&[usize]) -> Option<String> + Clone + 'static,
    ) -> Result<Option<Vec<usize>>, InquireError> {
        let validator = move |picked: &[ListOption<&String>]| {
            let picked: Vec<usize> = picked.iter().map(|option| option.index).collect();
            Ok(validation(objection(&picked)))
        };
        let mut prompt = MultiSelect::new(&self.title, clean(labels))
            .with_default(marked)
            .with_validator(validator);
        if let Some(help) = &self.help {
            prompt = prompt.with_help_message(help);
        }
        let picked = prompt.raw_prompt_skippable()?;
        Ok(picked.map(|picked| picked.into_iter().map(|option| option.index).collect()))
    }
}

fn clean(labels: &[impl AsRef<str>]) -> Vec<String> {
    labels
        .iter()
        .map(|label| one_line(label.as_ref()))
        .collect()
}

fn validation(objection: Option<String>) -> Validation {
    match objection {
        None => Validation::Valid,
        Some(why) => Validation::Invalid(ErrorMessage::Custom(one_line(&why))),
    }
}
