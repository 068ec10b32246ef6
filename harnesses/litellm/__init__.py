"""Constraint Pinning at a LiteLLM proxy: for every OpenAI-compatible client that points at it.

A file beside the proxy's configuration names the guardrail, ``pins.py``::

    from constraintrot.litellm import PinGuardrail

and ``config.yaml`` says what is pinned::

    guardrails:
      - guardrail_name: pins
        litellm_params:
          guardrail: pins.PinGuardrail
          mode: pre_call
          default_on: true
          policies:
            - Send email only to addresses at example.org.

The client is not trusted. Four checks stand between it and an upstream model: the route
(``routes``), the keys of the request's body (``request_keys``), the pins in the request
(``placement``), and their verification at each call of a deployment (``guardrail``).
"""
