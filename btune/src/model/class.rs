//! Classes of parameters, as metadata name them.

use crate::cparams::{BlockSize, Codec, Cparams, Filter, SplitMode};
use crate::error::ModelError;

/// `zstd-1 shuffle always; …`: codec, level, filter and split mode.
pub(super) fn print_all(classes: &[Cparams]) -> String {
    let print = |c: &Cparams| {
        format!("{}-{} {} {}", c.codec.name(), c.clevel, c.filter.name(), c.split.name())
    };
    classes.iter().map(print).collect::<Vec<_>>().join("; ")
}

/// The reverse.
pub(super) fn parse_all(text: &str) -> Result<Vec<Cparams>, ModelError> {
    let classes: Option<Vec<Cparams>> = text.split("; ").map(parse).collect();
    classes.ok_or(ModelError::Value("btune.classes"))
}

fn parse(text: &str) -> Option<Cparams> {
    let mut words = text.split(' ');
    let (codec, clevel) = words.next()?.split_once('-')?;
    let (filter, split) = (words.next()?, words.next()?);
    if words.next().is_some() {
        return None;
    }
    Some(Cparams {
        codec: Codec::ALL.into_iter().find(|c| c.name() == codec)?,
        filter: Filter::ALL.into_iter().find(|f| f.is_lossless() && f.name() == filter)?,
        clevel: clevel.parse().ok().filter(|level| *level <= 9)?,
        split: SplitMode::ALL.into_iter().find(|s| s.name() == split)?,
        block_size: BlockSize::Auto,
        threads: 1,
    })
}
