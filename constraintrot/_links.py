"""The folders of the repository that are linked into the package, and what to say of a lost link.

Read by ``hatch_build.py`` too, which cannot import the package; so nothing is imported here.
"""

LINKED = ("attacks", "defenses", "harnesses", "tasks")
# Where git does not write symbolic links, a link is a file that holds its target.
FAULT = (
    "constraintrot/{} is no folder: this checkout lost its symbolic links, and half of the package"
    " with them; run `git config core.symlinks true` and then `git checkout -- constraintrot`"
    " (on Windows in developer mode), or install a wheel"
)
