//! What the filter says, on stderr.
#![allow(unsafe_code, reason = "std's stderr has a lock, which a fork may leave locked")]

use std::fmt::Display;

use crate::per_process::PerProcess;

/// The most different lines that are kept in mind.
const MAX_SAID: usize = 256;

static SAID: PerProcess<Vec<String>> = PerProcess::new();

/// Writes a line, if it can be written.
pub(crate) fn line(text: impl Display) {
    // One write, so that lines of several threads stay whole.
    let line = format!("{text}\n");
    // SAFETY: the pointer and the length are those of a string.
    let _ = unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
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
