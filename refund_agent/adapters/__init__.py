"""One module per outside system; only `refund_agent.wiring` names them."""
