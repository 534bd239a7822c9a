"""Stand-ins for the two outside services, over real HTTP. Nothing in production imports this."""
