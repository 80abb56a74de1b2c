-- The SELECTs of Supabase Studio's log pages and its Logs Explorer, over one view for each of its tables. Without one, the newest
-- requests of the gateway.
WITH
  -- Names begin with studio_, since callers' SELECTs cannot use them. The plan's bound is exclusive, as is that of iso_timestamp_start;
  -- those of the SELECT are inclusive. Conditions with an empty parameter are left out before the engine sees them.
  toDateTime64(@now, 6, 'UTC') - toIntervalDay(multiIf(@project_tier = 'PRO', 7, @project_tier = 'FREE', 1, 90)) AS studio_after,
  parseDateTime64BestEffortOrNull(@iso_timestamp_start, 6, 'UTC') AS studio_start,
  parseDateTime64BestEffortOrNull(@iso_timestamp_end, 6, 'UTC') AS studio_end,
  parseDateTime64BestEffortOrNull(@sql_from, 6, 'UTC') AS studio_from,
  parseDateTime64BestEffortOrNull(@sql_until, 6, 'UTC') AS studio_until,

  -- Of events with all typed columns, a chart of an hour reads these columns of an hour, and no metadata. Where one of them is NULL,
  -- the metadata may have a value of another type: then "untyped" is the metadata. A SELECT over typed columns is tried with
  -- the "_plain" text as the view, until it meets a NULL: the engine plans one SELECT in half the time of two.
  edge_logs_plain AS (
    SELECT id, timestamp, event_message, method, path, status_code
    FROM edge_logs
    WHERE project = @project
      AND (@sql_id = '' OR id = @sql_id)
      AND (@iso_timestamp_start = '' OR timestamp > studio_start) AND (@iso_timestamp_end = '' OR timestamp <= studio_end)
      AND (@sql_from = '' OR timestamp >= studio_from) AND (@sql_until = '' OR timestamp <= studio_until)
      AND timestamp > studio_after
  ),
  edge_logs AS (
    SELECT id, timestamp, event_message, metadata, method, path, status_code, '' AS untyped
    FROM edge_logs
    WHERE project = @project
      AND (@sql_id = '' OR id = @sql_id)
      AND (@iso_timestamp_start = '' OR timestamp > studio_start) AND (@iso_timestamp_end = '' OR timestamp <= studio_end)
      AND (@sql_from = '' OR timestamp >= studio_from) AND (@sql_until = '' OR timestamp <= studio_until)
      AND timestamp > studio_after
      AND method IS NOT NULL AND path IS NOT NULL AND status_code IS NOT NULL
    UNION ALL
    SELECT id, timestamp, event_message, metadata, method, path, status_code, metadata
    FROM edge_logs
    WHERE project = @project
      AND (@sql_id = '' OR id = @sql_id)
      AND (@iso_timestamp_start = '' OR timestamp > studio_start) AND (@iso_timestamp_end = '' OR timestamp <= studio_end)
      AND (@sql_from = '' OR timestamp >= studio_from) AND (@sql_until = '' OR timestamp <= studio_until)
      AND timestamp > studio_after
      AND (method IS NULL OR path IS NULL OR status_code IS NULL)
  ),
  postgres_logs_plain AS (
    SELECT id, timestamp, event_message, error_severity
    FROM postgres_logs
    WHERE project = @project
      AND (@sql_id = '' OR id = @sql_id)
      AND (@iso_timestamp_start = '' OR timestamp > studio_start) AND (@iso_timestamp_end = '' OR timestamp <= studio_end)
      AND (@sql_from = '' OR timestamp >= studio_from) AND (@sql_until = '' OR timestamp <= studio_until)
      AND timestamp > studio_after
  ),
  postgres_logs AS (
    SELECT id, timestamp, event_message, metadata, error_severity, '' AS untyped
    FROM postgres_logs
    WHERE project = @project
      AND (@sql_id = '' OR id = @sql_id)
      AND (@iso_timestamp_start = '' OR timestamp > studio_start) AND (@iso_timestamp_end = '' OR timestamp <= studio_end)
      AND (@sql_from = '' OR timestamp >= studio_from) AND (@sql_until = '' OR timestamp <= studio_until)
      AND timestamp > studio_after
      AND error_severity IS NOT NULL
    UNION ALL
    SELECT id, timestamp, event_message, metadata, error_severity, metadata
    FROM postgres_logs
    WHERE project = @project
      AND (@sql_id = '' OR id = @sql_id)
      AND (@iso_timestamp_start = '' OR timestamp > studio_start) AND (@iso_timestamp_end = '' OR timestamp <= studio_end)
      AND (@sql_from = '' OR timestamp >= studio_from) AND (@sql_until = '' OR timestamp <= studio_until)
      AND timestamp > studio_after
      AND (error_severity IS NULL)
  ),
  function_edge_logs AS (
    SELECT id, timestamp, event_message, metadata, function_id, execution_time_ms, status_code
    FROM function_edge_logs
    WHERE project = @project
      AND (@sql_id = '' OR id = @sql_id)
      AND (@iso_timestamp_start = '' OR timestamp > studio_start) AND (@iso_timestamp_end = '' OR timestamp <= studio_end)
      AND (@sql_from = '' OR timestamp >= studio_from) AND (@sql_until = '' OR timestamp <= studio_until)
      AND timestamp > studio_after
  ),
  function_logs AS (
    SELECT id, timestamp, event_message, metadata, function_id, level, event_type
    FROM function_logs
    WHERE project = @project
      AND (@sql_id = '' OR id = @sql_id)
      AND (@iso_timestamp_start = '' OR timestamp > studio_start) AND (@iso_timestamp_end = '' OR timestamp <= studio_end)
      AND (@sql_from = '' OR timestamp >= studio_from) AND (@sql_until = '' OR timestamp <= studio_until)
      AND timestamp > studio_after
  ),
  auth_logs AS (
    SELECT id, timestamp, event_message, metadata, level, path, status_code
    FROM auth_logs
    WHERE project = @project
      AND (@sql_id = '' OR id = @sql_id)
      AND (@iso_timestamp_start = '' OR timestamp > studio_start) AND (@iso_timestamp_end = '' OR timestamp <= studio_end)
      AND (@sql_from = '' OR timestamp >= studio_from) AND (@sql_until = '' OR timestamp <= studio_until)
      AND timestamp > studio_after
  ),
  realtime_logs AS (
    SELECT id, timestamp, event_message, metadata, level
    FROM realtime_logs
    WHERE project = @project
      AND (@sql_id = '' OR id = @sql_id)
      AND (@iso_timestamp_start = '' OR timestamp > studio_start) AND (@iso_timestamp_end = '' OR timestamp <= studio_end)
      AND (@sql_from = '' OR timestamp >= studio_from) AND (@sql_until = '' OR timestamp <= studio_until)
      AND timestamp > studio_after
  ),
  storage_logs AS (
    SELECT id, timestamp, event_message, metadata, level, status_code
    FROM storage_logs
    WHERE project = @project
      AND (@sql_id = '' OR id = @sql_id)
      AND (@iso_timestamp_start = '' OR timestamp > studio_start) AND (@iso_timestamp_end = '' OR timestamp <= studio_end)
      AND (@sql_from = '' OR timestamp >= studio_from) AND (@sql_until = '' OR timestamp <= studio_until)
      AND timestamp > studio_after
  ),
  postgrest_logs AS (
    SELECT id, timestamp, event_message, metadata, level
    FROM postgrest_logs
    WHERE project = @project
      AND (@sql_id = '' OR id = @sql_id)
      AND (@iso_timestamp_start = '' OR timestamp > studio_start) AND (@iso_timestamp_end = '' OR timestamp <= studio_end)
      AND (@sql_from = '' OR timestamp >= studio_from) AND (@sql_until = '' OR timestamp <= studio_until)
      AND timestamp > studio_after
  ),
  pgbouncer_logs AS (
    SELECT id, timestamp, event_message, metadata, level
    FROM pgbouncer_logs
    WHERE project = @project
      AND (@sql_id = '' OR id = @sql_id)
      AND (@iso_timestamp_start = '' OR timestamp > studio_start) AND (@iso_timestamp_end = '' OR timestamp <= studio_end)
      AND (@sql_from = '' OR timestamp >= studio_from) AND (@sql_until = '' OR timestamp <= studio_until)
      AND timestamp > studio_after
  ),

  -- Tables of the hosted platform, for which a self-hosted one has no events.
  supavisor_logs AS (
    SELECT '' AS id, toDateTime64(0, 6, 'UTC') AS timestamp, '' AS event_message, '' AS metadata WHERE false
  ),
  auth_audit_logs AS (
    SELECT '' AS id, toDateTime64(0, 6, 'UTC') AS timestamp, '' AS event_message, '' AS metadata WHERE false
  ),
  pg_upgrade_logs AS (
    SELECT '' AS id, toDateTime64(0, 6, 'UTC') AS timestamp, '' AS event_message, '' AS metadata WHERE false
  ),
  pg_cron_logs AS (
    SELECT '' AS id, toDateTime64(0, 6, 'UTC') AS timestamp, '' AS event_message, '' AS metadata WHERE false
  ),
  etl_replication_logs AS (
    SELECT '' AS id, toDateTime64(0, 6, 'UTC') AS timestamp, '' AS event_message, '' AS metadata WHERE false
  ),
  multigres_logs AS (
    SELECT '' AS id, toDateTime64(0, 6, 'UTC') AS timestamp, '' AS event_message, '' AS metadata WHERE false
  )
SELECT id, toUnixTimestamp64Micro(edge_logs.timestamp) AS timestamp, event_message, metadata
FROM edge_logs
ORDER BY edge_logs.timestamp DESC, id DESC
LIMIT 100
