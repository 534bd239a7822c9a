"""The customers in our own tables, for the picker of AUTH_MODE=dev."""

from sqlalchemy import select

from refund_agent.adapters.sql_database import Database
from refund_agent.adapters.sql_support_tables import customers
from refund_agent.identity import Customer, Person

MAX_LISTED = 100


def list_customers(database: Database) -> list[Person]:
    """Return the first hundred by name; raise `StoreUnavailable`."""
    asked = (
        select(customers.c.id, customers.c.name).order_by(customers.c.name, customers.c.id).limit(MAX_LISTED)
    )
    with database.transaction(read_only=True) as tx:
        return [Person(Customer(customer_id), name) for customer_id, name in tx.execute(asked)]
