//! Something that moves while the user waits.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value;
use sterna_protocol::json::Number;
use sterna_protocol::logging::LoggingMessageNotificationParams;
use sterna_protocol::progress::ProgressNotificationParams;

use crate::screen::Screen;
use crate::text::{Text, one_line};

/// A spinner with the time, and a bar as soon as the server says how far it is.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    is_shown: bool,
}

impl Progress {
    pub(crate) fn new(screen: Screen) -> Self {
        // A trace and a bar would write over each other.
        let is_shown = !screen.quiet && !screen.verbose && std::io::stderr().is_terminal();
        let bar = ProgressBar::hidden();
        bar.set_style(style("{spinner} {elapsed} {msg}"));
        let progress = Self { bar, is_shown };
        progress.bar.set_draw_target(progress.target());
        progress.bar.enable_steady_tick(TICK);
        progress
    }

    fn target(&self) -> ProgressDrawTarget {
        match self.is_shown {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        }
    }

    /// Shows the server's progress.
    pub(crate) fn show(&self, params: &ProgressNotificationParams) {
        self.count(params.progress, params.total, params.message.as_deref());
    }

    /// Shows how much is done, of `total`.
    pub(crate) fn count(&self, done: Number, total: Option<Number>, message: Option<&str>) {
        if let Some((position, length)) = total.and_then(|total| steps(done, total)) {
            if self.bar.length() != Some(length) {
                self.bar.set_length(length);
                self.bar
                    .set_style(style("{spinner} {elapsed} [{bar:30}] {pos}/{len} {msg}"));
            }
            self.bar.set_position(position.min(length));
        }
        if let Some(message) = message {
            self.say(message);
        }
    }

    /// Shows the server's status message.
    pub(crate) fn say(&self, message: &str) {
        self.bar.set_message(one_line(message));
    }

    /// Shows a log message of the server above the bar.
    pub(crate) fn log(&self, screen: Screen, message: &LoggingMessageNotificationParams) {
        let level = one_line(&message.level.to_string());
        let from = message.logger.as_deref().map(one_line).unwrap_or_default();
        let from = if from.is_empty() {
            from
        } else {
            format!(" {from}:")
        };
        let said = match serde_json::from_str(message.data.as_str()) {
            Ok(Value::String(text)) => text,
            _ => message.data.as_str().to_owned(),
        };
        let line = Text::dim(format!("{level}:{from}")) + format!(" {}", one_line(&said));
        self.bar.suspend(|| screen.note(line));
    }

    /// Keeps it off the screen during `work`, which writes there itself.
    pub(crate) async fn suspended<T>(&self, work: impl Future<Output = T>) -> T {
        self.bar.disable_steady_tick();
        self.bar.suspend(|| ());
        let hidden = ProgressDrawTarget::hidden();
        self.bar.set_draw_target(hidden);
        let done = work.await;
        self.bar.set_draw_target(self.target());
        self.bar.enable_steady_tick(TICK);
        done
    }

    /// Takes it off the screen.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Finished and total steps: as the server counts them, or in hundredths if it
/// does not count in whole numbers.
fn steps(done: Number, total: Number) -> Option<(u64, u64)> {
    if total.as_f64() <= 0.0 {
        return None;
    }
    let whole = |number: Number| u64::try_from(number.as_i64()?).ok();
    if let (Some(done), Some(total)) = (whole(done), whole(total)) {
        return Some((done, total));
    }
    let share = done.as_f64() / total.as_f64() * 100.0;
    let reached = (0..=100_u32).rev().find(|&step| f64::from(step) <= share)?;
    Some((reached.into(), 100))
}

const TICK: Duration = Duration::from_millis(120);

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is written in this file")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_counted_as_the_server_counts_or_in_hundredths() {
        for (done, total, expected) in [
            ("1", "4", Some((1, 4))),
            ("7", "4", Some((7, 4))),
            ("0.5", "1", Some((50, 100))),
            ("1.5", "1.0", Some((100, 100))),
            ("1", "0", None),
            ("0.5", "0", None),
            ("-0.5", "1", None),
        ] {
            let read = |text| serde_json::from_str(text).unwrap();
            assert_eq!(steps(read(done), read(total)), expected, "{done}/{total}");
        }
    }
}
