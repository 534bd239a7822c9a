"""One module for each piece of an outside system. Only `refund_agent.wiring` and `wiring_*` name them."""
