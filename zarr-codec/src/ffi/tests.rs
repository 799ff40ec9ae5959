use super::*;

/// Calls with room for a message, and returns it too.
fn with_message<R>(f: impl FnOnce(*mut c_char, usize) -> R) -> (R, String) {
    let mut room = [0x7f as c_char; 200];
    room[0] = 0;
    let result = f(room.as_mut_ptr(), room.len());
    // SAFETY: it ends with a zero byte, at least where nothing was written.
    let message = unsafe { CStr::from_ptr(room.as_ptr()) };
    (result, message.to_str().unwrap().to_owned())
}

fn codec(options: &CStr) -> *mut btune_codec {
    // SAFETY: a string, and room for a message.
    let (codec, message) =
        with_message(|at, len| unsafe { btune_codec_new(options.as_ptr(), at, len) });
    assert!(!codec.is_null(), "{message}");
    codec
}

#[test]
fn a_chunk_goes_there_and_back_in_every_form() {
    let bytes: Vec<u8> = (0..30_000u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
    for options in [
        c"{\"typesize\": 4}",
        c"{\"format\": \"chunk\"}",
        c"{\"format\": \"blosc\", \"typesize\": 4}",
    ] {
        let codec = codec(options);
        // SAFETY: all pointers come from slices of the lengths given, or are null.
        unsafe {
            let bound = btune_codec_bound(codec, bytes.len());
            let mut stored = vec![0u8; bound];
            let n = btune_codec_encode(
                codec,
                bytes.as_ptr().cast(),
                bytes.len(),
                stored.as_mut_ptr().cast(),
                bound,
                ptr::null_mut(),
                0,
            );
            let n = usize::try_from(n).unwrap();
            let size = btune_codec_decoded_size(stored.as_ptr().cast(), n, ptr::null_mut(), 0);
            assert_eq!(usize::try_from(size), Ok(bytes.len()));
            let mut back = vec![0u8; bytes.len()];
            let m = btune_codec_decode(
                stored.as_ptr().cast(),
                n,
                back.as_mut_ptr().cast(),
                back.len(),
                ptr::null_mut(),
                0,
            );
            assert_eq!((m, back == bytes), (size, true));
            let profile = btune_codec_profile(codec);
            assert!(CStr::from_ptr(profile).to_str().unwrap().contains("btune_profile"));
            btune_string_free(profile);
            btune_codec_free(codec);
        }
    }
}

#[test]
fn reasons_are_given() {
    // SAFETY: strings, and pointers to slices of the lengths given, or null.
    unsafe {
        let new = |json: &CStr| {
            let (codec, message) = with_message(|at, len| btune_codec_new(json.as_ptr(), at, len));
            assert!(codec.is_null());
            message
        };
        assert!(new(c"{\"tradeoff\": 2}").starts_with("tradeoff 2 is not valid: a number from 0"));
        assert!(new(c"{\"level\": 2}").starts_with("unknown field `level`, expected one of"));
        assert!(new(c"\xff").contains("UTF-8"));
        let (bytes, codec) = ([1u8, 2, 3], codec(c"{}"));
        let mut dest = [0u8; 10];
        let (n, message) = with_message(|at, len| {
            let dest = dest.as_mut_ptr().cast();
            btune_codec_encode(codec, bytes.as_ptr().cast(), 3, dest, 10, at, len)
        });
        assert!(n < 0 && message.contains("do not fit into a destination of 10"), "{message}");
        let (n, message) = with_message(|at, len| {
            btune_codec_decoded_size(bytes.as_ptr().cast(), bytes.len(), at, len)
        });
        assert!(n < 0 && message.contains("chunk"), "{message}");
        btune_codec_free(codec);
    }
}

#[test]
fn null_pointers_are_an_error_or_nothing() {
    // SAFETY: null, or no bytes.
    unsafe {
        let null = ptr::null_mut();
        btune_codec_free(ptr::null_mut());
        btune_string_free(ptr::null_mut());
        assert_eq!(btune_codec_bound(ptr::null(), 10), 0);
        assert!(btune_codec_profile(ptr::null()).is_null());
        let (n, message) =
            with_message(|at, len| btune_codec_encode(ptr::null_mut(), null, 0, null, 0, at, len));
        assert_eq!((n, message.as_str()), (-1, "there is no codec"));
        let codec = btune_codec_new(ptr::null(), ptr::null_mut(), 0);
        assert!(!codec.is_null());
        assert!(btune_codec_encode(codec, null, 5, null, 0, ptr::null_mut(), 0) < 0);
        assert!(btune_codec_decode(null, 5, null, 0, ptr::null_mut(), 0) < 0);
        assert!(btune_codec_decoded_size(null, 0, ptr::null_mut(), 0) < 0);
        let mut dest = [0u8; 400];
        let n =
            btune_codec_encode(codec, null, 0, dest.as_mut_ptr().cast(), 400, ptr::null_mut(), 0);
        let src = dest.as_ptr().cast();
        let stored = usize::try_from(n).unwrap();
        assert_eq!(btune_codec_decode(src, stored, null, 0, ptr::null_mut(), 0), 0);
        btune_codec_free(codec);
    }
}

#[test]
fn a_message_is_cut_between_characters() {
    for (capacity, kept) in [(1, ""), (2, "a"), (3, "a"), (4, "aé"), (5, "aé "), (6, "aé b")] {
        let mut room = [0x7f as c_char; 8];
        // SAFETY: there is room for 8 bytes.
        let text = unsafe {
            say("aé\nb", room.as_mut_ptr(), capacity);
            CStr::from_ptr(room.as_ptr())
        };
        assert_eq!(text.to_str(), Ok(kept));
        assert!(room[capacity..].iter().all(|&c| c == 0x7f));
    }
    let mut room = [0x7f as c_char; 1];
    // SAFETY: nothing is written.
    unsafe { say("a", room.as_mut_ptr(), 0) };
    assert_eq!(room, [0x7f]);
}
