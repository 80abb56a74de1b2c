-- The SELECTs of Supabase Studio's log pages and its Logs Explorer, over one view for each of its tables. Without one, the newest
-- requests of the gateway.
WITH
  -- How far back the plan reaches, in days; exclusive. Names begin with studio_, since callers' SELECTs cannot use them.
  multiIf(@project_tier = 'PRO', 7, @project_tier IN ('PAYG', 'ENTERPRISE'), 90, 1) AS studio_days,
  toDateTime64(@now, 6, 'UTC') - toIntervalDay(studio_days) AS studio_tier_bound,
  toDateTime64('2255-01-01', 6, 'UTC') AS studio_far,
  -- The bounds of the request: exclusive below, inclusive above. Those of the SELECT are inclusive on both sides.
  greatest(
    studio_tier_bound,
    ifNull(parseDateTime64BestEffortOrNull(@iso_timestamp_start, 6, 'UTC'), studio_tier_bound)
  ) AS studio_after,
  ifNull(parseDateTime64BestEffortOrNull(@sql_from, 6, 'UTC'), studio_tier_bound) AS studio_from,
  least(
    ifNull(parseDateTime64BestEffortOrNull(@iso_timestamp_end, 6, 'UTC'), studio_far),
    ifNull(parseDateTime64BestEffortOrNull(@sql_until, 6, 'UTC'), studio_far)
  ) AS studio_until,

  -- Of events with all typed columns, a chart of an hour reads these columns of an hour, and no metadata. Where one of them is NULL,
  -- the metadata may have a value of another type: then "untyped" is the metadata.
  edge_logs AS (
    SELECT id, timestamp, event_message, metadata, method, path, status_code, '' AS untyped
    FROM edge_logs
    WHERE project = @project AND timestamp > studio_after AND timestamp >= studio_from AND timestamp <= studio_until
      AND (@sql_id = '' OR id = @sql_id)
      AND method IS NOT NULL AND path IS NOT NULL AND status_code IS NOT NULL
    UNION ALL
    SELECT id, timestamp, event_message, metadata, method, path, status_code, metadata
    FROM edge_logs
    WHERE project = @project AND timestamp > studio_after AND timestamp >= studio_from AND timestamp <= studio_until
      AND (@sql_id = '' OR id = @sql_id)
      AND (method IS NULL OR path IS NULL OR status_code IS NULL)
  ),
  postgres_logs AS (
    SELECT id, timestamp, event_message, metadata, error_severity, '' AS untyped
    FROM postgres_logs
    WHERE project = @project AND timestamp > studio_after AND timestamp >= studio_from AND timestamp <= studio_until
      AND (@sql_id = '' OR id = @sql_id)
      AND error_severity IS NOT NULL
    UNION ALL
    SELECT id, timestamp, event_message, metadata, error_severity, metadata
    FROM postgres_logs
    WHERE project = @project AND timestamp > studio_after AND timestamp >= studio_from AND timestamp <= studio_until
      AND (@sql_id = '' OR id = @sql_id)
      AND (error_severity IS NULL)
  ),
  function_edge_logs AS (
    SELECT id, timestamp, event_message, metadata, function_id, execution_time_ms, status_code
    FROM function_edge_logs
    WHERE project = @project AND timestamp > studio_after AND timestamp >= studio_from AND timestamp <= studio_until
      AND (@sql_id = '' OR id = @sql_id)
  ),
  function_logs AS (
    SELECT id, timestamp, event_message, metadata, function_id, level, event_type
    FROM function_logs
    WHERE project = @project AND timestamp > studio_after AND timestamp >= studio_from AND timestamp <= studio_until
      AND (@sql_id = '' OR id = @sql_id)
  ),
  auth_logs AS (
    SELECT id, timestamp, event_message, metadata, level, path, status_code
    FROM auth_logs
    WHERE project = @project AND timestamp > studio_after AND timestamp >= studio_from AND timestamp <= studio_until
      AND (@sql_id = '' OR id = @sql_id)
  ),
  realtime_logs AS (
    SELECT id, timestamp, event_message, metadata, level
    FROM realtime_logs
    WHERE project = @project AND timestamp > studio_after AND timestamp >= studio_from AND timestamp <= studio_until
      AND (@sql_id = '' OR id = @sql_id)
  ),
  storage_logs AS (
    SELECT id, timestamp, event_message, metadata, level, status_code
    FROM storage_logs
    WHERE project = @project AND timestamp > studio_after AND timestamp >= studio_from AND timestamp <= studio_until
      AND (@sql_id = '' OR id = @sql_id)
  ),
  postgrest_logs AS (
    SELECT id, timestamp, event_message, metadata, level
    FROM postgrest_logs
    WHERE project = @project AND timestamp > studio_after AND timestamp >= studio_from AND timestamp <= studio_until
      AND (@sql_id = '' OR id = @sql_id)
  ),
  pgbouncer_logs AS (
    SELECT id, timestamp, event_message, metadata, level
    FROM pgbouncer_logs
    WHERE project = @project AND timestamp > studio_after AND timestamp >= studio_from AND timestamp <= studio_until
      AND (@sql_id = '' OR id = @sql_id)
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
