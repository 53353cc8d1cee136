/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bounds check: values that straddle pieces, holes that may be crossed
 * and not read, ends that nothing passes.
 */
#include "capture/xdr_cursor.h"
#include "tests/unit/rpc_support.h"

static struct xdrc_scratch scratch;

static void
over(struct xdrc *x, const struct rpc_piece *pieces, unsigned count,
     uint32_t length)
{
    struct rpc_record record = {0};

    record.pieces = pieces;
    record.piece_count = count;
    record.length = length;
    scratch.used = 0;
    xdrc_init(x, &record, &scratch);
}

/* RFC 4506 section 4: an unsigned int, a hyper, a bool, an opaque of 5. */
static struct message
sample(void)
{
    struct message m = {.length = 0};

    put32(&m, 0x01020304);
    put64(&m, UINT64_C(0x1122334455667788));
    put32(&m, 1);
    put_opaque(&m, "abcde", 5);
    put32(&m, 0xfffffffe);
    return m;
}

static void
check_sample(struct xdrc *x)
{
    uint32_t length;
    const uint8_t *bytes;

    assert_int_equal(xdrc_u32(x), 0x01020304);
    assert_true(xdrc_u64(x) == UINT64_C(0x1122334455667788));
    assert_true(xdrc_bool(x));
    bytes = xdrc_opaque(x, 5, &length);
    assert_int_equal(length, 5);
    assert_memory_equal(bytes, "abcde", 5);
    assert_int_equal(xdrc_u32(x), 0xfffffffe);
    assert_true(xdrc_ok(x));
    assert_int_equal(xdrc_left(x), 0);
}

/* Cut in two and in three at every pair of places, empty pieces included:
 * the same values. */
static void
pieces_give_the_same_values(void **state)
{
    struct message m = sample();

    (void)state;
    for (uint32_t i = 0; i <= m.length; i++) {
        for (uint32_t j = i; j <= m.length; j++) {
            struct rpc_piece p[3] = {{0, i, m.bytes},
                                     {i, j - i, m.bytes + i},
                                     {j, m.length - j, m.bytes + j}};
            struct xdrc x;

            over(&x, p, 3, m.length);
            check_sample(&x);
        }
    }
}

/* Bytes at hand end before a page that faults; the record goes on: SHORT. The
 * record itself ends there: BAD. Nothing reads past, the position stays. */
static void
every_prefix_fails_by_its_name(void **state)
{
    struct message m = sample();

    (void)state;
    for (uint32_t n = 0; n < m.length; n++) {
        for (unsigned whole = 0; whole < 2; whole++) {
            struct rpc_piece p = {0, n, guarded(m.bytes, n)};
            uint32_t length, end = whole ? n : m.length;
            struct xdrc x;

            over(&x, &p, 1, end);
            xdrc_u32(&x);
            xdrc_u64(&x);
            xdrc_bool(&x);
            xdrc_opaque(&x, 5, &length);
            assert_int_equal(xdrc_u32(&x), 0);
            assert_int_equal(x.status, whole ? XDRC_BAD : XDRC_SHORT);
            assert_true(xdrc_position(&x) <= end);
        }
    }
}

/* A skip may begin, end or lie in a hole; a read may not touch it. */
static void
skips_cross_holes_and_reads_do_not(void **state)
{
    static const uint8_t bytes[8] = {0, 0, 0, 7, 0, 0, 0, 9};
    /*   0..3 captured   4..99 hole   100..103 captured   104..119 hole */
    struct rpc_piece p[2] = {{0, 4, bytes}, {100, 4, bytes + 4}};
    struct xdrc x;

    (void)state;
    over(&x, p, 2, 120);
    assert_int_equal(xdrc_u32(&x), 7);
    xdrc_skip(&x, 50); /* into the hole */
    assert_int_equal(xdrc_position(&x), 54);
    xdrc_skip(&x, 46); /* out of it */
    assert_int_equal(xdrc_u32(&x), 9);
    xdrc_skip(&x, 16); /* to the end, through a hole */
    assert_true(xdrc_ok(&x));
    assert_int_equal(xdrc_left(&x), 0);
    xdrc_skip(&x, 1);
    assert_int_equal(x.status, XDRC_BAD);

    over(&x, p, 2, 120);
    xdrc_skip(&x, 98);
    assert_int_equal(xdrc_u32(&x), 0); /* half hole, half there */
    assert_int_equal(x.status, XDRC_SHORT);
    xdrc_skip(&x, 4); /* sticky */
    assert_int_equal(xdrc_position(&x), 98);
}

static void
lengths_are_bounded_by_the_record(void **state)
{
    struct message m = {.length = 0};
    struct rpc_piece p;
    uint32_t length;
    struct xdrc x;

    (void)state;
    put32(&m, 0xffffffff);
    put32(&m, 0);
    p = (struct rpc_piece){0, m.length, m.bytes};
    over(&x, &p, 1, m.length);
    assert_null(xdrc_opaque(&x, UINT32_MAX, &length));
    assert_int_equal(x.status, XDRC_BAD);
    assert_int_equal(length, 0);

    over(&x, &p, 1, m.length);
    xdrc_skip_opaque(&x);
    assert_int_equal(x.status, XDRC_BAD);

    over(&x, &p, 1, m.length);
    assert_int_equal(xdrc_count(&x, 1), 0);
    assert_int_equal(x.status, XDRC_BAD);

    over(&x, &p, 1, UINT32_MAX); /* the record claims to be as long */
    assert_int_equal(xdrc_skip_array(&x, 4), 0);
    assert_int_equal(x.status, XDRC_BAD);
}

/* One at the limit and one past it. */
static void
limit_and_one_past(void **state)
{
    struct message m = {.length = 0};
    struct rpc_piece p;
    uint32_t length;
    struct xdrc x;

    (void)state;
    put_opaque(&m, "12345678", 8);
    p = (struct rpc_piece){0, m.length, m.bytes};
    over(&x, &p, 1, m.length);
    assert_non_null(xdrc_opaque(&x, 8, &length));
    over(&x, &p, 1, m.length);
    assert_null(xdrc_opaque(&x, 7, &length));
    assert_int_equal(x.status, XDRC_BAD);
    over(&x, &p, 1, m.length);
    assert_int_equal(xdrc_count(&x, 1), 8);
    m.bytes[3] = 9;
    over(&x, &p, 1, m.length);
    assert_int_equal(xdrc_count(&x, 1), 0);
}

/* A part with its own length: reads stop at its end, and what follows is
 * found whatever happened inside. */
static void
parts_are_left_at_their_end(void **state)
{
    struct message m = {.length = 0};
    struct rpc_piece p[2];
    struct xdrc x;
    uint32_t outer;

    (void)state;
    put_pattern(&m, 12, 1);
    put32(&m, 42);
    for (uint32_t cut = 0; cut <= m.length; cut++) {
        p[0] = (struct rpc_piece){0, cut, m.bytes};
        p[1] = (struct rpc_piece){cut, m.length - cut, m.bytes + cut};
        over(&x, p, 2, m.length);
        outer = xdrc_narrow(&x, 12);
        xdrc_u64(&x);
        assert_int_equal(xdrc_left(&x), 4);
        assert_true(xdrc_u64(&x) == 0); /* 8 of 4 */
        assert_int_equal(x.status, XDRC_BAD);
        xdrc_widen(&x, outer, true);
        assert_int_equal(xdrc_u32(&x), 42);
        assert_true(xdrc_ok(&x));
    }
    over(&x, p, 2, m.length);
    (void)xdrc_narrow(&x, m.length + 1);
    assert_int_equal(x.status, XDRC_BAD);
}

/* RFC 4506 section 4.4: FALSE = 0, TRUE = 1. */
static void
booleans_are_zero_or_one(void **state)
{
    struct message m = {.length = 0};
    struct rpc_piece p;
    struct xdrc x;

    (void)state;
    put32(&m, 2);
    p = (struct rpc_piece){0, m.length, m.bytes};
    over(&x, &p, 1, m.length);
    assert_false(xdrc_bool(&x));
    assert_int_equal(x.status, XDRC_BAD);
}

/* What has to be put together is bounded too. */
static void
scratch_is_bounded(void **state)
{
    static uint8_t bytes[2 * XDRC_SCRATCH];
    struct rpc_piece p[2] = {
        {0, XDRC_SCRATCH, bytes},
        {XDRC_SCRATCH, XDRC_SCRATCH, bytes + XDRC_SCRATCH}};
    struct xdrc x;

    (void)state;
    over(&x, p, 2, sizeof(bytes));
    xdrc_skip(&x, 2);
    assert_non_null(xdrc_raw(&x, XDRC_SCRATCH));
    over(&x, p, 2, sizeof(bytes));
    xdrc_skip(&x, 2);
    assert_null(xdrc_raw(&x, XDRC_SCRATCH + 1));
    assert_int_equal(x.status, XDRC_LIMIT);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_give_the_same_values),
        cmocka_unit_test(every_prefix_fails_by_its_name),
        cmocka_unit_test(skips_cross_holes_and_reads_do_not),
        cmocka_unit_test(lengths_are_bounded_by_the_record),
        cmocka_unit_test(limit_and_one_past),
        cmocka_unit_test(parts_are_left_at_their_end),
        cmocka_unit_test(booleans_are_zero_or_one),
        cmocka_unit_test(scratch_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
