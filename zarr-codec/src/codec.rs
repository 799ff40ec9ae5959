//! A codec: settings and what was learnt with them.

use std::{env, fs};

use btune::Profile;
use btune::process::{models, report};

use crate::encode::encode;
use crate::error::Error;
use crate::options::Options;
use crate::settings::Settings;
use crate::tuners::{Shared, TunerId};
use crate::worker::Worker;

/// Encodes the chunks of one array, and learns from each. Any number of threads may use it, in any order of chunks;
/// a chunk that is encoded again, as partial writes and shards do, teaches nothing.
///
/// ```
/// use btune_zarr::{Codec, Options, decode};
///
/// let chunk: Vec<u8> = (0..20_000u32).flat_map(|i| (i / 9).to_le_bytes()).collect();
/// let codec = Codec::new(Options { typesize: 4, ..Options::default() });
/// let stored = codec.encode(&chunk)?;
/// assert!(stored.len() < chunk.len() / 2);
/// assert_eq!(decode(&stored)?, chunk);
/// # Ok::<(), btune_zarr::Error>(())
/// ```
#[derive(Debug)]
pub struct Codec {
    settings: Settings,
    id: TunerId,
}

impl Codec {
    /// A codec that has not learnt anything yet, but from the profile that it starts from. The environment is read
    /// now; what is not valid in it is reported, once, in a line on stderr.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let variable = |name: &str| Some(env::var_os(name)?.to_string_lossy().into_owned());
        let (settings, lines) = Settings::new(options, variable);
        lines.iter().for_each(report::once);
        Self { settings, id: TunerId::new() }
    }

    /// The most bytes that a chunk of `nbytes` bytes is stored in.
    #[must_use]
    pub fn bound(&self, nbytes: usize) -> usize {
        self.settings.format.bound(nbytes, &self.settings.form)
    }

    /// The most threads that compress a chunk.
    #[must_use]
    pub fn threads(&self) -> usize {
        usize::from(self.settings.config.max_threads)
    }

    /// Stores a chunk.
    ///
    /// # Errors
    /// [`Error::TooLarge`], and [`Error::Memory`] where there is none even to store the bytes as they are.
    pub fn encode(&self, chunk: &[u8]) -> Result<Vec<u8>, Error> {
        self.with_encoded(chunk, |stored| Ok(stored.to_vec()))
    }

    /// Stores a chunk at the front of `dest`, which [`bound`](Self::bound) bytes are always enough for. Returns how
    /// many were written.
    ///
    /// # Errors
    /// As [`encode`](Self::encode), and [`Error::Destination`].
    pub fn encode_into(&self, chunk: &[u8], dest: &mut [u8]) -> Result<usize, Error> {
        self.with_encoded(chunk, |stored| {
            let (needed, available) = (stored.len(), dest.len());
            let dest = dest.get_mut(..needed).ok_or(Error::Destination { needed, available })?;
            dest.copy_from_slice(stored);
            Ok(needed)
        })
    }

    /// What was learnt, for another codec to start from: a small JSON text.
    #[must_use]
    pub fn profile(&self) -> String {
        let tuner = self.tuner();
        // What a panic has left is still a tuner.
        tuner.lock().unwrap_or_else(std::sync::PoisonError::into_inner).profile().to_json()
    }

    fn with_encoded<R>(
        &self,
        chunk: &[u8],
        f: impl FnOnce(&[u8]) -> Result<R, Error>,
    ) -> Result<R, Error> {
        Worker::with(|worker| {
            let len = encode(&self.settings, chunk, || (self.tuner(), self.id.number()), worker)?;
            f(&worker.out[..len])
        })
    }

    fn tuner(&self) -> Shared {
        self.id.tuner(|| {
            let mut tuner = models::tuner(self.settings.config.clone());
            if let Some(profile) = read_profile(&self.settings) {
                tuner.start_from(profile);
            }
            tuner
        })
    }
}

/// The profile to start from. One that cannot be used is reported.
fn read_profile(settings: &Settings) -> Option<Profile> {
    let path = settings.profile.as_ref()?;
    let profile = fs::read_to_string(path)
        .map_err(|error| error.to_string())
        .and_then(|text| Profile::from_json(&text).map_err(|error| error.to_string()));
    profile
        .map_err(|error| {
            report::once(format_args!("profile {} is not used: {error}", path.display()));
        })
        .ok()
}
