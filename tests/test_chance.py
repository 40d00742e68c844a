"""Games of chance: their rules, their published values, and the plain algorithms against an independent judge."""



def play_outs(game, count, chance, length=200):
    """States along random games, chance nodes among them."""
    for _ in range(count):
        state = game.initial()
        yield state
        for _ in range(length):
            if game.is_terminal(state):
                break
            following = [child for _, child in game.chance(state)]
            following = following or [game.result(state, action) for action in game.actions(state)]
            state = chance.choice(following)
            yield state
