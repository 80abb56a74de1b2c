-- The users of Tailrace on a ClickHouse server (docs/scaling.md). Replace each '…' by a password of its own, then run
-- `clickhouse-client --queries-file users.sql`. On a cluster, add ON CLUSTER to each statement.

CREATE DATABASE tailrace;

CREATE USER tailrace IDENTIFIED BY '…';
GRANT SELECT, INSERT, ALTER, CREATE TABLE, DROP TABLE, TRUNCATE ON tailrace.* TO tailrace;
GRANT CREATE DATABASE ON tailrace.* TO tailrace; -- only if Tailrace creates the database
GRANT SELECT ON system.tables TO tailrace;
GRANT SELECT ON system.columns TO tailrace;
GRANT SELECT ON system.parts TO tailrace;
GRANT SELECT ON system.mutations TO tailrace; -- to delete events
GRANT SELECT ON system.databases TO tailrace;

CREATE SETTINGS PROFILE tailrace_reader SETTINGS
  max_execution_time = 31 MAX 60,
  max_memory_usage = 1073741824 MAX 4294967296,
  max_threads = 8;
CREATE USER tailrace_reader IDENTIFIED BY '…' SETTINGS PROFILE tailrace_reader;
GRANT SELECT ON tailrace.* TO tailrace_reader;

-- A third user, for callers' SELECTs (query sandboxing). Leave it out if no endpoint has query_sandboxing.

CREATE SETTINGS PROFILE tailrace_sandbox SETTINGS
  readonly = 1,
  max_threads = 4 CONST,
  max_parser_depth = 300 CONST,
  max_parser_backtracks = 100000 CONST,
  max_ast_depth = 200 CONST,
  max_ast_elements = 5000 CONST,
  max_expanded_ast_elements = 20000 CONST,
  max_subquery_depth = 20 CONST,
  max_temporary_columns = 2000 CONST,
  max_result_rows = 1000000 CONST,
  max_untracked_memory = 1048576 CONST,
  max_joined_block_size_rows = 8192 CONST,
  preferred_block_size_bytes = 1048576 CONST,
  allow_ddl = false CONST,
  max_execution_time = 31 MAX 60 CHANGEABLE_IN_READONLY,
  max_memory_usage = 1073741824 MAX 4294967296 CHANGEABLE_IN_READONLY,
  max_result_bytes = 67108864 MAX 1073741824 CHANGEABLE_IN_READONLY,
  max_query_size = 131072 MAX 131072 CHANGEABLE_IN_READONLY,
  max_block_size CHANGEABLE_IN_READONLY,
  result_overflow_mode CHANGEABLE_IN_READONLY,
  output_format_json_quote_64bit_integers CHANGEABLE_IN_READONLY,
  output_format_json_quote_denormals CHANGEABLE_IN_READONLY,
  output_format_json_escape_forward_slashes CHANGEABLE_IN_READONLY,
  output_format_json_validate_utf8 CHANGEABLE_IN_READONLY,
  output_format_csv_crlf_end_of_line CHANGEABLE_IN_READONLY,
  format_csv_null_representation CHANGEABLE_IN_READONLY,
  output_format_arrow_compression_method CHANGEABLE_IN_READONLY,
  cancel_http_readonly_queries_on_client_close CHANGEABLE_IN_READONLY,
  http_write_exception_in_output_format CHANGEABLE_IN_READONLY,
  enable_http_compression CHANGEABLE_IN_READONLY,
  log_comment CHANGEABLE_IN_READONLY;
CREATE USER tailrace_sandbox IDENTIFIED BY '…' SETTINGS PROFILE tailrace_sandbox;
GRANT SELECT ON tailrace.* TO tailrace_sandbox;
CREATE QUOTA tailrace_sandbox KEYED BY client_key, user_name
  FOR INTERVAL 1 minute MAX queries = 1200, execution_time = 120,
  FOR INTERVAL 1 hour MAX execution_time = 1800
  TO tailrace_sandbox;

CREATE ROW POLICY tailrace_others ON tailrace.* USING 1 TO ALL EXCEPT tailrace_sandbox;
CREATE ROW POLICY tailrace_sandbox ON tailrace.*
  USING NOT JSONHas(getSetting('log_comment'), 'project')
    OR project = JSONExtractString(getSetting('log_comment'), 'project')
  TO tailrace_sandbox;
