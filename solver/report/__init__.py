"""Report: facts and words of every result, one source for the command line, its JSON and whoever else serves answers.

Facts are values that `json.dumps` takes; words are made of facts. Imports play and below.
"""
