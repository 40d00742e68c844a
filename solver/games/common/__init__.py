"""What games share: no games of their own. Boards of five by five, men that slide, pawns, throws, choices of cells."""
