/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The commands: argv[0] is the command's name (the program's for the test).
 * Each returns the exit status.
 */
#ifndef NAT_CLIENT_COMMANDS_H
#define NAT_CLIENT_COMMANDS_H

int cmd_test(int argc, char **argv);
int cmd_pcap(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_probe(int argc, char **argv);
int cmd_bench(int argc, char **argv);

#endif
