//! What a plugin says, on stderr.
#![allow(unsafe_code, reason = "std's stderr has a lock, which a fork may leave locked")]

use std::fmt::Display;

use super::PerProcess;

/// The most different lines that are kept in mind.
const MAX_SAID: usize = 256;

static SAID: PerProcess<Vec<String>> = PerProcess::new();

/// Whether descriptor 2 is stderr. Where stderr was closed, the next file that was opened has its number: an
/// HDF5 file, which would be damaged. A file that is read and written is none that a shell sends errors to.
fn is_stderr() -> bool {
    // SAFETY: the calls only look at the descriptor, and all-zero bytes are a valid `stat`.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        let is_file = libc::fstat(libc::STDERR_FILENO, &raw mut stat) == 0
            && stat.st_mode & libc::S_IFMT == libc::S_IFREG;
        let access = libc::fcntl(libc::STDERR_FILENO, libc::F_GETFL) & libc::O_ACCMODE;
        !is_file || access == libc::O_WRONLY
    }
}

/// Writes a line, if it can be written.
pub fn line(text: impl Display) {
    if !is_stderr() {
        return;
    }
    // One write, so that lines of several threads stay whole.
    let line = format!("{text}\n");
    // SAFETY: the pointer and the length are those of a string.
    let _ = unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
}

/// Writes a line unless this process has written the same one before.
pub fn once(text: impl Display) {
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
