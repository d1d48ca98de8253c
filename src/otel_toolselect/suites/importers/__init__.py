"""One file per importer; a file's `PLUGIN` is found by scanning (see `suites.importing`)."""
