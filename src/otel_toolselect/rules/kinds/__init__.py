"""One file per kind of check; a file's `PLUGIN` is found by scanning (see `rules.check`)."""
