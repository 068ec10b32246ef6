"""Receipts as events of a framework's open span, and as lines of the logger."""

from opentelemetry import trace

from constraintrot.defenses.pinning.pinned_block import Receipt, log_receipt


def trace_receipt(receipt: Receipt) -> None:
    """Log a receipt, and add it to the current span as the event ``constraintrot.pins``."""
    log_receipt(receipt)
    span = trace.get_current_span()
    if not span.is_recording():
        return
    known = receipt.model_dump(mode="json", exclude_none=True)
    span.add_event("constraintrot.pins", known)
