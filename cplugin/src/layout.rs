//! Where the fields of a context lie.
//!
//! C-Blosc2 has no function to set them, and no wheel exports its version. So the context itself decides: a
//! layout is taken if it is the only one with which the context makes sense.

/// Offsets in bytes that all known layouts share.
pub(crate) mod common {
    pub(crate) const SRC: usize = 0;
    pub(crate) const DEST: usize = 8;
    pub(crate) const SOURCESIZE: usize = 20;
    pub(crate) const BLOCKSIZE: usize = 36;
}

/// Offsets in bytes of the fields of one layout, with pointers of 64 bits. Read in the headers of those
/// versions and in live contexts of python-blosc2 2.7.1 to 4.14.1.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The major version of the C-Blosc2 that has it, the first and any later one.
    pub(crate) since: u32,
    /// A second block size, which goes into the chunk's header and must be the same as the first.
    pub(crate) header_blocksize: Option<usize>,
    pub(crate) splitmode: usize,
    pub(crate) destsize: usize,
    pub(crate) typesize: usize,
    pub(crate) compcode: usize,
    pub(crate) compcode_meta: usize,
    pub(crate) clevel: usize,
    /// Whether to make dictionaries, where not every codec can: it is turned off.
    pub(crate) use_dict: Option<usize>,
    pub(crate) filter_flags: usize,
    pub(crate) filters: usize,
    pub(crate) filters_meta: usize,
    pub(crate) prefilter: usize,
    pub(crate) schunk: usize,
    pub(crate) do_compress: usize,
    pub(crate) tuner_params: usize,
    pub(crate) tuner_id: usize,
    pub(crate) nthreads: usize,
    pub(crate) new_nthreads: usize,
    /// Where filters lie in a super-chunk; their metadata follows.
    pub(crate) schunk_filters: usize,
}

/// C-Blosc2 2.10 to 2.23.
const TWO: Layout = Layout {
    since: 2,
    header_blocksize: None,
    splitmode: 40,
    destsize: 52,
    typesize: 56,
    compcode: 76,
    compcode_meta: 80,
    clevel: 84,
    use_dict: Some(88),
    filter_flags: 128,
    filters: 129,
    filters_meta: 135,
    prefilter: 784,
    schunk: 832,
    do_compress: 848,
    tuner_params: 856,
    tuner_id: 864,
    nthreads: 928,
    new_nthreads: 930,
    schunk_filters: 20,
};

/// C-Blosc2 3.0 to 3.3.
const THREE: Layout = Layout {
    since: 3,
    header_blocksize: Some(40),
    splitmode: 44,
    destsize: 56,
    typesize: 60,
    compcode: 116,
    compcode_meta: 120,
    clevel: 124,
    use_dict: None,
    filter_flags: 168,
    filters: 169,
    filters_meta: 175,
    prefilter: 824,
    schunk: 872,
    do_compress: 888,
    tuner_params: 896,
    tuner_id: 904,
    nthreads: 968,
    new_nthreads: 970,
    schunk_filters: 22,
};

/// All known layouts.
pub(crate) static LAYOUTS: [Layout; 2] = [TWO, THREE];

/// The only layout that fits; none if there is none, or more than one.
pub(crate) fn only(fits: impl Fn(&'static Layout) -> bool) -> Option<&'static Layout> {
    let mut fitting = LAYOUTS.iter().filter(|layout| fits(layout));
    fitting.next().filter(|_| fitting.next().is_none())
}
