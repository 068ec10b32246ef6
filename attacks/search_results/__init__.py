"""The files of an attack search, and their attacks as ``-T attack=@FILE`` plays them.

``constraintrot.runs.attack_search`` fills these files; reading one needs no search.
"""
