"""Rules compiled by Numba, and what runs them: searches, comparisons with the plain rules, the audit of a book."""
