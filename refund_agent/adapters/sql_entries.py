"""A conversation's own row and what was said in it, written in whichever transaction they belong to."""

import uuid

from sqlalchemy import Connection, Update, update

from refund_agent.adapters.sql_database import Database, now_ms
from refund_agent.adapters.sql_support_tables import conversations, entries
from refund_agent.conversations import Entry

_NAMES = uuid.UUID("6f1c1a52-0f0b-4a0e-9d0b-2f6a4f6f7b11")
"""The namespace of keyed entries' ids."""


def open_conversation(database: Database, tx: Connection, conversation_id: str, *, customer_id: str) -> None:
    """Store a new conversation, or bring one that is there already to the top."""
    new = {
        "id": conversation_id,
        "customer_id": customer_id,
        "owner": "agent",
        "created_at_ms": now_ms(),
        "updated_at_ms": now_ms(),
    }
    tx.execute(database.insert_or_ignore(conversations).values(new))
    tx.execute(touch(conversation_id))


def add_entry(database: Database, tx: Connection, conversation_id: str, entry: Entry) -> None:
    """Record an entry; one that is there already, by its id or key, changes nothing."""
    row = {
        "id": entry.id or (entry_id(entry.key) if entry.key else str(uuid.uuid4())),
        "conversation_id": conversation_id,
        "kind": entry.kind,
        "author": entry.author,
        "text": entry.text,
        "at_ms": now_ms(),
    }
    store = database.insert_or_ignore(entries).values(row).returning(entries.c.id)
    if tx.execute(store).one_or_none() is not None:
        tx.execute(touch(conversation_id))


def entry_id(key: str) -> str:
    """Return the id of the one entry that has this key."""
    return str(uuid.uuid5(_NAMES, key))


def touch(conversation_id: str) -> Update:
    """Build the UPDATE that brings a conversation to the top."""
    return update(conversations).where(conversations.c.id == conversation_id).values(updated_at_ms=now_ms())
