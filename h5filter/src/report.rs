//! What the filter says, on stderr.

use std::fmt::Display;
use std::io::{self, Write as _};

use crate::per_process::PerProcess;

/// The most different lines that are kept in mind.
const MAX_SAID: usize = 256;

static SAID: PerProcess<Vec<String>> = PerProcess::new();

/// Writes a line, if it can be written.
pub(crate) fn line(text: impl Display) {
    // One write, so that lines of several threads stay whole.
    let line = format!("{text}\n");
    let _ = io::stderr().write_all(line.as_bytes());
}

/// Writes a line unless this process has written the same one before.
pub(crate) fn once(text: impl Display) {
    let text = format!("btune: {text}");
    {
        let mut said = SAID.lock();
        if said.contains(&text) || said.len() == MAX_SAID {
            return;
        }
        said.push(text.clone());
    }
    line(text);
}
