/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Capture files: pcap, pcapng, snoop. */
#include "capture/pcap_source.h"
#include "tests/fuzz/fuzz_input.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char error[512];
    struct byte_input *input = byte_input_memory(data, size);
    if (input == NULL) {
        return 0;
    }
    struct pcap_source *source =
        pcap_source_new(input, "input", error, sizeof error);
    if (source == NULL) {
        if (error[0] == '\0') {
            abort(); /* refused without a word */
        }
        return 0;
    }
    struct packet packet;
    enum pcap_source_status status;
    uint64_t bytes = 0;
    while ((status = pcap_source_next(source, &packet)) == PCAP_SOURCE_PACKET) {
        fuzz_look(packet.data, packet.captured);
        bytes += packet.captured;
    }
    if (bytes > size ||
        (status == PCAP_SOURCE_BROKEN) !=
            (pcap_source_message(source) != NULL)) {
        abort();
    }
    if (pcap_source_next(source, &packet) != status) {
        abort(); /* the end has to stay */
    }
    pcap_source_free(source);
    return 0;
}
