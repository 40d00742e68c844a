"""Code that games share, no games: boards of five by five, men that slide, pawns, throws, choices of cells."""
