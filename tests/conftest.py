"""What several files of tests read."""

import pytest

from tests.books import sample_book


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
