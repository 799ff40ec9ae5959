//! The HDF5 library that calls: several may live in one process, and none is linked.
#![allow(unsafe_code, reason = "calls of HDF5's C interface, found in the caller's image")]

use std::mem::transmute;
use std::ptr;

use btune::process::Image;
use libc::{c_char, c_int, c_uint, c_void, size_t};

use crate::cd_values::Layout;

/// `hid_t`: an object of HDF5.
pub(crate) type Id = i64;

const FILTER_ID: c_int = 32026;
/// The most values that are read.
const MAX_VALUES: usize = 256;
/// The highest rank in HDF5.
const MAX_RANK: c_int = 32;
/// `H5T_ARRAY`
const CLASS_ARRAY: c_int = 10;

type GetFilter = unsafe extern "C" fn(
    Id,
    c_int,
    *mut c_uint,
    *mut size_t,
    *mut c_uint,
    size_t,
    *mut c_char,
    *mut c_uint,
) -> c_int;
type ModifyFilter = unsafe extern "C" fn(Id, c_int, c_uint, size_t, *const c_uint) -> c_int;
type GetChunk = unsafe extern "C" fn(Id, c_int, *mut u64) -> c_int;
type TypeSize = unsafe extern "C" fn(Id) -> size_t;
type TypeClass = unsafe extern "C" fn(Id) -> c_int;
type TypeSuper = unsafe extern "C" fn(Id) -> Id;
type Close = unsafe extern "C" fn(Id) -> c_int;

/// Functions of the calling HDF5 library.
pub(crate) struct Host {
    get_filter: GetFilter,
    modify_filter: ModifyFilter,
    get_chunk: GetChunk,
    type_size: TypeSize,
    type_class: TypeClass,
    type_super: TypeSuper,
    type_close: Close,
    /// Dropped last: it keeps the functions where they are.
    _image: Image,
}

impl Host {
    /// The library that holds the code at `caller`. None where its functions cannot be found.
    pub(crate) fn of(caller: *const c_void) -> Option<Self> {
        let image = Image::of(caller)?;
        /// Takes a symbol as a function of that type.
        macro_rules! function {
            ($name:literal as $type:ty) => {{
                let symbol = image.symbol($name)?;
                // SAFETY: HDF5 has had functions of these names and types since 1.10; a data pointer of
                // `dlsym` is a function pointer on every platform that has `dlsym`.
                unsafe { transmute::<ptr::NonNull<c_void>, $type>(symbol) }
            }};
        }
        Some(Self {
            get_filter: function!(c"H5Pget_filter_by_id2" as GetFilter),
            modify_filter: function!(c"H5Pmodify_filter" as ModifyFilter),
            get_chunk: function!(c"H5Pget_chunk" as GetChunk),
            type_size: function!(c"H5Tget_size" as TypeSize),
            type_class: function!(c"H5Tget_class" as TypeClass),
            type_super: function!(c"H5Tget_super" as TypeSuper),
            type_close: function!(c"H5Tclose" as Close),
            _image: image,
        })
    }

    /// Flags and values of this filter in a creation property list.
    pub(crate) fn filter(&self, dcpl: Id) -> Option<(c_uint, Vec<u32>)> {
        let (mut flags, mut count, mut config) = (0, MAX_VALUES, 0);
        let mut values = vec![0; MAX_VALUES];
        // SAFETY: `values` has room for `count` values, no room is offered for a name, and the other
        // pointers are to live variables.
        let status = unsafe {
            (self.get_filter)(
                dcpl,
                FILTER_ID,
                &raw mut flags,
                &raw mut count,
                values.as_mut_ptr(),
                0,
                ptr::null_mut(),
                &raw mut config,
            )
        };
        values.truncate(count);
        (status >= 0).then_some((flags, values))
    }

    /// Replaces them.
    pub(crate) fn set_filter(&self, dcpl: Id, flags: c_uint, values: &[u32]) -> bool {
        // SAFETY: the pointer and the count are those of a slice, which HDF5 copies.
        let status =
            unsafe { (self.modify_filter)(dcpl, FILTER_ID, flags, values.len(), values.as_ptr()) };
        status >= 0
    }

    /// Type and chunk of a data set to be created.
    pub(crate) fn layout(&self, dcpl: Id, datatype: Id) -> Option<Layout> {
        // SAFETY: HDF5 checks the identifier.
        let (class, bytes) = unsafe { ((self.type_class)(datatype), (self.type_size)(datatype)) };
        let typesize = if class == CLASS_ARRAY { self.base_size(datatype)? } else { bytes };
        let chunk = self.chunk(dcpl)?;
        let layout =
            Layout { class, bytes: bytes as u64, typesize: u32::try_from(typesize).ok()?, chunk };
        (class >= 0 && bytes > 0).then_some(layout)
    }

    fn base_size(&self, datatype: Id) -> Option<usize> {
        // SAFETY: HDF5 checks the identifiers; the one that is made here is closed once.
        unsafe {
            let base = (self.type_super)(datatype);
            if base < 0 {
                return None;
            }
            let bytes = (self.type_size)(base);
            (self.type_close)(base);
            Some(bytes).filter(|bytes| *bytes > 0)
        }
    }

    fn chunk(&self, dcpl: Id) -> Option<Vec<u64>> {
        let mut dims = [0; MAX_RANK as usize];
        // SAFETY: `dims` has room for `MAX_RANK` numbers.
        let rank = unsafe { (self.get_chunk)(dcpl, MAX_RANK, dims.as_mut_ptr()) };
        let rank = usize::try_from(rank).ok()?;
        Some(dims.get(..rank)?.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_without_hdf5_is_no_host() {
        let here = a_caller_without_hdf5_is_no_host as *const c_void;
        assert!(Host::of(here).is_none());
        assert!(Host::of(ptr::null()).is_none());
    }
}
