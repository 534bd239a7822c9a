"""Celery: decode, one call, encode."""
