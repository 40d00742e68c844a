"""The ways of solving, a file each: what it refuses, which options it heeds, and how it solves (`job.Way`)."""
