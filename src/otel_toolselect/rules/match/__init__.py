"""One file per argument matcher; a file's `PLUGIN` is found by scanning (see `rules.matching`)."""
