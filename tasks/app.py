"""The Celery application. Its settings are celeryconfig.py, read when first needed."""

from celery import Celery

from tasks.transport import use_keeping_transport

use_keeping_transport()
app = Celery("refund_agent")
app.config_from_object("celeryconfig")
