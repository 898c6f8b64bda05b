#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each rule of lint.py finds a planted breach, and clean files pass."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lint  # noqa: E402

SPDX = "// SPDX-License-Identifier: GPL-3.0-or-later\n"


class LintTest(unittest.TestCase):
    def breaches(self, path, text):
        with tempfile.TemporaryDirectory() as root:
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as file:
                file.write(text)
            return list(lint.check(root, path))

    def test_clean_files_pass(self):
        for path, text in (
            ("core/runtime/a.cpp", SPDX + '#include "core/backend/store.h"\n'),
            ("core/sim/a.cpp", SPDX + '#include "core/backend/memory/memory_backend.h"\n'),
            ("ui/views/a.cpp", SPDX + '#include "core/lease/record.h"\n#include <QColor>\n'),
            ("ui/theme/a.cpp", SPDX + 'QColor c("#112233");\n'),
        ):
            self.assertEqual(self.breaches(path, text), [], path)

    def test_each_rule_finds_its_breach(self):
        for path, text in (
            ("core/lease/a.cpp", "int a;\n"),
            ("core/lease/a.cpp", SPDX + "\n" * lint.MAX_LINES),
            ("core/lease/a.cpp", SPDX + '#include "core/backend/store.h"\n'),
            ("core/election/a.cpp", SPDX + '#include "core/observe/fleet.h"\n'),
            ("core/sim/a.cpp", SPDX + '#include "core/backend/redis/redis_backend.h"\n'),
            ("core/lease/a.cpp", SPDX + '#include "ui/bridge/session.h"\n'),
            ("core/lease/a.cpp", SPDX + "#include <QtCore/QList>\n"),
            ("core/lease/a.cpp", SPDX + "#include <QList>\n"),
            ("ui/views/a.cpp", SPDX + '#include "core/net/byte_stream.h"\n'),
            ("ui/views/a.cpp", SPDX + '#include "core/backend/redis/redis_backend.h"\n'),
            ("ui/views/a.cpp", SPDX + 'QColor c("#112233");\n'),
            ("ui/views/a.cpp", SPDX + "QColor c{12, 13, 14};\n"),
            ("ui/views/a.cpp", SPDX + "p.setPen(Qt::darkRed);\n"),
            ("README.md", "see " + "/".join(("", "home", "somebody", "x")) + "\n"),
        ):
            self.assertEqual(len(self.breaches(path, text)), 1, (path, text[-60:]))


if __name__ == "__main__":
    unittest.main()
