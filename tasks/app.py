"""The Celery application. Its settings are celeryconfig.py, read when first needed."""

from celery import Celery

app = Celery("refund_agent")
app.config_from_object("celeryconfig")
