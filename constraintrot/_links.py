"""The top-level folders that are linked into the package, and the error for a lost link.

``hatch_build.py`` runs this file too and cannot import the package, so it has no imports.
"""

LINKED = ("attacks", "defenses", "harnesses", "tasks")
# Where git does not write symbolic links, a link is a file that holds its target.
FAULT = (
    "constraintrot/{} is no folder: this checkout lost its symbolic links, and half of the package"
    " with them; run `git config core.symlinks true` and then `git checkout -- constraintrot`"
    " (on Windows in developer mode), or install a wheel"
)
