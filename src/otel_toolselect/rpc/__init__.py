"""Our own gRPC service, `toolselect.v1` (proto/toolselect/v1), on the gRPC port of `serve`.

`gen` is made from proto/; `wire` turns messages into data of `model` and back, for the service and for
`otel_toolselect.client` alike; the rest is the service. Thin: what it does is in `app`.
"""
