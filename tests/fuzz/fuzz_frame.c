/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frames of one link type, and the datagrams that their fragments make:
 * link type (2 bytes), then frames: captured (2), missing (1), bytes. */
#include "capture/frame.h"
#include "capture/ip_fragments.h"
#include "tests/fuzz/fuzz_input.h"

static void
look(const struct frame *frame)
{
    if (frame->captured > frame->length || frame->address_length > 16) {
        abort();
    }
    fuzz_look(frame->source, frame->address_length);
    fuzz_look(frame->destination, frame->address_length);
    fuzz_look(frame->payload, frame->captured);
}

static void
datagram(void *context, const struct ip_datagram *datagram)
{
    (void)context;
    uint64_t end = 0;
    for (unsigned i = 0; i < datagram->piece_count; i++) {
        const struct rpc_piece *piece = &datagram->pieces[i];
        if (piece->offset < end) {
            abort(); /* pieces overlap or are out of order */
        }
        end = (uint64_t)piece->offset + piece->length;
        fuzz_look(piece->data, piece->length);
    }
    struct frame frame = datagram->frame;
    look(&frame);
    if (frame_decode_payload(&frame) == FRAME_TRANSPORT) {
        look(&frame);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    /* Made once: it is large, and empty again after everything expired. */
    static struct packet_losses losses;
    static struct ip_fragments *fragments;
    if (fragments == NULL) {
        const struct ip_fragments_sink sink = {NULL, datagram};
        fragments = ip_fragments_new(&sink, &losses);
        if (fragments == NULL) {
            abort();
        }
    }
    uint32_t link_type = fuzz_number(&input, 2);
    int64_t now = 0;
    while (input.left > 0) {
        uint32_t captured = fuzz_number(&input, 2);
        uint32_t missing = fuzz_number(&input, 1) * 256;
        uint8_t *bytes = fuzz_run(&input, &captured);
        struct frame frame;
        switch (frame_decode(link_type, bytes, captured, captured + missing,
                             &frame)) {
        case FRAME_TRANSPORT:
            look(&frame);
            break;
        case FRAME_FRAGMENT:
            look(&frame);
            ip_fragments_add(fragments, &frame, now);
            break;
        default:
            break;
        }
        free(bytes);
        now += (int64_t)missing * 10000000;
        if (ip_fragments_deadline(fragments) <= now) {
            ip_fragments_expire(fragments, now);
        }
    }
    ip_fragments_expire(fragments, INT64_MAX);
    return 0;
}
