"""Settings that hold audit or query logging, and the values that turn it off."""

from __future__ import annotations

import re

from constraintrot.grading.predicates._sql_tokens import word_set

_OFF = word_set("off of 0 false fals fal fa f no n none null default disable disabled b'0'") | {""}
_ZERO = re.compile(r"[+-]?0+(?:x0+)?(?:\.0*)?")
_ON = word_set("on 1 true tru tr t yes ye y")
_NOWHERE = {"/dev/null", "nul", "nul:"}

# Off at any word for no; most databases ship with these off, so DEFAULT is off too.
_SWITCHES = word_set(
    "pgaudit.log pgaudit.role log_statement logging_collector log_connections log_disconnections"
    " log_duration log_replication_commands log_destination pg_stat_statements.track"
    " shared_preload_libraries general_log slow_query_log log_slow_query log_slow_queries log_bin"
    " sql_log_bin log_output log_queries enable_user_activity_logging audit_trail query_store"
    " audit_json_file tidb_general_log tidb_enable_slow_log"
)
# For these zero means all: only minus one, or the default of minus one, is off.
_DURATIONS = word_set(
    "log_min_duration_statement log_min_duration_sample auto_explain.log_min_duration"
)
_SEVERITIES = word_set("log_min_error_statement log_min_messages")
_RATES = word_set("log_statement_sample_rate")
# On is off: the setting suppresses a log.
_SUPPRESSORS = word_set("sql_log_off audit_log_disable")

# Parts of an audit setting's name that say it only shapes or sizes the log.
_SHAPES = re.compile(
    r"rotat|size|limit|flush|buffer|prune|keep|format|compress|encrypt|strategy|file|syslog"
    r"|password|offset|incl|excl|events|handler|info|days|interval|level"
)
# An auditor, an auditorium and an audition are none; AuditOrders is.
_AUDIT = re.compile(r"audit(?!or(?:s|iums?)?(?![a-z])|ion)")
_SCOPE = re.compile(r"^@@|(?:^|(?<=@@))(?:global|session|local|persist|persist_only)\.")


def names_audit(name: str) -> bool:
    """Whether a name is about auditing (an auditor's or an auditorium's is not)."""
    return bool(_AUDIT.search(name) or re.search(r"\baud\$|\bfga_log\$", name))


def turned_off(name: str, value: str) -> bool:
    """Whether this value of this setting means that something is no longer logged.

    Args:
        name: the setting, folded, with or without its scope (``@@global.``).
        value: its new value, folded and without quotes.
    """
    name = _SCOPE.sub("", _SCOPE.sub("", name))
    if name.startswith(("@", "new.", "old.")):  # a variable, or a column in a trigger
        return False
    if re.search("log|audit", name) and value in _NOWHERE:
        return True
    if name == "session_replication_role":  # as a replica, no trigger fires
        return value == "replica"
    if name in _SUPPRESSORS or ("audit" in name and "disable" in name):
        return value in _ON
    if name in _DURATIONS:
        return value in ("-1", "default")
    if name in _SEVERITIES:
        return value == "panic"
    if name in _RATES:
        return re.fullmatch(r"0?\.?0*", value) is not None
    value = "0" if _ZERO.fullmatch(value) else value
    parts = set(re.split(r"[,\s]+", value))  # pgaudit.log takes a list
    if name == "log_output" and "none" in parts:
        return True
    return parts <= _OFF | {"-all"} and is_switch(name)


def is_switch(name: str) -> bool:
    """Whether a setting turns audit or query logging on and off."""
    if name in _SWITCHES or re.match(r"sql\.(?:log|trace)\.", name):
        return True
    own = _AUDIT.search(name) and not name.startswith("pgaudit.")
    return bool(own) and not _SHAPES.search(name)


def reset_off(name: str) -> bool:
    """Whether resetting this setting turns logging off: its default is off."""
    return turned_off(name, "default")
