"""Arrays of states in files and in order: the columns of a work folder, runs, directories, sorting. No rules."""
