"""Stand-ins for the outside services: model, payments, orders. Nothing in production imports this."""
