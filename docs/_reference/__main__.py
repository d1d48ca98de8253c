"""`python -m docs._reference NAME`: one generated part, as Markdown."""

import sys

from docs._reference import PARTS

if len(sys.argv) != 2 or sys.argv[1] not in PARTS:
    sys.exit(f"usage: python -m docs._reference NAME; there are: {', '.join(PARTS)}")
print(PARTS[sys.argv[1]]())
