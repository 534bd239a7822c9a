"""A refund agent that a support team can trust with money. Start reading at `loop` and `refunds`."""
