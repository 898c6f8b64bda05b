#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of the house that a compiler does not check: lint.py SOURCE_DIR

Every file: at most 500 lines, an SPDX line on top, no path of somebody's machine. Rooms of core/
include only rooms below them, nothing of Qt, nothing of ui/ or app/; ui/ keeps to the engine's
values and facade; colours stand in ui/theme only. Prints "file:line: sentence" for each breach.
"""
import os
import re
import subprocess
import sys

MAX_LINES = 500
CODE = (".h", ".cpp", ".py", ".sh", ".cmake", ".lua", ".sql", ".yaml", ".qss")
NAMED = ("CMakeLists.txt", "run")
TEXT = CODE + (".md", ".json", ".desktop", ".xml", ".conf", ".supp", ".in", ".ts", ".txt")

# What each room of core/ may include besides itself (DESIGN.md section 1); closed below.
BELOW = {
    "base": set(),
    "lease": {"base"},
    "net": {"base"},
    "election": {"lease"},
    "observe": {"lease"},
    "churn": {"observe"},
    "backend": {"lease", "net"},
    "journal": {"observe", "churn"},
    "work": {"lease", "backend"},
    "runtime": {"election", "observe", "churn", "backend", "journal", "net", "work"},
    "drill": {"runtime"},
    "sim": {"election", "backend", "observe"},
}
# The console sees values and the facade; protocols and pure deciders are not its business.
NOT_FOR_UI = {"net", "election"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
MACHINE_PATH = re.compile(r"(?<![\w.:-])/(?:home|Users|root|work)/[A-Za-z0-9_]")
COLOUR = re.compile(
    r'"#[0-9a-fA-F]{3,8}\b|\bQColor\s*(?:\w+\s*)?[({]\s*(?:\d|0x|")|\bqRgba?\s*\(\s*\d'
    r"|\bQt::(?:black|white|(?:dark|light)?(?:[rR]ed|[gG]reen|[bB]lue|[gG]r[ae]y)"
    r"|(?:dark)?(?:[cC]yan|[mM]agenta|[yY]ellow))\b")


def closure(room):
    reached, waiting = set(), {room}
    while waiting:
        now = waiting.pop()
        reached.add(now)
        waiting |= BELOW.get(now, set()) - reached
    return reached


def project_files(root):
    """What git knows or would add; without git (an unpacked archive) everything but build/."""
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        names = listed.stdout.decode().split("\0")
        return sorted(n for n in names if n and os.path.isfile(os.path.join(root, n)))
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f not in ("build", ".git", ".cache", "__pycache__")]
        found += [os.path.relpath(os.path.join(folder, n), root) for n in names]
    return sorted(found)


def include_breach(path, quote, target):
    parts, wanted = path.split("/"), target.split("/")
    if parts[0] == "core":
        if re.match(r"(Q[A-Z]|Qt)", target):
            return f"core/ knows no Qt, but includes <{target}>"
        if wanted[0] in ("ui", "app", "tests"):
            return f"core/ may not include {target}"
        if wanted[0] == "core" and wanted[1] not in closure(parts[1]):
            return f"core/{parts[1]} may not include {target}: that room is not below it"
        if "/".join(parts[:2]) == "core/sim" and len(wanted) > 3 and wanted[1] == "backend" \
                and wanted[2] != "memory":
            return f"core/sim may include no backend but memory, not {target}"
    if parts[0] == "ui" and wanted[0] == "core" and quote == '"':
        if wanted[1] in NOT_FOR_UI or (wanted[1] == "backend" and len(wanted) > 3):
            return f"ui/ may not include {target}: it keeps to values and the facade"
    if parts[0] in ("core", "ui") and wanted[0] == "app":
        return f"{parts[0]}/ may not include {target}"
    return None


def check(root, path):
    name = os.path.basename(path)
    is_code = path.endswith(CODE) or name in NAMED
    if not is_code and not path.endswith(TEXT):
        return
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    if len(lines) > MAX_LINES:
        yield 1, f"{len(lines)} lines; a file has at most {MAX_LINES}"
    if is_code and not any("SPDX-License-Identifier: GPL-3.0-or-later" in l for l in lines[:4]):
        yield 1, "no SPDX line in the first four lines"
    for number, line in enumerate(lines, 1):
        if MACHINE_PATH.search(line):
            yield number, "a path of somebody's machine"
        included = INCLUDE.match(line)
        breach = included and include_breach(path, *included.groups())
        if breach:
            yield number, breach
        if path.startswith("ui/") and not path.startswith("ui/theme/") and COLOUR.search(line):
            yield number, "a literal colour outside ui/theme"
        if path.startswith("core/") and re.search(r"\bQ(String|Object|Timer|Thread)\b", line):
            yield number, "core/ knows no Qt"


def main(root):
    files = project_files(root)
    breaches = [(path, *breach) for path in files for breach in check(root, path)]
    for path, number, sentence in breaches:
        print(f"{path}:{number}: {sentence}")
    print(f"{len(files)} files looked at, {len(breaches)} breaches")
    return 1 if breaches or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "."))
