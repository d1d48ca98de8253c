"""A month of decisions with known incidents: a plan, the traffic that it makes, and what alerts must say of it."""
