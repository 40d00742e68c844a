import pytest


@pytest.fixture
def path(tmp_path):
    """Where a test writes its book."""
    return tmp_path / "book.lmdb"
