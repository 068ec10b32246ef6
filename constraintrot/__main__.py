"""``python -m constraintrot``: the command, where its script is not on the path."""

from constraintrot.cli.main import main

main(prog_name="constraintrot")
