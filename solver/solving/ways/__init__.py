"""The ways of solving, a file each: the games it refuses, the options it heeds, and how it solves (`job.Way`)."""
