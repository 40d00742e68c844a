"""A game: the protocol, `Rules` with every optional method filled in, loading, parameters, notation, fingerprint.

Imports base, and the games by their names.
"""
