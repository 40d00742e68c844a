"""How a solve on a cluster is cut up: what its driver keeps to, and plans of one reckon with."""

KEY = 8  # bytes of a state
TASK = 1 << 30  # bytes of memory that a task takes, at most: tasks of some seconds
TASK_BYTES = 256  # of it, for a state
LEAST = 1 << 17  # states worth a task of their own, where workers are idle
MOST_BLOCKS = 256  # that a task returns: of more shards several share one
BATCH = 256  # tasks whose blocks are split by one
NEAR = 1 << 14  # states of a tier that are not worth the way to another process: the driver sees to it itself
AHEAD = 1.25  # by how much the next tier may be larger than it is taken to be, when its shards are counted
OBJECTS = 0.3  # of the memory, for what tasks pass on; more goes to files
# of the merge into the book: bytes of all files together that are held, states of one file that are read at a time
BUFFERED, LEAST_READ, MOST_READ = 256 << 20, 1 << 12, 1 << 18
