//! Something that moves while the user waits.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sterna_protocol::progress::ProgressNotificationParams;

use crate::screen::Screen;
use crate::table::one_line;

/// A spinner with the time, and a bar as soon as the server says how far it is.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    pub(crate) fn new(screen: Screen) -> Self {
        // A trace and a bar would write over each other.
        let shown = !screen.quiet && !screen.verbose && std::io::stderr().is_terminal();
        let target = match shown {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(style("{spinner} {elapsed} {msg}"));
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { bar }
    }

    /// Shows what the server says of how far it is.
    pub(crate) fn show(&self, params: &ProgressNotificationParams) {
        if let Some(total) = params.total.map(whole).filter(|total| *total > 0) {
            if self.bar.length() != Some(total) {
                self.bar.set_length(total);
                self.bar
                    .set_style(style("{spinner} {elapsed} [{bar:30}] {pos}/{len} {msg}"));
            }
            self.bar.set_position(whole(params.progress).min(total));
        }
        if let Some(message) = &params.message {
            self.say(message);
        }
    }

    /// Shows what the server says it is doing.
    pub(crate) fn say(&self, message: &str) {
        self.bar.set_message(one_line(message));
    }

    /// Takes it off the screen.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn whole(number: sterna_protocol::json::Number) -> u64 {
    let number = number.as_i64().unwrap_or_default();
    u64::try_from(number).unwrap_or(0)
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is written in this file")
}
