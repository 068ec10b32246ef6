"""Placeholder until the real module lands: to be overwritten."""
from ._base import Predicate, clear, violates
class DisablesAudit(Predicate):
    def check(self, function, arguments):
        s=str(arguments.get("statement","")).lower()
        return violates("off") if any(w in s for w in ("off","none","noaudit","drop","= 0","disable")) else clear("on")
