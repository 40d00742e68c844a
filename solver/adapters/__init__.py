"""What others speak: OpenSpiel's games, bots and policies, and PettingZoo's environments, over our rules and books.

Each file is an extra of its own, `[openspiel]` and `[pettingzoo]`; nothing else of the package imports this room.
"""
