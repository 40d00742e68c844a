"""The only room with numba and numpy: rules compiled, and what runs them at speed."""
