"""Sanitising what a summarizer is shown: sentences that talk to it, and what they look like."""
