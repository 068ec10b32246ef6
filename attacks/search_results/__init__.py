"""What an attack search writes, and how ``-T attack=@FILE`` plays an attack from it.

``constraintrot.attack_search`` fills these files; reading one needs no search.
"""
