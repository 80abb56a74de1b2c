-- The SELECTs of newer versions of Supabase Studio, in ClickHouse's SQL over one view of all sources.
WITH
  -- As in logs.all.
  multiIf(@project_tier = 'PRO', 7, @project_tier IN ('PAYG', 'ENTERPRISE'), 90, 1) AS studio_days,
  toDateTime64(@now, 6, 'UTC') - toIntervalDay(studio_days) AS studio_tier_bound,
  greatest(
    studio_tier_bound,
    ifNull(parseDateTime64BestEffortOrNull(@iso_timestamp_start, 6, 'UTC'), studio_tier_bound)
  ) AS studio_after,
  ifNull(
    parseDateTime64BestEffortOrNull(@iso_timestamp_end, 6, 'UTC'),
    toDateTime64('2255-01-01', 6, 'UTC')
  ) AS studio_until,

  logs AS (
    WITH
      -- Members of objects, one level deeper with each line: `request.headers.host`. Lists, and objects below, stay JSON.
      JSONExtractKeysAndValuesRaw(metadata) AS level_1,
      arrayFlatten(arrayMap(
        m -> if(startsWith(m.2, '{'), arrayMap(n -> (concat(m.1, '.', n.1), n.2), JSONExtractKeysAndValuesRaw(m.2)), [m]),
        level_1
      )) AS level_2,
      arrayFlatten(arrayMap(
        m -> if(startsWith(m.2, '{'), arrayMap(n -> (concat(m.1, '.', n.1), n.2), JSONExtractKeysAndValuesRaw(m.2)), [m]),
        level_2
      )) AS level_3,
      arrayFlatten(arrayMap(
        m -> if(startsWith(m.2, '{'), arrayMap(n -> (concat(m.1, '.', n.1), n.2), JSONExtractKeysAndValuesRaw(m.2)), [m]),
        level_3
      )) AS level_4,
      arrayFlatten(arrayMap(
        m -> if(startsWith(m.2, '{'), arrayMap(n -> (concat(m.1, '.', n.1), n.2), JSONExtractKeysAndValuesRaw(m.2)), [m]),
        level_4
      )) AS level_5,
      arrayFilter(m -> m.2 != 'null', level_5) AS attributes
    SELECT
      id, timestamp, source, severity_text, event_message, metadata,
      mapFromArrays(
        arrayMap(m -> m.1, attributes),
        arrayMap(m -> if(startsWith(m.2, '"'), JSONExtractString(m.2), m.2), attributes)
      ) AS log_attributes
    FROM (
      SELECT
        id, timestamp, event_message, metadata, 'edge_logs' AS source,
        multiIf(status_code >= 500, 'ERROR', status_code >= 400, 'WARN', 'INFO') AS severity_text
      FROM edge_logs
      WHERE project = @project AND timestamp > studio_after AND timestamp <= studio_until
      UNION ALL
      SELECT id, timestamp, event_message, metadata, 'postgres_logs', ifNull(error_severity, '')
      FROM postgres_logs
      WHERE project = @project AND timestamp > studio_after AND timestamp <= studio_until
      UNION ALL
      SELECT id, timestamp, event_message, metadata, 'function_edge_logs', multiIf(status_code >= 500, 'ERROR', status_code >= 400, 'WARN', 'INFO')
      FROM function_edge_logs
      WHERE project = @project AND timestamp > studio_after AND timestamp <= studio_until
      UNION ALL
      SELECT id, timestamp, event_message, metadata, 'function_logs', upper(ifNull(level, ''))
      FROM function_logs
      WHERE project = @project AND timestamp > studio_after AND timestamp <= studio_until
      UNION ALL
      SELECT id, timestamp, event_message, metadata, 'auth_logs', upper(ifNull(level, ''))
      FROM auth_logs
      WHERE project = @project AND timestamp > studio_after AND timestamp <= studio_until
      UNION ALL
      SELECT id, timestamp, event_message, metadata, 'realtime_logs', upper(ifNull(level, ''))
      FROM realtime_logs
      WHERE project = @project AND timestamp > studio_after AND timestamp <= studio_until
      UNION ALL
      SELECT id, timestamp, event_message, metadata, 'storage_logs', upper(ifNull(level, ''))
      FROM storage_logs
      WHERE project = @project AND timestamp > studio_after AND timestamp <= studio_until
      UNION ALL
      SELECT id, timestamp, event_message, metadata, 'postgrest_logs', upper(ifNull(level, ''))
      FROM postgrest_logs
      WHERE project = @project AND timestamp > studio_after AND timestamp <= studio_until
      UNION ALL
      SELECT id, timestamp, event_message, metadata, 'pgbouncer_logs', upper(ifNull(level, ''))
      FROM pgbouncer_logs
      WHERE project = @project AND timestamp > studio_after AND timestamp <= studio_until
    )
  )
SELECT id, toUnixTimestamp64Micro(logs.timestamp) AS timestamp, source, severity_text, event_message
FROM logs
ORDER BY logs.timestamp DESC, id DESC
LIMIT 100
