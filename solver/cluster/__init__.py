"""Solving a game past one machine: the sweep as pure tasks on shards of tiers, whose files are the only lasting state.

`tasks` is the work on a shard, `driver` orders it, `store` keeps files and commits, and an `engine` runs
the tasks: threads of this process, or Ray. The book is the same, byte for byte, whatever the engine and the shards.
"""
