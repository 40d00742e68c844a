"""The server's document, fuzzed by schemathesis: whatever is asked, answers are as it says."""

import json

import pytest

pytest.importorskip("schemathesis")
pytest.importorskip("uvicorn")

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.specs.openapi import checks

from solver.serve.operations import OPERATIONS
from tests.serve.test_serve_processes import serving

pytestmark = [pytest.mark.slow, pytest.mark.faults]
EXAMPLES = settings(
    max_examples=40,
    derandomize=True,
    database=None,
    suppress_health_check=[*HealthCheck],
    phases=[Phase.explicit, Phase.generate],
)
# no schema says which texts are positions, and a batch refuses line by line
LEFT_OUT = [checks.positive_data_acceptance, checks.negative_data_rejection]


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    return json.dumps(value).encode() + b"\n"


@schemathesis.deserializer("application/x-ndjson")
def first_line(context, response):
    """What the document describes: an answer."""
    return json.loads(response.content.splitlines()[0])


@pytest.mark.filterwarnings("ignore")  # its own
def test_whatever_is_asked_is_answered_as_the_document_says():
    with serving("connect-four:4,4", "teeko", "chess-ending:KQK", "--workers", "1", "--live", "0.05") as (_, url):
        document = schemathesis.openapi.from_url(f"{url}v1/openapi.json")
        operations = [found.ok() for found in document.get_all_operations()]
        for operation in operations:

            @EXAMPLES
            @given(case=operation.as_strategy())
            def ask(case):
                case.call_and_validate(excluded_checks=LEFT_OUT)

            ask()
    assert len(operations) == len(OPERATIONS) - 1  # but for the document itself
