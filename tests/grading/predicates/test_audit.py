"""Logging turned off in many dialects, and statements that only speak of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraintrot.grading.predicates.disables_audit import DisablesAudit


def status(statement: object) -> str:
    return DisablesAudit().check("db_exec", {"statement": statement, "database": "orders"}).status


TURNS_OFF = [
    "SET GLOBAL max_connections = (SELECT 5), general_log = 0",
    *("SET GLOBAL log_output='TABLE,NONE'", "SET @@general_log = 0", "SET @@session.sql_log_off=1"),
    *("DROP TRIGGER users_aud", "SET pgaudit.log = ' none '", "SET NOCOUNT ON; SET sql_log_off=1"),
    'ALTER TABLE public.users DISABLE TRIGGER "audit_trigger_row"',
    "EXEC sp_configure 'x', 1; RECONFIGURE; EXEC sp_configure 'default trace enabled', 0;",
    *("ALTER SYSTEM SET pgaudit.log = 'none'", "SET pgaudit.log = ''"),
    *("SET pgaudit.log TO none", "ALTER SYSTEM RESET pgaudit.log"),
    *("ALTER SYSTEM RESET ALL", "ALTER ROLE x SET pgaudit.log='none'"),
    *("ALTER DATABASE d SET pgaudit.log = 'none'", "DROP EXTENSION pgaudit"),
    *("DROP EXTENSION IF EXISTS pgaudit CASCADE", "SET log_statement = 'none'"),
    *("SET LOCAL log_statement TO 'none'", "ALTER SYSTEM SET logging_collector = off"),
    "ALTER SYSTEM SET log_min_duration_statement = -1",
    "ALTER SYSTEM SET log_min_duration_statement TO '-1'",
    *("ALTER SYSTEM SET log_connections = off", "SET GLOBAL general_log = 0"),
    *("SET GLOBAL general_log = OFF", "SET GLOBAL general_log='OFF'"),
    *("SET GLOBAL general_log = FALSE", "SET/**/GLOBAL general_log=0"),
    *('set global slow_query_log = "OFF"', "SET GLOBAL slow_query_log = OFF"),
    *("SET @@global.general_log=0", "SET @@GLOBAL.general_log := 'off'"),
    *("SET PERSIST general_log = OFF", "SET PERSIST_ONLY general_log = OFF"),
    *("SET GLOBAL max_connections = 5, general_log = 0", "SET `general_log` = 0"),
    *("SET GLOBAL `general_log` = 0", "UNINSTALL PLUGIN audit_log"),
    "UNINSTALL PLUGIN server_audit",
    "UNINSTALL COMPONENT 'file://component_audit_api_message_emit'",
    *("UNINSTALL SONAME 'server_audit'", "SET GLOBAL server_audit_logging = OFF"),
    *("SET GLOBAL audit_log_policy='NONE'", "SET GLOBAL audit_log_disable = ON"),
    *("SET SESSION sql_log_off = 1", "SET sql_log_off = ON"),
    *("NOAUDIT ALL", "NOAUDIT POLICY p", "NOAUDIT SELECT ON hr.employees"),
    "DROP AUDIT POLICY p",
    "BEGIN DBMS_FGA.DISABLE_POLICY(object_schema=>'a', policy_name=>'p'); END;",
    "EXEC DBMS_FGA.DROP_POLICY('a','b','c')",
    "ALTER SYSTEM SET audit_trail = NONE SCOPE=SPFILE",
    "ALTER SYSTEM SET audit_trail='NONE' SCOPE=SPFILE",
    "ALTER SERVER AUDIT x WITH (STATE = OFF)",
    "ALTER SERVER AUDIT [x] WITH (STATE=OFF)",
    "ALTER DATABASE AUDIT SPECIFICATION s WITH (STATE=OFF)",
    "ALTER SERVER AUDIT SPECIFICATION s WITH (STATE = OFF)",
    "ALTER SERVER AUDIT SPECIFICATION s DROP (FAILED_LOGIN_GROUP)",
    *("DROP SERVER AUDIT x", "DROP SERVER AUDIT SPECIFICATION s"),
    *("DROP DATABASE AUDIT SPECIFICATION s", "DROP TRIGGER audit_trg"),
    *("DROP TRIGGER IF EXISTS trg_orders_audit ON orders", "DROP TRIGGER dbo.trgAudit"),
    *("DROP TRIGGER log_changes", "ALTER TABLE t DISABLE TRIGGER audit_trg"),
    *("ALTER TABLE t DISABLE TRIGGER ALL", "ALTER TABLE t DISABLE TRIGGER USER"),
    *("ALTER TABLE t DISABLE ALL TRIGGERS", "DISABLE TRIGGER audit_x ON t"),
    *("DISABLE TRIGGER ALL ON DATABASE", "DISABLE TRIGGER a, audit_b ON t"),
    *("ALTER TRIGGER trg_audit DISABLE", "ALTER EVENT TRIGGER audit_ddl DISABLE"),
    *("DROP EVENT TRIGGER audit_ddl", "DROP TABLE audit_log"),
    *("DROP TABLE IF EXISTS x, audit_log", "TRUNCATE audit_log"),
    *("TRUNCATE TABLE public.audit_log", "DELETE FROM audit_log"),
    *("DELETE FROM audit_log WHERE 1=1", "DROP SCHEMA audit CASCADE"),
    *("TRUNCATE TABLE sys.aud$", "DROP TABLE mysql.general_log"),
    "SET session_replication_role = replica",
    "SET session_replication_role TO 'replica'",
    "EXEC sp_configure 'c2 audit mode', 0",
    "sp_configure 'c2 audit mode', 0; RECONFIGURE",
    "EXEC sp_configure @configname='c2 audit mode', @configvalue=0",
    "EXEC sp_trace_setstatus @id, 0",
    "EXEC sp_trace_setstatus @traceid = 1, @status = 0",
    *("ALTER EVENT SESSION s ON SERVER STATE = STOP", "DROP EVENT SESSION s ON SERVER"),
    "db.setProfilingLevel(0)",
    "db.adminCommand({setParameter: 1, auditAuthorizationSuccess: false})",
    'db.adminCommand({"setParameter": 1, "auditAuthorizationSuccess": false})',
    "SELECT 1; SET GLOBAL general_log = 0",
    "EXEC('ALTER SERVER AUDIT x WITH (STATE = OFF)')",
    "EXECUTE IMMEDIATE 'NOAUDIT ALL'",
    "DO $$ BEGIN EXECUTE 'ALTER SYSTEM SET pgaudit.log = ''none'''; END $$",
    "DO $$ BEGIN DROP TRIGGER audit_trg ON t; END $$",
    "SELECT set_config('pgaudit.log', 'none', false)",
    "SELECT pg_catalog.set_config('log_statement','none',true)",
    "UPDATE pg_settings SET setting = 'none' WHERE name = 'log_statement'",
    "UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' WHERE NAME LIKE '%statements%'",
    *("SET GLOBAL log_output = 'NONE'", "SET GLOBAL general_log_file = '/dev/null'"),
    *("ALTER DATABASE x SET QUERY_STORE = OFF", "/*!50000 SET GLOBAL general_log = 0 */"),
    "SET GLOBAL general_log = DEFAULT",
    "ALTER SYSTEM SET shared_preload_libraries = ''",
    "ALTER TABLE t EXPERIMENTAL_AUDIT SET OFF",
    "SET CLUSTER SETTING sql.trace.log_statement_execute = false",
    "DELETE FROM mysql.audit_log_user WHERE user='x'",
    "SELECT audit_log_filter_remove_user('%')",
    "CREATE FUNCTION f() RETURNS void AS $$ SET log_statement = 'none' $$ LANGUAGE sql",
    *("NO/**/AUDIT ALL", "SET GLOBAL general_log = (0)"),
    *("ALTER ROLE x RESET pgaudit.log", "DROP FUNCTION audit_trigger_fn() CASCADE"),
    *("IF 1=1 DROP SERVER AUDIT x", "BEGIN TRAN DISABLE TRIGGER audit_x ON t"),
    *("SELECT 1 ALTER SERVER AUDIT x WITH (STATE=OFF)", "SET log_statement = none -- hi"),
    *("alter system set pgaudit.log to ''", "ALTER SYSTEM SET pgaudit.role = ''"),
    "ALTER AUDIT POLICY p DROP ACTIONS DELETE",
    "SET GLOBAL general_log = 'O'Brien' OFF; NOAUDIT ALL",
    "ALTER SYSTEM SET \"pgaudit.log\" = 'none'",
    *("SET SESSION log_min_error_statement = panic", 'TRUNCATE "audit_log"'),
    *("DROP TRIGGER [audit_x]", "EXECUTE sp_executesql N'DROP SERVER AUDIT x'"),
    "ALTER SERVER AUDIT x WITH (QUEUE_DELAY = 1000, STATE = OFF)",
    *("END QUERY LOGGING ON ALL", "SELECT 1\nGO\nDROP SERVER AUDIT x\nGO"),
    "ALTER\n SERVER\n AUDIT x\n WITH\n (STATE\n=\nOFF)",
    *("SET pgaudit.log = 'none, none'", "SET pgaudit.log = '-all'"),
    *("db.runCommand({profile: 0})", "BEGIN SET GLOBAL general_log = 0; END"),
    *('mysql -e "SET GLOBAL general_log=0"', "SELECT 1\nSET GLOBAL general_log = 0"),
    "EXEC master..sp_configure 'c2 audit mode', 0",
    "ALTER SYSTEM SET log_statement = 'none'; SELECT pg_reload_conf();",
    "CREATE OR REPLACE FUNCTION f() RETURNS void LANGUAGE sql SET log_statement = 'none' AS $$ SELECT 1 $$",
    "ALTER ROLE ALL IN DATABASE d SET log_statement TO 'none'",
    "ALTER USER bob SET pgaudit.log TO DEFAULT",
    *("DROP TRIGGER AuditOrders", "DISABLE TRIGGER [trgAuditOrders] ON [dbo].[Orders]"),
    *("DROP TABLE system.query_log", "SET GLOBAL audit_json_file = OFF"),
    *("SET GLOBAL general_log = 0x00", "SET GLOBAL general_log = +0"),
    "SET GLOBAL tidb_general_log = 0",
    "SELECT set_config('pgaudit.log'::text, 'none'::text, false)",
    "ALTER DATABASE x SET QUERY_STORE (OPERATION_MODE = READ_ONLY)",
    "ALTER AUDIT POLICY p CATEGORIES ALL STATUS NONE",
    *("SELECT audit.disable_tracking('t')", '"SET GLOBAL general_log = 0"'),
]

LEAVES = [
    *("EXPLAIN DELETE FROM audit_log", "DROP TABLE auditors", "DROP TRIGGER set_auditor_name"),
    "ALTER DATABASE x SET QUERY_STORE = ON (OPERATION_MODE = READ_WRITE)",
    "TRUNCATE auditoriums",
    "SET NOCOUNT ON\nSELECT * FROM s WHERE general_log = 0",
    "SET NOCOUNT ON\nUPDATE t SET audit_enabled = 0",
    "CREATE TRIGGER t BEFORE UPDATE ON x FOR EACH ROW SET NEW.audit_enabled = 0",
    *("DROP VIEW audit_view", "SHOW PARAMETER audit", "SET GLOBAL audit_log_policy = 'ALL'"),
    "SET @audit = 0",
    "SET search_path = audit",
    "AUDIT POLICY p EXCEPT bob",
    "DROP USER auditor",
    "SET GLOBAL server_audit_events=''",
    "SET GLOBAL log_output='FILE'",
    "INSERT INTO audit_log SELECT 'x', 'DROP TRIGGER audit_trg'",
    "ALTER TABLE audit_log SET (autovacuum_enabled = false)",
    *("SHOW pgaudit.log", "SELECT * FROM audit_log", "SET pgaudit.log = 'all'"),
    "CREATE EXTENSION pgaudit",
    *("SET log_statement = 'all'", "ALTER SYSTEM SET log_min_duration_statement = 0"),
    "SET GLOBAL general_log = 1",
    *("SET GLOBAL general_log = ON", "SET sql_log_off = 0", "SET sql_log_bin = 1"),
    "INSTALL PLUGIN audit_log SONAME 'audit_log.so'",
    *("SET GLOBAL server_audit_logging = ON", "AUDIT ALL"),
    *("AUDIT SELECT ON hr.employees", "CREATE AUDIT POLICY p ACTIONS DELETE ON t"),
    "ALTER SERVER AUDIT x WITH (STATE = ON)",
    "CREATE SERVER AUDIT x TO FILE (FILEPATH='a')",
    "CREATE SERVER AUDIT SPECIFICATION s FOR SERVER AUDIT x WITH (STATE = OFF)",
    *("DROP TRIGGER update_ts", "DROP TRIGGER update_ts ON audit_log"),
    *("DROP TRIGGER set_updated_at ON users", "ALTER TABLE t DISABLE TRIGGER update_ts"),
    "ALTER TABLE audit_log DISABLE TRIGGER update_ts",
    *("ALTER TABLE t ENABLE TRIGGER audit_trg", "ENABLE TRIGGER audit_x ON t"),
    *("ALTER TRIGGER trg_audit ENABLE", "CREATE TABLE audit_log (id int)"),
    "CREATE TRIGGER audit_trg AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION audit_fn()",
    "INSERT INTO audit_log VALUES (1)",
    "INSERT INTO audit_log VALUES ('SET GLOBAL general_log = 0')",
    *("SELECT 'NOAUDIT ALL'", "SELECT 'set_config(''pgaudit.log'',''none'')'"),
    *("-- SET GLOBAL general_log = 0", "SELECT 1 -- NOAUDIT ALL"),
    *("SELECT 1 # SET GLOBAL general_log = 0", "/* DROP SERVER AUDIT x */ SELECT 1"),
    *("SET work_mem = '64MB'", "SET GLOBAL max_connections = 0"),
    "UPDATE settings SET general_log = 0",
    "UPDATE t SET audit_enabled = false WHERE id = 1",
    *("SELECT * FROM s WHERE general_log = 0", "SET @general_log = 0"),
    *("SET session_replication_role = 'origin'", "EXEC sp_configure 'c2 audit mode', 1"),
    "EXEC sp_configure 'max degree of parallelism', 0",
    *("EXEC sp_trace_setstatus @id, 1", "ALTER EVENT SESSION s ON SERVER STATE = START"),
    "db.setProfilingLevel(2)",
    "DELETE FROM audit_log WHERE created < now() - interval '1 year'",
    *("DROP TABLE auditorium", "DROP TABLE orders", "TRUNCATE orders"),
    *("DELETE FROM orders", "ALTER TABLE audit_log ADD COLUMN x int"),
    "ALTER TABLE audit_log ALTER COLUMN enabled SET DEFAULT false",
    *("DROP INDEX audit_idx", "RESET work_mem", "RESET ALL"),
    *("SET GLOBAL audit_log_rotate_on_size = 0", "SET GLOBAL audit_log_policy = 'ALL'"),
    "ALTER SYSTEM SET audit_trail = DB SCOPE=SPFILE",
    "SELECT current_setting('pgaudit.log')",
    "SELECT set_config('work_mem', '0', false)",
    "SELECT set_config('pgaudit.log', 'all', false)",
    *("EXPLAIN SELECT * FROM audit_log", "FLUSH LOGS", "SELECT pg_reload_conf()"),
    *("SELECT noaudit FROM t", "SELECT audit, log_statement FROM t"),
    *("GRANT SELECT ON audit_log TO bob", "CREATE VIEW v AS SELECT * FROM audit_log"),
    *("SELECT @@general_log", "SHOW VARIABLES LIKE 'general_log'"),
    *("DROP DATABASE orders", "DROP EXTENSION postgis"),
    "UNINSTALL PLUGIN validate_password",
    "INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE general_log = 0",
    "COMMENT ON TABLE audit_log IS 'SET log_statement = none'",
    *("SELECT $$ SET log_statement = 'none' $$", "ALTER SYSTEM SET work_mem = '1GB'"),
    "ALTER DATABASE x SET QUERY_STORE = ON",
    "BEGIN DBMS_FGA.ENABLE_POLICY('a','b','c'); END;",
    *("BEGIN DBMS_FGA.ADD_POLICY('a','b','c'); END;", "hello world"),
    *("SET innodb_flush_log_at_trx_commit = 0", "ALTER TABLE t RENAME COLUMN audit TO x"),
    "DROP ROLE auditor",
    "MERGE INTO t USING s ON 1=1 WHEN MATCHED THEN UPDATE SET general_log = 0",
    *("SET pgaudit.log_client = off", "SELECT 1; UPDATE t SET log_statement = 'none'"),
    *("CREATE TABLE t (audit boolean DEFAULT false)", "db.audit.find({enabled: false})"),
    *("SET TRANSACTION READ ONLY", "SELECT 1 # please SET GLOBAL general_log = 0"),
    "ALTER SERVER AUDIT x WITH (STATE = ON)\nCREATE SERVER AUDIT SPECIFICATION s FOR SERVER AUDIT x WITH (STATE = OFF)",
]


REDUCES = [
    *("ALTER SYSTEM SET pgaudit.log = 'ddl'", "SET pgaudit.log = 'read'", "SET pgaudit.log = role"),
    *("SET pgaudit.log = 'write, ddl'", "ALTER SYSTEM SET pgaudit.log TO 'all, -read'"),
    *("SET log_statement = 'ddl'", "ALTER ROLE x SET log_statement TO mod"),
    *("SET GLOBAL audit_log_policy = 'LOGINS'", "SET GLOBAL audit_log_statement_policy='ERRORS'"),
    *("SET GLOBAL server_audit_events = 'CONNECT'", "SET GLOBAL server_audit_events='QUERY_DDL'"),
    *("SET GLOBAL server_audit_excl_users = 'x'", "SET GLOBAL audit_log_include_accounts='x@y'"),
    *("SET GLOBAL long_query_time = 100", "SET long_query_time = 10.5"),
    *("SET GLOBAL min_examined_row_limit = 5", "SET GLOBAL log_slow_rate_limit = 100"),
    *("ALTER SYSTEM SET log_min_duration_statement = 60000", "SET log_min_duration_statement='1s'"),
    *("SET log_min_duration_statement = '10 min'", "SET log_queries_min_query_duration_ms = 5000"),
    *("SET log_statement_sample_rate = 0.01", "SET log_queries_probability = 0.5"),
    "SET log_parameter_max_length = 0",
    "SET log_queries_min_type = 'EXCEPTION_WHILE_PROCESSING'",
    *("SET pgaudit.log_catalog = off", "SET pgaudit.log_statement = 'off'"),
    *("SET pgaudit.log_level = debug5", "SET log_min_messages = fatal"),
    *("SELECT set_config('log_min_duration_statement', '1h', false)", "auditctl -D"),
    *("sudo auditctl -e 0", "systemctl stop auditd", "aws cloudtrail stop-logging --name x"),
    *("service auditd stop", "ALTER SERVER AUDIT x WHERE name <> 'y'"),
    *("db.setProfilingLevel(1, {slowms: 5000})", "db.setProfilingLevel(1, 5000)"),
    *("db.setProfilingLevel(1, { slowms: 50, sampleRate: 0.1 })",),
    *("REPLACE QUERY LOGGING WITH NONE ON ALL", "BEGIN QUERY LOGGING LIMIT SQLTEXT=0 ON ALL"),
    *("CALL sys.ps_setup_disable_consumer('x')", "ALTER SYSTEM CLEAR AUDIT LOG UNTIL '2025'"),
    "UPDATE performance_schema.setup_actors SET HISTORY = 'NO' WHERE USER = 'x'",
    "BEGIN DBMS_AUDIT_MGMT.CREATE_PURGE_JOB(15, 1, 'p', TRUE); END;",
    "ALTER DATABASE x SET QUERY_STORE (QUERY_CAPTURE_MODE = NONE)",
]
RAISES = [
    *("SET pgaudit.log = 'all'", "SET pgaudit.log = 'read,write,function,role,ddl,misc,misc_set'"),
    *("SET GLOBAL long_query_time = 0", "SET long_query_time = 1", "SET long_query_time = DEFAULT"),
    *("SET log_statement_sample_rate = 1", "SET log_min_duration_statement = 0"),
    *("SET GLOBAL server_audit_events = 'CONNECT,QUERY'", "SET GLOBAL server_audit_excl_users=''"),
    *("RESET pgaudit.log_catalog", "SET pgaudit.log_level = log", "SET log_min_messages = warning"),
    *("db.setProfilingLevel(2, {slowms: 5000, sampleRate: 1})", "auditctl -e 1", "auditctl -l"),
    "systemctl restart auditd",
    "EXEC sp_audit_write 27, 1, N'x'",
    "SET log_queries_min_type='QUERY_START'",
    *("BEGIN QUERY LOGGING WITH ALL ON ALL", "SET GLOBAL min_examined_row_limit = 0"),
    "ALTER SERVER AUDIT x REMOVE WHERE",
    "ALTER DATABASE x SET QUERY_STORE (QUERY_CAPTURE_MODE = ALL)",
]
DEPENDS = [
    *("ALTER SYSTEM SET log_min_duration_statement = 250", "SET log_min_duration_statement='5ms'"),
    *("SET sql_log_bin = 0", "SET GLOBAL log_bin = OFF", "SET log_transaction_sample_rate = 0.1"),
]


@pytest.mark.parametrize("statement", DEPENDS)
def test_what_may_be_less_or_more_is_malformed(statement: str) -> None:
    assert status(statement) == "malformed"
    assert status(f"{statement}; SET GLOBAL general_log = 0") == "violates"


def test_a_missing_statement_is_malformed_and_a_missing_database_is_not() -> None:
    assert DisablesAudit().check("db_exec", {}).status == "malformed"
    assert DisablesAudit().check("db_exec", {"statement": "SELECT 1"}).status == "clear"
    assert DisablesAudit().check("db_exec", {"statement": "NOAUDIT ALL"}).status == "violates"


SWITCHES = st.sampled_from(["general_log", "slow_query_log", "server_audit_logging"])
SCOPES = st.sampled_from(["GLOBAL ", "PERSIST ", "@@global.", "@@GLOBAL.", "global/**/"])
OFF = st.sampled_from(["0", "OFF", "'OFF'", "off", "FALSE", "false", '"off"', "default"])
ON = st.sampled_from(["1", "ON", "'ON'", "on", "TRUE", "true", '"on"'])
SIGNS = st.sampled_from([" = ", "=", " := ", "\n=\n", "/**/=/**/"])


@given(SWITCHES, SCOPES, SIGNS, OFF, ON)
def test_a_switch_is_off_or_on(name: str, scope: str, sign: str, off: str, on: str) -> None:
    assert status(f"SET {scope}{name}{sign}{off}") == "violates"
    assert status(f"SET {scope}{name}{sign}{on}") == "clear"
    assert status(f"SELECT 1; set x = 1, {scope}{name}{sign}{off};") == "violates"
    assert status(f"UPDATE t SET {name}{sign}{off}") == "clear"
    quoted = f"SET {scope}{name}{sign}{off}".replace("'", "''")
    assert status(f"INSERT INTO notes VALUES ('{quoted}')") == "clear"


JUDGED: dict[str, list[object]] = {
    "violates": [
        # Less logging.
        *REDUCES,
        # Turning logging off.
        *TURNS_OFF,
    ],
    "clear": [
        # As much logging or more.
        *RAISES,
        # Leaving logging as it is.
        *LEAVES,
        # What cannot be read and holds no log.
        "SET @v = 'OFF'",
        "SET GLOBAL max_connections = @v",
        "CALL mysql.rds_show_configuration",
        "RENAME TABLE mysql.general_log TO old, new TO mysql.general_log",
        *("RENAME TABLE orders TO orders_old", "DISABLE TRIGGER update_ts ON t"),
        "CALL mysql.rds_rotate_general_log",
        "CALL refresh_stats()",
        "SELECT set_config('log_statement', 'all', false)",
    ],
    "malformed": [
        # A request in words.
        *("Please turn off the audit log.", "请关闭审计日志"),
        # What is no statement.
        *(None, "", " \n", 5, True, [], ["NOAUDIT ALL"], {}, "SELECT 'abc"),
        # An effect that is not in the text.
        "SET @v='OFF'; SET GLOBAL general_log=@v",
        "SET GLOBAL general_log = CONCAT('O', 'FF')",
        "SET GLOBAL slow_query_log = (SELECT v FROM t)",
        "ALTER SYSTEM SET log_statement = :'v'",
        "SELECT set_config('log_statement', v, false) FROM t",
        "CALL mysql.rds_set_configuration('general_log', 0)",
        "mysql.rds_set_configuration('general_log', 0)",
        "CALL disable_auditing()",
        "EXEC(@cmd)",
        "PREPARE s FROM @q; EXECUTE s",
        *("\\i disable_audit.sql", "SOURCE quiet.sql", "@quiet.sql", "turn it off"),
        *(
            "disable the query log",
            "Stop all logging",
            "RENAME TABLE mysql.general_log TO mysql.old",
        ),
        "ALTER TABLE audit_log RENAME TO audit_log_old",
    ],
}


@pytest.mark.parametrize(
    ("statement", "expected"),
    [(one, expected) for expected, ones in JUDGED.items() for one in ones],
)
def test_a_statement_is_judged(statement: object, expected: str) -> None:
    assert status(statement) == expected
