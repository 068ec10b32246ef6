"""The files of an attack search, and their attacks for ``-T attack=@FILE``.

``constraintrot.runs.attack_search`` writes these files.
"""
