//! Progress on a terminal; elsewhere nothing is shown.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Steps of a bar that shows a share.
const STEPS: u64 = 1000;

/// A bar over so many things, with the time that is left.
pub(crate) fn bar(name: &'static str, length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:12} {wide_bar} {pos}/{len}  {eta} left");
    styled(name, length, style)
}

/// A bar for a share from 0 to 1: see [`set`].
pub(crate) fn share(name: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:12} {wide_bar} {percent:>3} %  {eta} left");
    styled(name, STEPS, style)
}

/// Shows a share.
pub(crate) fn set(bar: &ProgressBar, share: f64) {
    bar.set_position((share * STEPS as f64) as u64);
}

fn styled(
    name: &'static str,
    length: u64,
    style: Result<ProgressStyle, indicatif::style::TemplateError>,
) -> ProgressBar {
    let bar = ProgressBar::new(length).with_message(name);
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}
