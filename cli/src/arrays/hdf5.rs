//! Files of HDF5, and so of `NetCDF` 4.

use std::path::Path;

use anyhow::{Context, Result, bail};
use btune::train::{Dtype, Kind};
use half::f16;
use hdf5_metno::types::{FixedAscii, FloatSize, IntSize, TypeDescriptor};
use hdf5_metno::{
    Dataset, Datatype, File, Group, H5Type, Hyperslab, IndexType, IterationOrder, LinkType,
    LocationToken, LocationType, SliceOrIndex,
};
use ndarray::IxDyn;
use num_complex::Complex;

use super::parts::{Region, regions};
use super::{Found, Sink, said};

/// Filters that are often met and are not part of HDF5, by their registered numbers.
const FILTERS: [(i32, &str); 14] = [
    (4, "szip"),
    (307, "bzip2"),
    (32000, "lzf"),
    (32001, "blosc"),
    (32004, "lz4"),
    (32008, "bitshuffle"),
    (32013, "zfp"),
    (32015, "zstd"),
    (32017, "sz"),
    (32019, "fcidecomp"),
    (32024, "sz3"),
    (32026, "blosc2"),
    (32029, "h5j2k"),
    (32030, "sperr"),
];
/// What `NetCDF` calls a dataset that only stands for a dimension.
const NO_VARIABLE: &str = "This is a netCDF dimension but not a netCDF variable";

/// Reads the datasets in all groups, or in one, or one dataset.
pub(super) fn read(path: &Path, inner: Option<&str>, sink: &mut Sink) -> Result<()> {
    let file = File::open(path).map_err(said).context("not a file of HDF5 that can be read")?;
    let Some(inner) = inner.filter(|inner| !inner.is_empty()) else {
        return walk(&file, "", sink);
    };
    match file.loc_type_by_name(inner) {
        Ok(LocationType::Group) => walk(&file, inner, sink),
        Ok(LocationType::Dataset) => add(&file, inner, true, sink),
        _ => bail!("there is no dataset or group {inner:?} in it"),
    }
}

/// All datasets below a group, in the order of their names, each once: soft links, and hard links to what has been seen,
/// are not followed.
fn walk(file: &File, from: &str, sink: &mut Sink) -> Result<()> {
    let mut seen: Vec<LocationToken> = Vec::new();
    let mut open = vec![from.to_owned()];
    while let Some(path) = open.pop() {
        let name = if path.is_empty() { "/" } else { &path };
        let info = file.loc_info_by_name(name).map_err(said).with_context(|| path.clone())?;
        if seen.contains(&info.token) {
            continue;
        }
        // All others are not met again.
        if info.num_links > 1 || path == from {
            seen.push(info.token);
        }
        match info.loc_type {
            LocationType::Group => {
                let group = file.group(name).map_err(said).with_context(|| path.clone())?;
                let members = members(&group).with_context(|| path.clone())?;
                let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
                open.extend(members.iter().rev().map(|member| format!("{prefix}{member}")));
            }
            LocationType::Dataset => add(file, &path, false, sink)?,
            _ => {}
        }
    }
    Ok(())
}

fn members(group: &Group) -> Result<Vec<String>> {
    let mut names = Vec::new();
    let visited = group.iter_visit(IndexType::Name, IterationOrder::Increasing, |name, link| {
        if link.link_type == LinkType::Hard {
            names.push(name.to_owned());
        }
        Ok(())
    });
    visited.map_err(said)?;
    Ok(names)
}

fn add(file: &File, path: &str, named: bool, sink: &mut Sink) -> Result<()> {
    let dataset = file.dataset(path).map_err(said).with_context(|| path.to_owned())?;
    let found = array(&dataset, sink.limit).with_context(|| path.to_owned())?;
    sink.add(path, named, found)
}

fn array(dataset: &Dataset, limit: u64) -> Result<Found> {
    let no_numbers = |why: &str| Ok(Found::NoNumbers(why.to_owned()));
    let shape: Vec<u64> = dataset.shape().iter().map(|&n| n as u64).collect();
    if shape.is_empty() {
        return no_numbers("a single value, or none, is no array");
    }
    if shape.contains(&0) {
        return no_numbers("the array has no elements");
    }
    let Some((dtype, read)) = element(&dataset.dtype().map_err(said)?) else {
        return no_numbers("its elements are no numbers of 1, 2, 4 or 8 bytes, nor complex");
    };
    if is_no_variable(dataset) {
        return no_numbers("a dimension of NetCDF has no data");
    }
    if let Some(filter) = dataset.filters().iter().find(|filter| !filter.decode_enabled()) {
        return Ok(Found::Unavailable(missing(filter.id())));
    }
    let chunk: Option<Vec<u64>> =
        dataset.chunk().map(|chunk| chunk.iter().map(|&n| n as u64).collect());
    let regions = regions(&shape, chunk.as_deref(), dtype.size as u64, limit);
    Ok(Found::Array(dtype, read(dataset, &regions)?))
}

fn missing(filter: i32) -> String {
    let name = FILTERS.iter().find(|(id, _)| *id == filter).map(|(_, name)| format!(" ({name})"));
    let name = name.unwrap_or_default();
    format!("filter {filter}{name} is not available: HDF5_PLUGIN_PATH names the folder of plugins")
}

/// `NetCDF` marks what it has put there to stand for a dimension.
fn is_no_variable(dataset: &Dataset) -> bool {
    let name = |attr: hdf5_metno::Attribute| attr.read_scalar::<FixedAscii<64>>();
    let named = dataset.attr_names().is_ok_and(|names| names.iter().any(|name| name == "NAME"));
    named && dataset.attr("NAME").and_then(name).is_ok_and(|name| name.starts_with(NO_VARIABLE))
}

type Elements = fn(&Dataset, &[Region]) -> Result<Vec<u8>>;

/// The type, and what reads it; none where elements are no numbers. Enumerations and booleans are as their integers.
fn element(dtype: &Datatype) -> Option<(Dtype, Elements)> {
    use Kind::{Float, Int, Opaque, Uint};
    let of = |kind, size, read: Elements| Some((Dtype::new(kind, size), read));
    // Of larger ones the library cannot be asked safely what they are: it takes values of enumerations for 8 bytes.
    if dtype.size() > 8 {
        let complex = dtype.is::<Complex<f64>>();
        return if complex { of(Opaque, 16, elements::<Complex<f64>>) } else { None };
    }
    let descriptor = match dtype.to_descriptor().ok()? {
        TypeDescriptor::Enum(of) => of.base_type(),
        TypeDescriptor::Boolean => TypeDescriptor::Unsigned(IntSize::U1),
        other => other,
    };
    match descriptor {
        TypeDescriptor::Integer(IntSize::U1) => of(Int, 1, elements::<i8>),
        TypeDescriptor::Integer(IntSize::U2) => of(Int, 2, elements::<i16>),
        TypeDescriptor::Integer(IntSize::U4) => of(Int, 4, elements::<i32>),
        TypeDescriptor::Integer(IntSize::U8) => of(Int, 8, elements::<i64>),
        TypeDescriptor::Unsigned(IntSize::U1) => of(Uint, 1, elements::<u8>),
        TypeDescriptor::Unsigned(IntSize::U2) => of(Uint, 2, elements::<u16>),
        TypeDescriptor::Unsigned(IntSize::U4) => of(Uint, 4, elements::<u32>),
        TypeDescriptor::Unsigned(IntSize::U8) => of(Uint, 8, elements::<u64>),
        TypeDescriptor::Float(FloatSize::U2) => of(Opaque, 2, elements::<f16>),
        TypeDescriptor::Float(FloatSize::U4) => of(Float, 4, elements::<f32>),
        TypeDescriptor::Float(FloatSize::U8) => of(Float, 8, elements::<f64>),
        complex if complex == Complex::<f32>::type_descriptor() => {
            of(Opaque, 8, elements::<Complex<f32>>)
        }
        _ => None,
    }
}

/// A type whose elements are read as they are, whatever the order of their bytes.
trait Element: H5Type {
    fn append(&self, out: &mut Vec<u8>);
}

macro_rules! elements {
    ($($number:ty),*) => {$(
        impl Element for $number {
            fn append(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}
elements!(i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64);

impl<T: Element> Element for Complex<T>
where
    Self: H5Type,
{
    fn append(&self, out: &mut Vec<u8>) {
        self.re.append(out);
        self.im.append(out);
    }
}

fn elements<T: Element>(dataset: &Dataset, regions: &[Region]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for region in regions {
        let sides = region.start.iter().zip(&region.count);
        let slice = |(&start, &count): (&u64, &u64)| SliceOrIndex::SliceCount {
            start: start as usize,
            step: 1,
            count: count as usize,
            block: 1,
        };
        let slab = Hyperslab::from(sides.map(slice).collect::<Vec<_>>());
        let data = dataset.read_slice::<T, _, IxDyn>(slab).map_err(said)?;
        data.iter().for_each(|element| element.append(&mut bytes));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::arrays::{LIMIT, refusal};

    fn file(path: &Path) {
        let file = File::create(path).unwrap();
        let group = file.create_group("z/group").unwrap();
        let data: Vec<i16> = (0..6000).collect();
        let view = ndarray::ArrayView2::from_shape((60, 100), &data).unwrap();
        let zipped = group.new_dataset_builder().with_data(view).chunk((60, 40)).deflate(3);
        zipped.create("zipped").unwrap();
        file.new_dataset_builder().with_data(&[true, false]).create("flags").unwrap();
        file.new_dataset::<f32>().shape(()).create("single").unwrap();
        group.link_hard("/flags", "again").unwrap();
        file.link_soft("/flags", "soft").unwrap();
    }

    fn names(arrays: &[(String, Dtype, Vec<u8>)]) -> Vec<(&str, Dtype)> {
        arrays.iter().map(|(path, dtype, _)| (path.as_str(), *dtype)).collect()
    }

    #[test]
    fn datasets_are_read_once_and_chunk_by_chunk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.h5");
        file(&path);
        let mut sink = Sink::new(&path, LIMIT);
        read(&path, None, &mut sink).unwrap();
        let (int, uint) = (Dtype::new(Kind::Int, 2), Dtype::new(Kind::Uint, 1));
        assert_eq!(names(&sink.arrays), [("flags", uint), ("z/group/zipped", int)]);
        assert_eq!(sink.arrays[0].2, [1, 0]);
        let zipped: Vec<i16> = sink.arrays[1]
            .2
            .as_chunks::<2>()
            .0
            .iter()
            .map(|two| i16::from_le_bytes(*two))
            .collect();
        assert_eq!(zipped[38..42], [38, 39, 100, 101]);
        assert_eq!(zipped[60 * 40..60 * 40 + 2], [40, 41]);
        assert_eq!(zipped.len(), 6000);

        let mut sink = Sink::new(&path, 5000);
        read(&path, Some("z"), &mut sink).unwrap();
        assert_eq!(names(&sink.arrays), [("z/group/again", uint), ("z/group/zipped", int)]);
        assert_eq!(sink.arrays[1].2.len(), 60 * 40 * 2);
    }

    #[test]
    fn what_cannot_be_read_is_refused_in_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.h5");
        file(&path);
        let refused = |inner: &str| refusal(&path, inner);
        assert!(refused("single").contains("single: a single value"));
        assert!(refused("z/nothing").contains("no dataset or group \"z/nothing\""));
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        assert!(refused("flags").contains("not a file of HDF5"));
    }

    #[test]
    fn filters_that_are_missing_have_names() {
        assert!(missing(32015).starts_with("filter 32015 (zstd) is not available"));
        assert!(missing(65000).starts_with("filter 65000 is not available"));
    }
}
