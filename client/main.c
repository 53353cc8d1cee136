/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/commands.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
#ifdef WITH_CMD_PCAP
    {"pcap", cmd_pcap},
#endif
#ifdef WITH_CMD_REPORT
    {"report", cmd_report},
#endif
#ifdef WITH_CMD_COMPARE
    {"compare", cmd_compare},
#endif
#ifdef WITH_CMD_PROBE
    {"probe", cmd_probe},
#endif
#ifdef WITH_CMD_BENCH
    {"bench", cmd_bench},
#endif
    {"test", cmd_test},
};

int
main(int argc, char **argv)
{
    static char help[] = "--help";
    char *asked[] = {argv[0], help, NULL};

    /* A pipe that closes is an error like any other, told by write. */
    signal(SIGPIPE, SIG_IGN);
    if (argc < 2 || argv[1][0] == '-')
        return cmd_test(argc, argv);
    if (strcmp(argv[1], "help") == 0) {
        if (argc == 2)
            return cmd_test(2, asked);
        argv[1] = argv[2];
        argv[2] = help;
        argc = 3;
    }
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    fprintf(stderr, "nfs-atime-test: there is no command \"%s\" (--help shows "
            "them)\n", argv[1]);
    return 2;
}
