#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Adds up what ctest reported: count_results.py REPORT.xml...

A Qt Test program counts with each of its test functions and rows, any other test counts as one;
a program that crashed, timed out or was never started is one failure more. Prints what failed,
then "N passed, N failed" as the last line; exits with 0 only without failures.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree

TOTALS = re.compile(r"^Totals: (\d+) passed, (\d+) failed, (\d+) skipped", re.MULTILINE)
FAILED = re.compile(r"^(?:FAIL!|XPASS)\s+: (.*)$", re.MULTILINE)
SKIPPED = re.compile(r"^SKIP\s+: (.*)$", re.MULTILINE)


def main(reports):
    passed = failed = skipped = 0
    for report in reports:
        try:
            cases = ElementTree.parse(report).getroot().findall("testcase")
        except (OSError, ElementTree.ParseError) as error:
            print(f"no result: {report}: {error}")
            failed += 1
            continue
        if not cases:
            print(f"no result: {report} names no test")
            failed += 1
        for case in cases:
            output = case.findtext("system-out") or ""
            totals = [tuple(map(int, found)) for found in TOTALS.findall(output)]
            fine = case.get("status") == "run"
            failures = sum(total[1] for total in totals)
            passed += sum(total[0] for total in totals) if totals else int(fine)
            skipped += sum(total[2] for total in totals)
            if not fine and failures == 0:
                failures = 1
                print(f"failed: {case.get('name')} ({case.get('status')}, as a whole)")
            failed += failures
            for name in FAILED.findall(output):
                print(f"failed: {case.get('name')}: {name}")
            for name in SKIPPED.findall(output):
                print(f"skipped: {case.get('name')}: {name}")
    if skipped:
        print(f"({skipped} skipped, counted as neither)")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
