/* The filter's class, and callbacks that also pass on which HDF5 library calls: the address that they
 * return to lies in it. That address cannot be had from Rust. */

#include <stddef.h>
#include <stdint.h>

typedef int64_t hid; /* hid_t since HDF5 1.10 */

typedef int (*set_local_fn)(hid dcpl, hid type, hid space, const void *caller);
typedef size_t (*filter_fn)(unsigned flags, size_t count, const unsigned *values, size_t nbytes,
                            size_t *buf_size, void **buf, const void *caller);

static set_local_fn set_local_impl;
static filter_fn filter_impl;

static int can_apply(hid dcpl, hid type, hid space)
{
    (void)dcpl, (void)type, (void)space;
    return 1;
}

static int set_local(hid dcpl, hid type, hid space)
{
    set_local_fn impl = __atomic_load_n(&set_local_impl, __ATOMIC_ACQUIRE);
    return impl(dcpl, type, space, __builtin_return_address(0));
}

static size_t filter(unsigned flags, size_t count, const unsigned *values, size_t nbytes, size_t *buf_size,
                     void **buf)
{
    filter_fn impl = __atomic_load_n(&filter_impl, __ATOMIC_ACQUIRE);
    return impl(flags, count, values, nbytes, buf_size, buf, __builtin_return_address(0));
}

/* H5Z_class2_t */
struct filter_class {
    int version;
    int id;
    unsigned encoder_present;
    unsigned decoder_present;
    const char *name;
    int (*can_apply)(hid, hid, hid);
    int (*set_local)(hid, hid, hid);
    size_t (*filter)(unsigned, size_t, const unsigned *, size_t, size_t *, void **);
};

static const struct filter_class CLASS = {1, 32026, 1, 1, "blosc2 (btune)", can_apply, set_local, filter};

/* Always called with the same functions, so that it does not matter how often. */
const void *h5btune_class(set_local_fn on_set_local, filter_fn on_filter)
{
    __atomic_store_n(&set_local_impl, on_set_local, __ATOMIC_RELEASE);
    __atomic_store_n(&filter_impl, on_filter, __ATOMIC_RELEASE);
    return &CLASS;
}
