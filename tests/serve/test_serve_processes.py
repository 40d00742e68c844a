"""The server as its users run it: the sessions of the guide by curl, signals, workers, a port that is taken."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests import ROOT

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from solver.base.errors import ResourceError
from solver.serve import running
from solver.serve.operations import OPERATIONS
from tests.processes import python
from tests.refusals import raises
from tests.sessions import blocks, commands, matches, shell
from tests.ways import slow_rows, until

PAGES = [ROOT / "docs" / name for name in ("guides/serve.md", "reference/http.md")]
pytestmark = pytest.mark.posix("signals and forks")


@contextmanager
def serving(*arguments, head_time=None):
    """A server, and where it is."""
    code = "from solver.__main__ import main; from solver.serve import running;"
    code += "" if head_time is None else f"running.HEAD_TIME = {head_time};"
    command = [sys.executable, "-c", f"{code} main()", "serve", *arguments, "--port", "0"]
    own = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=ROOT, env=own, **pipes) as process:
        try:
            url = process.stdout.readline().partition(" ")[0]
            assert url.startswith("http://127.0.0.1:"), process.stderr.read()
            yield process, url
        finally:
            process.kill()


def asked(url):
    with urllib.request.urlopen(url, timeout=300) as heard:
        return json.load(heard)


def connected(url):
    host, port = re.fullmatch("http://(.*):(.*)/", url).groups()
    return socket.create_connection((host, int(port)), timeout=300)


def children(process):
    return [int(one) for one in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text("utf-8").split()]


def test_every_session_of_the_guide_prints_what_it_says():
    if shutil.which("curl") is None:
        pytest.skip("curl is not there")
    sessions = [block.text for page in PAGES for block in blocks(page) if block.kind == "console"]
    pairs = [pair for text in sessions for pair in commands(text)]
    with serving("connect-four:4,4", "connect-four", "chess-ending:KQK", "--workers", "1") as (_, url):
        for command, expected in pairs:
            done = shell(command.replace("http://127.0.0.1:8000/", url))
            assert matches(expected, done.stdout), f"$ {command}\n{done.stdout}{done.stderr}"
    assert len(pairs) >= 7


@pytest.mark.parametrize(("workers", "number", "code"), [(2, signal.SIGTERM, 143), *slow_rows((1, signal.SIGINT, 130))])
def test_a_signal_ends_it_as_every_command(workers, number, code):
    with serving("tic-tac-toe", "--workers", str(workers)) as (process, url):
        assert asked(f"{url}v1/books/tic-tac-toe/positions/start")["value"] == "draw"
        process.send_signal(number)
        assert process.wait(300) == code
        assert process.stderr.read().strip() == f"Error: {'interrupted' if code == 130 else 'terminated'}"
    raises(OSError, None, asked, url)


@pytest.mark.slow
def test_requests_under_way_are_answered_before_it_ends():
    """A batch that is being sent while SIGTERM comes."""
    with serving("tic-tac-toe", "--workers", "2") as (process, url):
        with connected(url) as line:
            body = b'"start"\n' * 10
            head = b"POST /v1/books/tic-tac-toe/positions?moves=false HTTP/1.1\r\nHost: x\r\n"
            line.sendall(head + b"Content-Length: %d\r\nExpect: 100-continue\r\n\r\n" % len(body))
            assert line.recv(1000).startswith(b"HTTP/1.1 100")  # the server has begun to read
            process.send_signal(signal.SIGTERM)
            line.sendall(body)
            heard = line.makefile("rb").read()
            assert heard.startswith(b"HTTP/1.1 200") and heard.count(b'"game":"tic-tac-toe"') == 10
        assert process.wait(300) == 143


@pytest.mark.faults
@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_a_worker_that_dies_is_replaced_and_none_outlives_its_parent():
    with serving("tic-tac-toe", "--workers", "2") as (process, url):
        until(lambda: len(children(process)) == 2)
        first = children(process)
        os.kill(first[0], signal.SIGKILL)
        until(lambda: len(set(children(process)) - set(first)) == 1)
        for _ in range(20):
            assert asked(f"{url}v1/books/tic-tac-toe/positions/start")["source"] == "book"
        left = children(process)
        process.kill()
        process.wait()
        until(lambda: not any(Path(f"/proc/{one}").exists() for one in left))


@pytest.mark.faults
def test_workers_that_cannot_start_are_given_up():
    """And their number is bounded: here each ends as soon as it begins."""
    code = "import sys; from solver.serve import running; running.run(sys.exit, running.bound('127.0.0.1', 0, 2), 2, 0)"
    assert "workers die as soon as they start: --workers 1 says why\n" in python(code, timeout=300).stderr


@pytest.mark.parametrize("workers", [1, 2])
def test_a_port_that_is_taken_is_refused(workers):
    """Also where several sockets may share one."""
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(ResourceError, match="--port 0 takes one"):
        running.bound("127.0.0.1", taken.getsockname()[1], workers)
    raises(ResourceError, "--host 127.0.0.1 is this machine", running.bound, "no.such.host.invalid", 0, workers)
    sockets = running.bound("127.0.0.1", 0, workers)
    raises(ResourceError, None, running.bound, "127.0.0.1", sockets[0].getsockname()[1], workers)
    for one in sockets:
        one.close()


def exchanged(url, *parts):
    """The status and JSON that come back for parts of a request, sent one after the other until the server hangs up."""
    with connected(url) as line:
        for part in parts:
            line.sendall(part)
        status, _, rest = line.makefile("rb").read().partition(b"\r\n")
    return int(status.split()[1]), json.loads(rest.partition(b"\r\n\r\n")[2])


def test_heads_that_are_too_long_are_refused_in_a_line():
    """At once, and while they still come; shorter ones are answered, and so is the next client."""
    get, close = b"GET /v1/books/tic-tac-toe/positions/start?moves=false", b"connection: close\r\n\r\n"
    long = b"x-long: " + b"a" * 200_000
    fits, many = (b"x-1: %s\r\n" % (b"a" * 1000) * count for count in (60, 70))
    with serving("tic-tac-toe", "--workers", "1", head_time=3600) as (_, url):
        for status, parts in (
            (200, [get, b" HTTP/1.1\r\n" + fits + close]),
            (414, [b"GET /" + b"a" * 9_000 + b" HTTP/1.1\r\n" + close]),
            (431, [get, b" HTTP/1.1\r\n", long, b"\r\n" + close]),
            (431, [get, b" HTTP/1.1\r\nx-endless: ", *[b"a" * 10_000] * 20]),
            (431, [get, b" HTTP/1.1\r\n", many, close]),
        ):
            said, facts = exchanged(url, *parts)
            assert said == status and (status == 200 or list(facts) == ["error"]), (status, said, facts)
        assert asked(f"{url}v1/books/tic-tac-toe/positions/start")["value"] == "draw"


def test_connections_that_wait_for_a_head_for_too_long_are_closed():
    """Those that send nothing, a part, or a blank line after an answer; a body may take longer."""
    get, slowly = b"GET /v1/books/tic-tac-toe/positions/start?moves=false HTTP/1.1\r\n", b"x-slow: "
    post = b"POST /v1/books/tic-tac-toe/positions?moves=false HTTP/1.1\r\nContent-Length: 8\r\n"
    with serving("tic-tac-toe", "--workers", "1", head_time=1) as (_, url), ExitStack() as stack:

        def opened(sent, answer=b"", more=b""):
            line = stack.enter_context(connected(url))
            line.sendall(sent)
            assert not answer or line.recv(1 << 16).startswith(answer)
            line.sendall(more)
            return line

        body = opened(post + b"Expect: 100-continue\r\n\r\n", b"HTTP/1.1 100")
        silent, begun = opened(b""), opened(get + slowly)
        blank = opened(get + b"\r\n", b"HTTP/1.1 200", b"\r\n")
        second = opened(get + b"\r\n", b"HTTP/1.1 200", get + slowly)
        ends = [line.makefile("rb").read() for line in (silent, begun, blank, second)]
        assert [b"HTTP/1.1 408 " in end for end in ends] == [False, True, False, True]
        body.sendall(b'"start"\n')
        assert body.recv(1000).startswith(b"HTTP/1.1 200")


@pytest.mark.slow
@pytest.mark.faults
@pytest.mark.filterwarnings("ignore")  # its own
def test_whatever_is_asked_is_answered_as_the_document_says():
    """The server's document, fuzzed by schemathesis."""
    schemathesis = pytest.importorskip("schemathesis")
    from schemathesis.specs.openapi import checks

    schemathesis.serializer("application/x-ndjson")(lambda context, value: json.dumps(value).encode() + b"\n")
    # What the document describes is an answer: a line
    first_line = lambda context, response: json.loads(response.content.splitlines()[0])  # noqa: E731
    schemathesis.deserializer("application/x-ndjson")(first_line)
    # No schema says which texts are positions, and a batch refuses line by line
    left_out = [checks.positive_data_acceptance, checks.negative_data_rejection]
    options = {"max_examples": 40, "derandomize": True, "database": None, "suppress_health_check": [*HealthCheck]}
    with serving("connect-four:4,4", "teeko", "chess-ending:KQK", "--workers", "1", "--live", "0.05") as (_, url):
        document = schemathesis.openapi.from_url(f"{url}v1/openapi.json")
        operations = [found.ok() for found in document.get_all_operations()]
        for operation in operations:

            @settings(**options, phases=[Phase.explicit, Phase.generate])
            @given(case=operation.as_strategy())
            def ask(case):
                case.call_and_validate(excluded_checks=left_out)

            ask()
    assert len(operations) == len(OPERATIONS) - 1  # but for the document itself
