"""What several files of tests read."""

import gc

import pytest

from tests.books import sample_book


def pytest_collection_finish(session):
    """The compiler's many objects stay: looking through them again and again takes a tenth of the time to compile."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 1000)


@pytest.fixture(scope="session")
def sample(tmp_path_factory):
    """A book of several segments, its path and its values."""
    return sample_book(tmp_path_factory, "instant")


@pytest.fixture(scope="session")
def compacted(tmp_path_factory):
    """The same, compact."""
    return sample_book(tmp_path_factory, "compact")


@pytest.fixture(params=["instant", "compact"])
def either(request):
    """Each of the two."""
    return request.getfixturevalue({"instant": "sample", "compact": "compacted"}[request.param])
