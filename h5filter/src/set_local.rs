//! Completes the filter's values when a data set is created.

use btune::process::report;
use libc::c_void;

use crate::cd_values;
use crate::error::FilterError;
use crate::host::{Host, Id};
use crate::worker::Worker;

/// Stores the values of a data set of that type in its creation property list.
///
/// Where the calling library cannot be asked, the values stay as they are: chunks are then stored as plain
/// frames.
pub(crate) fn set_local(
    dcpl: Id,
    datatype: Id,
    caller: *const c_void,
    worker: &mut Worker,
) -> Result<(), FilterError> {
    let Some(host) = Host::of(caller) else { return Ok(()) };
    let Some((flags, given)) = host.filter(dcpl) else { return Ok(()) };
    let Some(layout) = host.layout(dcpl, datatype) else { return Ok(()) };
    let mut bad = Vec::new();
    let tune = |stored| worker.settings.tuned(stored);
    let values = cd_values::build(&given, &layout, tune, &mut bad)?;
    for error in bad {
        report::once(error);
    }
    host.set_filter(dcpl, flags, &values);
    Ok(())
}
