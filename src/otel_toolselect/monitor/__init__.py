"""Watching production: policies on live data, alert states, notifiers (R47-R49, issue F)."""
