/** The values of a field: texts; numbers as numbers and as texts; `big` also whole numbers that a float cannot hold. */
type Field = 'text' | 'mixed' | 'big';

/** What events of a table usually have in `metadata`. */
export interface Shape {
  readonly [name: string]: Field | Shape;
}

/** The tables that have events, each with its source. */
export const SOURCES = {
  edge_logs: 'cloudflare.logs.prod',
  postgres_logs: 'postgres.logs',
  function_edge_logs: 'deno-relay-logs',
  function_logs: 'deno-subhosting-events',
  auth_logs: 'gotrue.logs.prod',
  realtime_logs: 'realtime.logs.prod',
  storage_logs: 'storage.logs.prod.2',
  postgrest_logs: 'postgREST.logs.prod',
  pgbouncer_logs: 'pgbouncer.logs.prod',
} as const;

export type Table = keyof typeof SOURCES;

/** Tables that Studio names and that answer no rows. */
export const EMPTY_TABLES = [
  'supavisor_logs',
  'auth_audit_logs',
  'pg_upgrade_logs',
  'pg_cron_logs',
  'etl_replication_logs',
  'multigres_logs',
] as const;

export const SCHEMA: Readonly<Record<Table, Shape>> = {
  edge_logs: {
    request: {
      method: 'text',
      path: 'text',
      search: 'text',
      host: 'text',
      headers: {
        user_agent: 'text',
        x_client_info: 'text',
        cf_connecting_ip: 'text',
        content_length: 'mixed',
      },
      cf: { country: 'text', asn: 'big' },
    },
    response: { status_code: 'mixed', origin_time: 'mixed', headers: { content_type: 'text' } },
    identifier: 'text',
  },
  postgres_logs: {
    host: 'text',
    parsed: {
      error_severity: 'text',
      user_name: 'text',
      sql_state_code: 'text',
      query: 'text',
      query_id: 'big',
      process_id: 'mixed',
    },
  },
  function_edge_logs: {
    function_id: 'text',
    execution_time_ms: 'mixed',
    version: 'mixed',
    request: { method: 'text', pathname: 'text', host: 'text' },
    response: { status_code: 'mixed' },
  },
  function_logs: {
    event_type: 'text',
    function_id: 'text',
    level: 'text',
    region: 'text',
    cpu_time_used: 'mixed',
  },
  auth_logs: {
    level: 'text',
    path: 'text',
    status: 'mixed',
    duration: 'mixed',
    msg: 'text',
    error: 'text',
    host: 'text',
  },
  realtime_logs: {
    level: 'text',
    external_id: 'text',
    measurements: { connected: 'mixed' },
    context: { module: 'text', line: 'mixed', vm: { node: 'text' } },
  },
  storage_logs: {
    level: 'text',
    operation: 'text',
    responseTime: 'mixed',
    req: { method: 'text', url: 'text', headers: { user_agent: 'text' } },
    res: { statusCode: 'mixed' },
  },
  postgrest_logs: { host: 'text', level: 'text', identifier: 'text' },
  pgbouncer_logs: { host: 'text', level: 'text', pid: 'big' },
};

/** Tables in the order of `SCHEMA`. */
export const TABLES = Object.keys(SCHEMA) as Table[]; // its keys are the tables
