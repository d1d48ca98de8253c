"""What a running `serve` shows over HTTP beside the receiver: pages, the read API, the gateway to its embedded store.

`pages` says how to add a page, `api` how to add a part of the read API; `mounting` is what `serve` is given. On the way
of a request: `headers`, `bounds`, `signin.door` (who calls), the routes of `app`, `running` (into a thread and back),
`rendering`; errors become answers in `problems`.
"""
