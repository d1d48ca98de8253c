"""What a running `serve` shows over HTTP beside the receiver: the gateway to its embedded store."""
