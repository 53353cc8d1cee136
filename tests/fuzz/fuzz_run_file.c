/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file that a test writes. */
#include "analysis/run_file.h"
#include "tests/fuzz/fuzz_input.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run run;
    char error[512] = "";
    memset(&run, 0, sizeof run);
    if (run_parse((const char *)data, size, "run.json", &run, error,
                  sizeof error) == 0) {
        run_free(&run);
    } else if (error[0] == '\0') {
        abort(); /* refused without a word */
    }
    return 0;
}
