#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The permission matrix out of the runs of permissions.job, and its check.

usage: permission_matrix.py RESULTS

What must hold has its source beside it; the rest is printed as measured.
"""
import json
import os
import sys

WHO = ["owner", "writer", "reader", "execute-only", "root-squash",
       "read-only"]
METHODS = ["none", "setattr", "read", "open-read", "direct-read"]
EXECS = 10


def load(results, who, version):
    with open(os.path.join(results, f"{who}-{version}.json")) as file:
        return json.load(file)


def words(counts):
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def main():
    results = sys.argv[1]
    versions = sorted({name[:-5].rsplit("-", 1)[1]
                       for name in os.listdir(results)
                       if name.endswith(".json") and
                       name[:-5].rsplit("-", 1)[0] in WHO})
    problems = []
    cells = {}
    print("| who | NFS | method | errno | SETATTR | READ | NFS status "
          "| atime on the server |")
    print("|---|---|---|---|--:|--:|---|---|")
    for who in WHO:
        for version in versions:
            for group in load(results, who, version)["groups"]:
                if group["method"] not in METHODS:
                    continue
                moved = group["server_atime"]
                exported = group["export_atime"]
                key = (who, version, group["method"])
                cells[key] = group
                errors = {**group["exec_errors"], **group["method_errors"]}
                operations = group["operations"]
                word = ("unknown" if moved is None else
                        "moved" if moved["moved"] else "not moved")
                print(f"| {who} | {version} | {group['method']} "
                      f"| {words(errors) or '-'} "
                      f"| {operations.get('SETATTR', 0)} "
                      f"| {operations.get('READ', 0)} "
                      f"| {words(group['nfs_errors']) or '-'} | {word} |")
                # The server's word over the wire against stat on the file
                # system that it exports.
                if moved is not None and exported is not None and \
                        moved["moved"] != exported["moved"]:
                    problems.append(f"{key}: the server says {moved}, its "
                                    f"file system {exported}")

    def need(key, condition, why):
        if key not in cells:
            problems.append(f"{key}: no such cell")
        elif not condition(cells[key]):
            problems.append(f"{key}: {why}")

    for version in versions:
        # POSIX utimensat: the owner may.
        need(("owner", version, "setattr"),
             lambda g: not g["method_errors"] and
             g["operations"].get("SETATTR") == EXECS and
             g["server_atime"]["moved"] == 1,
             "the owner's SETATTRs must all succeed and move the atime")
        # POSIX utimensat, ERRORS: neither owner nor writer may not, and
        # nothing may have moved.
        for who in ("reader", "execute-only"):
            need((who, version, "setattr"),
                 lambda g: sum(g["method_errors"].values()) == EXECS and
                 set(g["method_errors"]) <= {"EACCES", "EPERM"} and
                 g["server_atime"]["moved"] == 0,
                 "one who may not write must be refused")
        # No read permission, so no read: but exec must work (0711).
        need(("execute-only", version, "open-read"),
             lambda g: g["method_errors"] == {"EACCES": EXECS},
             "0711 does not let others read")
        need(("execute-only", version, "none"),
             lambda g: not g["exec_errors"], "0711 lets others execute")
        # root is nobody there: no owner and no writer.
        need(("root-squash", version, "setattr"),
             lambda g: sum(g["method_errors"].values()) == EXECS and
             g["server_atime"]["moved"] == 0,
             "a squashed root must be refused")
        # The client itself refuses on a read-only mount: no SETATTR at all.
        need(("read-only", version, "setattr"),
             lambda g: g["method_errors"] == {"EROFS": EXECS} and
             g["operations"].get("SETATTR", 0) == 0 and
             g["server_atime"]["moved"] == 0,
             "a read-only mount refuses by itself")
        # And yet a READ that reaches the server moves its atime.
        need(("read-only", version, "direct-read"),
             lambda g: not g["method_errors"] and
             g["operations"].get("READ", 0) >= EXECS and
             g["server_atime"]["moved"] == 1,
             "a read through a read-only mount moves the server's atime")
    for problem in problems:
        print("PROBLEM", problem)
    sys.exit(1 if problems or len(versions) < 2 else 0)


main()
