"""Refusals, a line each: by which error or exit code, with which words, and what is asked."""

from unittest.mock import Mock

import pytest

from tests.commands import run


def failing(error):
    """Make a function that raises this error, whatever it is given."""
    return Mock(side_effect=error)


def raises(error, words, call, *arguments, **options):
    """A call fails by this error, whose message has these words, a pattern; None for any."""
    with pytest.raises(error, match=words):
        call(*arguments, **options)


def fails(code, words, *command, stdin=None):
    """A command ends with this exit code, prints nothing else than an error, and that has these words."""
    found, out, error = run(*command, stdin=stdin)
    assert (found, out) == (code, ""), error
    assert words in error, error
