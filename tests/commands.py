"""Commands of the program, run in this process."""

from click.testing import CliRunner

from solver.cli import main


def run(*arguments, stdin=None):
    """Exit code, stdout, stderr of a command in this process."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def ok(*arguments, stdin=None):
    """The output of a command that must succeed."""
    code, out, err = run(*arguments, stdin=stdin)
    assert code == 0, err
    return out
