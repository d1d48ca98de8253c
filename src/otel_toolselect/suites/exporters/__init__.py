"""One file per exporter; a file's `PLUGIN` is found by scanning (see `suites.exporting`)."""
