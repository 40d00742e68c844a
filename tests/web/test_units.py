"""The unit tests of the JavaScript, in one process of Node (`make javascript` runs them by Node's own runner, too)."""

import json
import subprocess

from tests import ROOT
from tests.exports import needs_node


@needs_node
def test_the_units_of_the_javascript():
    files = [path.as_uri() for path in sorted((ROOT / "tests" / "javascript").glob("*.test.mjs"))]
    script = f"for (const file of {json.dumps(files)}) await import(file);"
    command = ["node", "--test-reporter=tap", "--input-type=module", "-e", script]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, "\n".join(line for line in done.stdout.splitlines() if "not ok" in line) + done.stderr
    assert "\n# fail 0\n" in done.stdout and "\n# pass 0\n" not in done.stdout
