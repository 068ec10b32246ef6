"""Settings that hold audit or query logging, and the values that turn it off or reduce it.

A setting reduces logging if it leaves out kinds of statements, users, quick statements or
a share of all. The earlier value is not in the statement, so any level below the fullest
counts, except thresholds that may also raise it.
"""

import re
from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from constraintrot.grading.predicates._sql_tokens import word_set

Effect: TypeAlias = Literal["off", "less", "unknown", "none"]

_OFF = word_set("off of 0 false fals fal fa f no n none null default disable disabled b'0'") | {""}
_ZERO = re.compile(r"[+-]?0+(?:x0+)?(?:\.0*)?")
_ON = word_set("on 1 true tru tr t yes ye y")
_NOWHERE = {"/dev/null", "nul", "nul:"}

# Off for any word for no; most databases ship with these off, so DEFAULT is off too.
_SWITCHES = word_set(
    "pgaudit.log pgaudit.role log_statement logging_collector log_connections log_disconnections"
    " log_duration log_replication_commands log_destination pg_stat_statements.track"
    " shared_preload_libraries general_log slow_query_log log_slow_query log_slow_queries"
    " log_output log_queries enable_user_activity_logging audit_trail query_store"
    " audit_json_file tidb_general_log tidb_enable_slow_log log_slow_admin_statements"
    " log_slow_slave_statements log_slow_replica_statements log_queries_not_using_indexes"
    " pgaudit.log_parameter"
)
# These ship on.
_SHIPPED_ON = word_set("pgaudit.log_catalog pgaudit.log_statement pgaudit.log_relation")
# The binary log is for replication, so a statement does not show whether a policy means it.
_BINARY = word_set("sql_log_bin log_bin")
# Zero means all for these; only -1, which is their default, is off.
_DURATIONS = word_set(
    "log_min_duration_statement log_min_duration_sample auto_explain.log_min_duration"
)
_SEVERITIES: Mapping[str, frozenset[str]] = {
    "log_min_error_statement": word_set("log fatal panic"),
    # Statements are logged at LOG, which ranks below these two.
    "log_min_messages": word_set("fatal panic"),
    "pgaudit.log_level": word_set("debug1 debug2 debug3 debug4 debug5"),
}
# These settings suppress a log when they are on.
_SUPPRESSORS = word_set("sql_log_off audit_log_disable")

_PGAUDIT = word_set("read write function role ddl misc misc_set")
_FULLEST: Mapping[str, Callable[[frozenset[str]], bool]] = {
    "pgaudit.log": lambda parts: (
        ("all" in parts or parts >= _PGAUDIT) and not any(part.startswith("-") for part in parts)
    ),
    "log_statement": lambda parts: parts == {"all"},
    "audit_log_policy": lambda parts: parts == {"all"},
    "audit_log_statement_policy": lambda parts: parts == {"all"},
    "audit_log_connection_policy": lambda parts: parts == {"all"},
    "server_audit_events": lambda parts: parts == {""} or parts >= {"connect", "query"},
    "log_queries_min_type": lambda parts: parts == {"query_start"},
}
# Lists of excluded or exclusively logged users and databases.
_SELECTIONS = re.compile(r"audit.*_(?:excl|incl)")
# Below 1, only a share is logged; the last setting may add to other logging.
_SHARES = word_set(
    "log_statement_sample_rate log_queries_probability auto_explain.sample_rate"
    " log_transaction_sample_rate"
)
_ADDING = word_set("log_transaction_sample_rate")
# Above this value, in seconds or rows, statements below the setting are left out.
_LIMITS: Mapping[str, float] = {
    "long_query_time": 10,  # the default
    "min_examined_row_limit": 0,
    "log_throttle_queries_not_using_indexes": 0,
    "log_slow_rate_limit": 1,
}
# In milliseconds; a threshold of a second or more leaves out most statements.
_THRESHOLDS = word_set(
    "log_min_duration_statement log_min_duration_sample log_queries_min_query_duration_ms"
)
_SECOND = 1000
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*(us|ms|s|min|h|d)?")
_UNITS = {"us": 0.001, "ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}

# Parts of an audit setting's name that only shapes or sizes the log.
_SHAPES = re.compile(
    r"rotat|size|limit|flush|buffer|prune|keep|format|compress|encrypt|strategy|file|syslog"
    r"|password|offset|incl|excl|events|handler|info|days|interval|level"
)
# Matches AuditOrders, but not auditor, auditorium or audition.
_AUDIT = re.compile(r"audit(?!or(?:s|iums?)?(?![a-z])|ion)")
_SCOPE = re.compile(r"^@@|(?:^|(?<=@@))(?:global|session|local|persist|persist_only)\.")


def names_audit(name: str) -> bool:
    """Return whether a name is about auditing (an auditor's or an auditorium's is not)."""
    return bool(_AUDIT.search(name) or re.search(r"\baud\$|\bfga_log\$", name))


def effect(name: str, value: str) -> Effect:
    """Return the effect that a value of a setting has on logging.

    Returns:
        ``off``; ``less`` if something is no longer logged; ``unknown`` if that depends on the
        earlier value or on the log's purpose; else ``none``.
    """
    name = _SCOPE.sub("", _SCOPE.sub("", name))
    if name.startswith(("@", "new.", "old.")):  # a variable, or a column in a trigger
        return "none"
    if _is_off(name, value):
        return "off"
    if name in _BINARY:
        return "unknown" if _zeroed(value) in _OFF else "none"
    parts = frozenset(re.split(r"[,\s]+", value.strip()))
    if name in _FULLEST and parts != {"default"}:
        return "none" if _FULLEST[name](parts) else "less"
    if _SELECTIONS.search(name):
        return "none" if value in ("", "null", "default") else "less"
    return _by_amount(name, value)


def holds_log(name: str) -> bool:
    """Return whether a setting, with or without its scope, holds audit or query logging."""
    name = _SCOPE.sub("", _SCOPE.sub("", name))
    known = _SUPPRESSORS | _DURATIONS | _SHIPPED_ON | _SHARES | _THRESHOLDS
    amounts = name in _SEVERITIES or name in _FULLEST or name in _LIMITS
    return not name.startswith("@") and (amounts or name in known or is_switch(name))


def _is_off(name: str, value: str) -> bool:
    if re.search("log|audit", name) and value in _NOWHERE:
        return True
    if name == "session_replication_role":  # as a replica, no trigger fires
        return value == "replica"
    if name in _SUPPRESSORS or ("audit" in name and "disable" in name):
        return value in _ON
    if name in _DURATIONS:
        return value in ("-1", "default")
    if name in _SEVERITIES:
        return value in _SEVERITIES[name]
    value = _zeroed(value)
    parts = set(re.split(r"[,\s]+", value))  # pgaudit.log takes a list
    if name == "log_output" and "none" in parts:
        return True
    if name in _SHIPPED_ON:
        return parts <= _OFF - {"default"}
    return parts <= _OFF | {"-all"} and is_switch(name)


def _by_amount(name: str, value: str) -> Effect:
    found = _AMOUNT.fullmatch(value)
    if not found:
        return "none"
    amount = float(found[1])
    if name in _SHARES:
        less: Effect = "unknown" if name in _ADDING else "less"
        return less if amount < 1 else "none"
    if name in _LIMITS:
        return "less" if amount > _LIMITS[name] else "none"
    if name == "log_parameter_max_length":
        return "unknown" if amount else "less"
    amount *= _UNITS[found[2] or "ms"]
    if name not in _THRESHOLDS or not amount:
        return "none"
    return "less" if amount >= _SECOND else "unknown"


def _zeroed(value: str) -> str:
    return "0" if _ZERO.fullmatch(value) else value


def is_switch(name: str) -> bool:
    """Return whether a setting turns audit or query logging on and off."""
    if name in _SWITCHES or re.match(r"(?:sql\.(?:log|trace)|server\.auth_log)\.", name):
        return True
    own = _AUDIT.search(name) and not name.startswith("pgaudit.")
    return bool(own) and not _SHAPES.search(name)


def reset_effect(name: str) -> Effect:
    """Return the effect that resetting a setting has on logging: that of its default."""
    return effect(name, "default")
