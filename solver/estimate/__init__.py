"""The cost of solving, before it is begun, here or on a cluster.

Imports solving, sweep and below.
"""
