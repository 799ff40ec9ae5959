//! Numbers of an array, apart from how they are stored.

/// How an element is stored, little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dtype {
    /// What kind of number.
    pub kind: Kind,
    /// Bytes.
    pub size: usize,
}

/// Kinds of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Signed integers of 1, 2, 4 or 8 bytes.
    Int,
    /// Unsigned integers of 1, 2, 4 or 8 bytes; booleans.
    Uint,
    /// Floating-point numbers of 4 or 8 bytes.
    Float,
    /// Bytes that stay as they are: complex numbers, records, half precision.
    Opaque,
}

impl Dtype {
    /// A kind of so many bytes.
    #[must_use]
    pub const fn new(kind: Kind, size: usize) -> Self {
        Self { kind, size }
    }

    /// As `NumPy` writes it, without byte order: `f4`, `u2`, `b1`. Anything else of a known size is opaque.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim_start_matches(['<', '>', '|', '=']);
        let size = text.get(1..)?.parse().ok().filter(|size| (1..=255).contains(size))?;
        let kind = match (text.as_bytes()[0], size) {
            (b'i' | b'm' | b'M', 1 | 2 | 4 | 8) => Kind::Int,
            (b'u' | b'b', 1 | 2 | 4 | 8) => Kind::Uint,
            (b'f', 4 | 8) => Kind::Float,
            _ => Kind::Opaque,
        };
        Some(Self::new(kind, size))
    }
}

/// Numbers. Integers are kept apart: time stamps in nanoseconds are no floating-point numbers.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Values {
    Ints(Vec<i64>),
    Floats(Vec<f64>),
}

impl Values {
    /// Reads little-endian elements; none where they are opaque.
    pub(super) fn decode(bytes: &[u8], dtype: Dtype) -> Option<Self> {
        let signed = dtype.kind == Kind::Int;
        Some(match (dtype.kind, dtype.size) {
            (Kind::Float, 4) => {
                let floats = bytes.as_chunks::<4>().0.iter();
                Self::Floats(floats.map(|b| f64::from(f32::from_le_bytes(*b))).collect())
            }
            (Kind::Float, 8) => Self::Floats(
                bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect(),
            ),
            (Kind::Int | Kind::Uint, size) => {
                let element = |bytes: &[u8]| {
                    let fill = if signed && bytes[size - 1] > 127 { 255 } else { 0 };
                    i64::from_le_bytes(std::array::from_fn(|i| *bytes.get(i).unwrap_or(&fill)))
                };
                Self::Ints(bytes.chunks_exact(size).map(element).collect())
            }
            _ => return None,
        })
    }

    /// Writes little-endian elements; what does not fit wraps around or loses its fraction.
    pub(super) fn encode(&self, dtype: Dtype) -> Vec<u8> {
        let bytes = |each: [u8; 8]| each[..dtype.size.min(8)].to_vec();
        let float = |x: f64| match dtype.size {
            4 => (x as f32).to_le_bytes().to_vec(),
            _ => x.to_le_bytes().to_vec(),
        };
        match (self, dtype.kind) {
            (Self::Floats(v), Kind::Float) => v.iter().flat_map(|&x| float(x)).collect(),
            (Self::Ints(v), Kind::Float) => v.iter().flat_map(|&x| float(x as f64)).collect(),
            (Self::Ints(v), _) => v.iter().flat_map(|x| bytes(x.to_le_bytes())).collect(),
            (Self::Floats(v), _) => {
                v.iter().flat_map(|&x| bytes((x as i64).to_le_bytes())).collect()
            }
        }
    }

    /// As floating-point numbers.
    pub(super) fn floats(&self) -> Vec<f64> {
        match self {
            Self::Ints(v) => v.iter().map(|&x| x as f64).collect(),
            Self::Floats(v) => v.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let ints = Values::Ints(vec![0, 1, -1, 100, -128]);
        for size in [1, 2, 4, 8] {
            let dtype = Dtype::new(Kind::Int, size);
            assert_eq!(Values::decode(&ints.encode(dtype), dtype), Some(ints.clone()));
        }
        let floats = Values::Floats(vec![0.0, -1.5, 1e10]);
        for size in [4, 8] {
            let dtype = Dtype::new(Kind::Float, size);
            assert_eq!(Values::decode(&floats.encode(dtype), dtype), Some(floats.clone()));
        }
        let bytes = Values::decode(&[255, 0], Dtype::new(Kind::Uint, 1));
        assert_eq!(bytes, Some(Values::Ints(vec![255, 0])));
    }

    #[test]
    fn names_of_numpy_are_understood() {
        assert_eq!(Dtype::parse("<f4"), Some(Dtype::new(Kind::Float, 4)));
        assert_eq!(Dtype::parse("|b1"), Some(Dtype::new(Kind::Uint, 1)));
        assert_eq!(Dtype::parse("c16"), Some(Dtype::new(Kind::Opaque, 16)));
        assert_eq!(Dtype::parse("f2"), Some(Dtype::new(Kind::Opaque, 2)));
        for text in ["", "f", "f0", "f300", "fx"] {
            assert_eq!(Dtype::parse(text), None);
        }
    }
}
