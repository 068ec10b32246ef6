"""``constraintrot`` as a shell runs it."""

from click.testing import CliRunner, Result

from constraintrot.cli.main import main


def invoked(*words: object, input: str | None = None, exits: int | None = None) -> Result:
    """Run the command, and return its result; ``exits`` is the exit status that it has to have."""
    done = CliRunner().invoke(main, [str(word) for word in words], input=input)
    assert exits is None or done.exit_code == exits, done.output
    return done
