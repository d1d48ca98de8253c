"""One file per matching profile; a file's `PLUGIN` is found by scanning (see `rules.profile`)."""
