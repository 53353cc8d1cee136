/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Capture files: every format, byte order and resolution, plain and
 * compressed, whole, cut at each byte and broken.
 */
#include "packet_support.h"

#include "capture/byte_input.h"
#include "capture/capture.h"
#include "capture/capture_filter.h"
#include "capture/pcap_source.h"

#include <fcntl.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <cmocka.h>

static struct buffer file;
static char directory[] = "/tmp/test_packets_XXXXXX";
static char path[64];

static int
set_up(void **state)
{
    (void)state;
    file.length = 0;
    return 0;
}

static int
make_directory(void **state)
{
    (void)state;
    if (mkdtemp(directory) == NULL) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/file", directory);
    return 0;
}

static int
remove_directory(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(directory);
}

static void
write_file(const void *data, size_t length)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(data, 1, length, out), length);
    assert_int_equal(fclose(out), 0);
}

/* Words in the byte order of the file. */
static bool big_endian;

static void
put16(unsigned value)
{
    add8(&file, big_endian ? value >> 8 : value & 0xff);
    add8(&file, big_endian ? value & 0xff : value >> 8);
}

static void
put32(uint32_t value)
{
    put16(big_endian ? value >> 16 : value & 0xffff);
    put16(big_endian ? value & 0xffff : value >> 16);
}

/* --- pcap ---------------------------------------------------------------- */

static void
put_pcap_header(uint32_t magic, uint32_t snaplen, uint32_t link)
{
    put32(magic);
    put16(2);
    put16(4);
    put32(0);
    put32(0);
    put32(snaplen);
    put32(link);
}

static void
put_pcap_packet(uint32_t seconds, uint32_t fraction, uint32_t captured,
                uint32_t length)
{
    put32(seconds);
    put32(fraction);
    put32(captured);
    put32(length);
    for (uint32_t i = 0; i < captured; i++) {
        add8(&file, i & 0xff);
    }
}

/* Opens the bytes in memory, laid against the end of their allocation. */
static uint8_t *flush_copy;

static struct pcap_source *
open_memory(size_t length, char *error, size_t error_size)
{
    flush_copy = test_malloc(length + (length == 0));
    memcpy(flush_copy, file.data, length);
    struct byte_input *input = byte_input_memory(flush_copy, length);
    assert_non_null(input);
    return pcap_source_new(input, "memory", error, error_size);
}

static void
close_memory(struct pcap_source *source)
{
    pcap_source_free(source);
    test_free(flush_copy);
}

static void
test_pcap_magics(void **state)
{
    static const struct {
        uint32_t magic;
        int64_t fraction_ns;
    } kinds[] = {{0xa1b2c3d4, 1000}, {0xa1b23c4d, 1}};
    (void)state;
    for (unsigned k = 0; k < 4; k++) {
        char error[256];
        file.length = 0;
        big_endian = k % 2;
        put_pcap_header(kinds[k / 2].magic, 96, 1);
        put_pcap_packet(1700000000, 123456, 60, 60);
        put_pcap_packet(1700000001, 654321, 96, 1514);
        put_pcap_packet(0xffffffff, 1, 0, 0);
        struct pcap_source *source =
            open_memory(file.length, error, sizeof error);
        assert_non_null(source);
        struct packet p;
        assert_int_equal(pcap_source_next(source, &p), PCAP_SOURCE_PACKET);
        assert_true(p.ns == INT64_C(1700000000000000000) +
                                123456 * kinds[k / 2].fraction_ns);
        assert_int_equal(p.captured, 60);
        assert_int_equal(p.data[59], 59);
        assert_int_equal(p.link_type, 1);
        assert_int_equal(pcap_source_next(source, &p), PCAP_SOURCE_PACKET);
        assert_int_equal(p.captured, 96);
        assert_int_equal(p.length, 1514);
        assert_int_equal(pcap_source_next(source, &p), PCAP_SOURCE_PACKET);
        assert_true(p.ns > 0); /* after 2038 */
        assert_int_equal(pcap_source_next(source, &p), PCAP_SOURCE_END);
        assert_int_equal(pcap_source_next(source, &p), PCAP_SOURCE_END);
        assert_null(pcap_source_message(source));
        close_memory(source);
    }
}

static void
test_not_a_capture(void **state)
{
    static const struct {
        const char *bytes;
        size_t length;
        const char *says;
    } cases[] = {
        {"", 0, "empty"},
        {"\xd4\xc3", 2, "too short"},
        {"\xd4\xc3\xb2\xa1\2\0\4\0\0\0", 10, "cut short in the file header"},
        {"\x34\xcd\xb2\xa1", 4, "modified"},
        {"\xa1\xb2\xcd\x34", 4, "modified"},
        {"hello, world: this is a text", 28, "not a capture file"},
        {"\x0a\x0d\x0d\x0a\x1c\0\0\0", 8, "first block"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char error[256] = "";
        file.length = 0;
        add(&file, cases[i].bytes, cases[i].length);
        assert_null(open_memory(file.length, error, sizeof error));
        test_free(flush_copy);
        assert_non_null(strstr(error, cases[i].says));
        assert_non_null(strstr(error, "memory"));
    }
}

/* Cut at every byte: the whole packets before, then the offset of the cut. */
static void
test_pcap_cut(void **state)
{
    (void)state;
    big_endian = false;
    put_pcap_header(0xa1b2c3d4, 65535, 1);
    const size_t starts[] = {24, 24 + 76, 24 + 76 + 116, 24 + 76 + 116 + 16};
    put_pcap_packet(1, 0, 60, 60);
    put_pcap_packet(2, 0, 100, 100);
    put_pcap_packet(3, 0, 0, 0);
    assert_int_equal(file.length, starts[3]);
    for (size_t length = 24; length <= file.length; length++) {
        char error[256];
        struct packet p;
        unsigned whole = 0;
        while (whole < 3 && starts[whole + 1] <= length) {
            whole++;
        }
        struct pcap_source *source = open_memory(length, error, sizeof error);
        assert_non_null(source);
        for (unsigned i = 0; i < whole; i++) {
            assert_int_equal(pcap_source_next(source, &p), PCAP_SOURCE_PACKET);
        }
        if (starts[whole] == length) {
            assert_int_equal(pcap_source_next(source, &p), PCAP_SOURCE_END);
        } else {
            char offset[32];
            snprintf(offset, sizeof offset, "at offset %zu;", starts[whole]);
            assert_int_equal(pcap_source_next(source, &p), PCAP_SOURCE_BROKEN);
            assert_non_null(strstr(pcap_source_message(source), offset));
            assert_non_null(strstr(pcap_source_message(source), "cut short"));
        }
        close_memory(source);
    }
}

/* More than the snapshot length is read; a length that lies is not. */
static void
test_pcap_lengths(void **state)
{
    static const struct {
        uint32_t captured, claimed;
        enum pcap_source_status status;
    } cases[] = {
        {200000, 200000, PCAP_SOURCE_PACKET},
        {100, 0x01000001, PCAP_SOURCE_BROKEN},
        {100, 0xffffffff, PCAP_SOURCE_BROKEN},
    };
    (void)state;
    big_endian = false;
    for (size_t i = 0; i < 3; i++) {
        char error[256];
        struct packet p;
        file.length = 0;
        put_pcap_header(0xa1b2c3d4, 96, 1);
        put_pcap_packet(1, 0, cases[i].captured, cases[i].captured);
        for (unsigned k = 0; k < 4; k++) {
            file.data[24 + 8 + k] = (uint8_t)(cases[i].claimed >> 8 * k);
        }
        struct pcap_source *source =
            open_memory(file.length, error, sizeof error);
        assert_int_equal(pcap_source_next(source, &p), cases[i].status);
        if (cases[i].status == PCAP_SOURCE_BROKEN) {
            assert_non_null(strstr(pcap_source_message(source), "corrupt"));
        }
        close_memory(source);
    }
}

/* --- pcapng -------------------------------------------------------------- */

static size_t block_start;

static void
block_begin(uint32_t type)
{
    block_start = file.length;
    put32(type);
    put32(0);
}

static void
block_end(void)
{
    while (file.length % 4 != 0) {
        add8(&file, 0);
    }
    uint32_t total = (uint32_t)(file.length - block_start + 4);
    put32(total);
    memcpy(file.data + block_start + 4, file.data + file.length - 4, 4);
}

static void
put_section(void)
{
    block_begin(0x0a0d0d0a);
    put32(0x1a2b3c4d);
    put16(1);
    put16(0);
    put32(0xffffffff);
    put32(0xffffffff);
    block_end();
}

/* @param resolution 0: none given (microseconds). */
static void
put_interface(unsigned link, uint32_t snaplen, unsigned resolution,
              int64_t offset)
{
    block_begin(1);
    put16(link);
    put16(0);
    put32(snaplen);
    put16(2); /* a name, to be stepped over */
    put16(3);
    add(&file, "eth", 4);
    if (resolution != 0) {
        put16(9);
        put16(1);
        add8(&file, resolution);
        add_zeros(&file, 3);
    }
    if (offset != 0) {
        put16(14);
        put16(8);
        uint64_t value = (uint64_t)offset;
        put32((uint32_t)(big_endian ? value >> 32 : value));
        put32((uint32_t)(big_endian ? value : value >> 32));
    }
    put16(0);
    put16(0);
    block_end();
}

static void
put_enhanced(uint32_t number, uint64_t ticks, uint32_t captured,
             uint32_t length)
{
    block_begin(6);
    put32(number);
    put32((uint32_t)(ticks >> 32));
    put32((uint32_t)ticks);
    put32(captured);
    put32(length);
    for (uint32_t i = 0; i < captured; i++) {
        add8(&file, i & 0xff);
    }
    block_end();
}

/* Sections of both byte orders; interfaces that differ in everything. */
static void
make_pcapng(void)
{
    for (unsigned section = 0; section < 2; section++) {
        big_endian = section == 1;
        put_section();
        put_interface(1, 0, section == 0 ? 6 : 9, 0);
        put_interface(101, 96, 9, 0);
        put_interface(113, 0, 0x80 | 20, 0);
        put_interface(1, 0, 3, 1700000000);
        put_interface(1, 0, 12, 0);
        put_interface(1, 0, 0, 0);
        block_begin(0x0bad); /* unknown: stepped over */
        add_zeros(&file, 40);
        block_end();
        uint64_t second = section == 0 ? 1000000 : 1000000000;
        put_enhanced(0, 1700000000 * second + 5, 61, 61);
        put_enhanced(1, 1700000000 * UINT64_C(1000000000) + 6, 60, 1514);
        put_enhanced(2, (UINT64_C(1700000000) << 20) + (1 << 19), 60, 60);
        put_enhanced(3, 250, 60, 60);
        put_enhanced(4, 1700000 * UINT64_C(1000000000000) + 7000, 60, 60);
        put_enhanced(5, 1700000000 * UINT64_C(1000000) + 1, 60, 60);
        put_enhanced(77, 0, 60, 60); /* no such interface */
        block_begin(2);              /* the obsolete packet block */
        put16(1);
        put16(0);
        uint64_t ticks = 1700000000 * UINT64_C(1000000000) + 9;
        put32((uint32_t)(ticks >> 32));
        put32((uint32_t)ticks);
        put32(4);
        put32(4);
        add_zeros(&file, 4);
        block_end();
        block_begin(3); /* simple: interface 0, no time of its own */
        put32(50);
        add_zeros(&file, 50);
        block_end();
    }
}

#define BASE INT64_C(1700000000000000000)

static void
test_pcapng(void **state)
{
    static const struct {
        int64_t ns[2];
        uint32_t link, captured, length;
    } want[] = {
        {{BASE + 5000, BASE + 5}, 1, 61, 61},
        {{BASE + 6, BASE + 6}, 101, 60, 1514},
        {{BASE + 500000000, BASE + 500000000}, 113, 60, 60},
        {{BASE + 250000000, BASE + 250000000}, 1, 60, 60},
        {{BASE / 1000 + 7, BASE / 1000 + 7}, 1, 60, 60},
        {{BASE + 1000, BASE + 1000}, 1, 60, 60},
        {{BASE + 9, BASE + 9}, 101, 4, 4},
        {{BASE + 9, BASE + 9}, 1, 50, 50},
    };
    (void)state;
    char error[256];
    make_pcapng();
    struct pcap_source *source = open_memory(file.length, error, sizeof error);
    assert_non_null(source);
    struct packet p;
    for (unsigned section = 0; section < 2; section++) {
        for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
            assert_int_equal(pcap_source_next(source, &p), PCAP_SOURCE_PACKET);
            assert_true(p.ns == want[i].ns[section]);
            assert_int_equal(p.link_type, want[i].link);
            assert_int_equal(p.captured, want[i].captured);
            assert_int_equal(p.length, want[i].length);
        }
    }
    assert_int_equal(pcap_source_next(source, &p), PCAP_SOURCE_END);
    assert_int_equal(pcap_source_malformed(source), 2);
    close_memory(source);
}

/* Cut at every byte, and every byte changed: no crash, no endless loop. */
static void
test_pcapng_broken(void **state)
{
    (void)state;
    make_pcapng();
    unsigned last = 0;
    for (size_t length = 0; length <= file.length; length++) {
        char error[256];
        struct packet p;
        unsigned packets = 0;
        struct pcap_source *source = open_memory(length, error, sizeof error);
        if (source == NULL) {
            test_free(flush_copy);
            assert_true(length < 12);
            continue;
        }
        while (pcap_source_next(source, &p) == PCAP_SOURCE_PACKET) {
            packets++;
        }
        assert_true(packets == last || packets == last + 1);
        last = packets;
        close_memory(source);
    }
    assert_int_equal(last, 16);
    for (size_t at = 0; at < file.length; at++) {
        static const uint8_t values[] = {0, 1, 0x80, 0xff};
        uint8_t kept = file.data[at];
        for (unsigned i = 0; i < 4; i++) {
            char error[256];
            struct packet p;
            unsigned packets = 0;
            file.data[at] = values[i];
            struct pcap_source *source =
                open_memory(file.length, error, sizeof error);
            if (source == NULL) {
                test_free(flush_copy);
                continue;
            }
            while (pcap_source_next(source, &p) == PCAP_SOURCE_PACKET) {
                assert_true(p.captured <= p.length);
                packets++;
            }
            assert_true(packets <= 20);
            close_memory(source);
        }
        file.data[at] = kept;
    }
}

/* --- snoop: RFC 1761 ----------------------------------------------------- */

static void
test_snoop(void **state)
{
    (void)state;
    char error[256];
    add(&file, "snoop\0\0\0", 8);
    add32(&file, 2);
    add32(&file, 4);
    for (unsigned i = 0; i < 2; i++) {
        add32(&file, 100);
        add32(&file, 61);
        add32(&file, 24 + 64);
        add32(&file, 0);
        add32(&file, 1700000000 + i);
        add32(&file, 7);
        add_zeros(&file, 64);
    }
    struct pcap_source *source = open_memory(file.length, error, sizeof error);
    assert_non_null(source);
    struct packet p;
    assert_int_equal(pcap_source_next(source, &p), PCAP_SOURCE_PACKET);
    assert_int_equal(pcap_source_next(source, &p), PCAP_SOURCE_PACKET);
    assert_true(p.ns == BASE + 1000007000);
    assert_int_equal(p.captured, 61);
    assert_int_equal(p.length, 100);
    assert_int_equal(pcap_source_next(source, &p), PCAP_SOURCE_END);
    close_memory(source);
}

/* --- files --------------------------------------------------------------- */

/* Many packets, more than a block and a window of the reader holds. */
#define MANY 90000

static uint8_t *many;
static size_t many_length;

static void
make_many(void)
{
    many_length = 24 + (size_t)MANY * (16 + 100);
    many = test_malloc(many_length);
    file.length = 0;
    big_endian = false;
    put_pcap_header(0xa1b23c4d, 65535, 1);
    memcpy(many, file.data, 24);
    for (uint32_t i = 0; i < MANY; i++) {
        file.length = 0;
        put_pcap_packet(1700000000, i, 100, 100);
        memcpy(many + 24 + (size_t)i * 116, file.data, 116);
    }
}

static void
count_file(const char *name, bool ahead, unsigned want, const char *says)
{
    char error[256];
    struct byte_input *input =
        byte_input_open(name, ahead, error, sizeof error);
    assert_non_null(input);
    struct pcap_source *source =
        pcap_source_new(input, name, error, sizeof error);
    assert_non_null(source);
    struct packet p;
    unsigned packets = 0;
    while (pcap_source_next(source, &p) == PCAP_SOURCE_PACKET) {
        assert_true(p.ns == BASE + packets);
        assert_int_equal(p.data[99], 99);
        packets++;
    }
    assert_int_equal(packets, want);
    if (says == NULL) {
        assert_null(pcap_source_message(source));
    } else {
        assert_non_null(pcap_source_message(source));
        assert_non_null(strstr(pcap_source_message(source), says));
    }
    pcap_source_free(source);
}

static void
test_plain_and_compressed(void **state)
{
    (void)state;
    make_many();
    for (unsigned ahead = 0; ahead < 2; ahead++) {
        write_file(many, many_length);
        count_file(path, ahead, MANY, NULL);
        write_file(many, many_length - 50);
        count_file(path, ahead, MANY - 1, "cut short in a packet");

        /* gzip, in two members as `cat a.gz b.gz` gives */
        gzFile out = gzopen(path, "w");
        gzwrite(out, many, (unsigned)(many_length / 2));
        gzclose(out);
        out = gzopen(path, "a");
        gzwrite(out, many + many_length / 2,
                (unsigned)(many_length - many_length / 2));
        gzclose(out);
        count_file(path, ahead, MANY, NULL);

        size_t bound = ZSTD_compressBound(many_length);
        void *packed = test_malloc(bound);
        size_t size = ZSTD_compress(packed, bound, many, many_length, 1);
        assert_false(ZSTD_isError(size));
        write_file(packed, size);
        count_file(path, ahead, MANY, NULL);
        test_free(packed);
    }
    test_free(many);
}

/* Compressed data cut short: what could be read is read, and said. */
static void
test_compressed_cut(void **state)
{
    (void)state;
    make_many();
    size_t bound = compressBound(many_length) + 64;
    uint8_t *packed = test_malloc(bound);
    gzFile out = gzopen(path, "w1");
    gzwrite(out, many, (unsigned)many_length);
    gzclose(out);
    FILE *in = fopen(path, "r");
    size_t size = fread(packed, 1, bound, in);
    fclose(in);
    write_file(packed, size / 2);
    char error[256];
    for (unsigned ahead = 0; ahead < 2; ahead++) {
        struct pcap_source *source =
            pcap_source_new(byte_input_open(path, ahead, error, sizeof error),
                            path, error, sizeof error);
        struct packet p;
        unsigned packets = 0;
        while (pcap_source_next(source, &p) == PCAP_SOURCE_PACKET) {
            packets++;
        }
        assert_in_range(packets, MANY / 4, MANY - 1);
        assert_non_null(strstr(pcap_source_message(source), "end too early"));
        pcap_source_free(source);
    }
    test_free(packed);
    test_free(many);
}

static void
test_standard_input(void **state)
{
    (void)state;
    make_many();
    write_file(many, many_length);
    int kept = dup(STDIN_FILENO);
    for (unsigned ahead = 0; ahead < 2; ahead++) {
        int fd = open(path, O_RDONLY);
        assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
        close(fd);
        count_file("-", ahead, MANY, NULL);
    }
    dup2(kept, STDIN_FILENO);
    close(kept);
    test_free(many);
}

/* Somebody truncates the file while it is read: an error, no signal. */
static void
test_file_shrinks(void **state)
{
    (void)state;
    char error[256];
    make_many();
    write_file(many, many_length);
    struct pcap_source *source =
        pcap_source_new(byte_input_open(path, false, error, sizeof error), path,
                        error, sizeof error);
    struct packet p;
    unsigned packets = 0, sum = 0;
    enum pcap_source_status status;
    while ((status = pcap_source_next(source, &p)) == PCAP_SOURCE_PACKET) {
        if (packets == 1000) {
            assert_int_equal(truncate(path, 200000), 0);
        }
        sum += p.data[0];
        packets++;
    }
    (void)sum;
    assert_int_equal(status, PCAP_SOURCE_BROKEN);
    assert_non_null(strstr(pcap_source_message(source), "became shorter"));
    pcap_source_free(source);
    test_free(many);
}

static void
test_cannot_open(void **state)
{
    (void)state;
    char error[256];
    assert_null(byte_input_open("/nonexistent/x", false, error, sizeof error));
    assert_non_null(strstr(error, "/nonexistent/x"));
    assert_null(byte_input_open(directory, false, error, sizeof error));
    assert_non_null(strstr(error, "directory"));
}

/* --- the filter ---------------------------------------------------------- */

static void
test_filter(void **state)
{
    static const struct {
        const char *expression;
        uint32_t link;
        bool want;
    } cases[] = {
        {"port 2049", 228, true},
        {"port 2050", 228, false},
        {"tcp and src host 10.0.0.1", 101, true},
        {"udp", 101, false},
        {"port 2049", 1, true},
        {"vlan and port 2049", 1, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char error[256];
        struct capture_filter *filter =
            capture_filter_new(cases[i].expression, error, sizeof error);
        assert_non_null(filter);
        static struct buffer frame;
        frame.length = 0;
        if (cases[i].link == 1) {
            add_ethernet(&frame, 0x0800);
        }
        add_tcp(&frame, &(struct tcp_packet){.from = CLIENT});
        struct packet packet = {.data = frame.data,
                                .captured = (uint32_t)frame.length,
                                .length = (uint32_t)frame.length,
                                .link_type = cases[i].link};
        assert_int_equal(capture_filter_match(filter, &packet), cases[i].want);
        capture_filter_free(filter);
    }
    char error[256];
    assert_null(capture_filter_new("prot 2049", error, sizeof error));
    assert_non_null(strstr(error, "prot 2049"));
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup(name, set_up)
    const struct CMUnitTest tests[] = {
        T(test_pcap_magics),    T(test_not_a_capture),
        T(test_pcap_cut),       T(test_pcap_lengths),
        T(test_pcapng),         T(test_pcapng_broken),
        T(test_snoop),          T(test_plain_and_compressed),
        T(test_compressed_cut), T(test_standard_input),
        T(test_file_shrinks),   T(test_cannot_open),
        T(test_filter),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
