-- Invocations, log lines and resources of one project's functions in time buckets. Invocations are those of functions.invocation-stats.
WITH
  multiIf(@interval IN ('15min', '1hr'), 60, @interval = '3hr', 300, 3600) AS width,
  multiIf(@interval = '15min', 900, @interval = '1hr', 3600, @interval = '3hr', 10800, 86400) AS reach,
  -- Of the buckets below, the first is whole.
  toStartOfInterval(
    toDateTime64(@now, 6, 'UTC') - toIntervalSecond(reach),
    toIntervalMicrosecond(width * 1000000)
  ) AS since,
  rows AS (
    SELECT
      timestamp AS at, 'record' AS kind, status_code AS status, execution_time_ms AS duration, '' AS log_level,
      CAST(NULL, 'Nullable(Float64)') AS cpu, cpu AS memory, cpu AS heap, cpu AS external
    FROM function_edge_logs
    WHERE project = @project AND timestamp >= since AND (@function_id = '' OR function_id = @function_id)
      AND (status_code IS NOT NULL OR execution_time_ms IS NOT NULL)
    UNION ALL
    -- The others are lines of functions' output.
    SELECT timestamp, 'log', NULL, NULL, lower(JSONExtractString(metadata, 'level')), NULL, NULL, NULL, NULL
    FROM function_edge_logs
    WHERE project = @project AND timestamp >= since AND (@function_id = '' OR function_id = @function_id)
      AND status_code IS NULL AND execution_time_ms IS NULL
    UNION ALL
    SELECT timestamp, 'request', status_code, NULL, '', NULL, NULL, NULL, NULL
    FROM edge_logs
    WHERE project = @project AND timestamp >= since AND startsWith(path, '/functions/v1/')
      AND (@function_id = '' OR extract(path, '^/functions/v1/([^/?]+)') = @function_id)
    UNION ALL
    -- A worker states its resources when it shuts down.
    SELECT
      timestamp, 'log', NULL, NULL, lower(ifNull(level, '')),
      if(event_type = 'Shutdown', JSONExtract(metadata, 'cpu_time_used', 'Nullable(Float64)'), NULL),
      if(event_type = 'Shutdown', JSONExtract(metadata, 'memory_used', 'total', 'Nullable(Float64)'), NULL),
      if(event_type = 'Shutdown', JSONExtract(metadata, 'memory_used', 'heap', 'Nullable(Float64)'), NULL),
      if(event_type = 'Shutdown', JSONExtract(metadata, 'memory_used', 'external', 'Nullable(Float64)'), NULL)
    FROM function_logs
    WHERE project = @project AND timestamp >= since AND (@function_id = '' OR function_id = @function_id)
  ),
  -- In a bucket with records of invocations, requests are not counted again.
  if(countIf(kind = 'record') > 0, 'record', 'request') AS counted,
  sumMap(map(kind, 1)) AS counts,
  sumMap(map(concat(kind, ' ', toString(intDiv(ifNull(status, 0), 100))), 1)) AS classes
SELECT
  toUnixTimestamp64Micro(toStartOfInterval(at, toIntervalMicrosecond(width * 1000000))) AS timestamp,
  counts[counted] AS requests_count,
  classes[concat(counted, ' 2')] AS success_count,
  classes[concat(counted, ' 3')] AS redirect_count,
  classes[concat(counted, ' 4')] AS client_err_count,
  classes[concat(counted, ' 5')] AS server_err_count,
  avg(duration) AS avg_execution_time,
  max(duration) AS max_execution_time,
  countIf(kind = 'log') AS log_count,
  countIf(log_level IN ('info', 'log')) AS log_info_count,
  countIf(log_level IN ('warn', 'warning')) AS log_warn_count,
  countIf(log_level IN ('error', 'fatal')) AS log_error_count,
  avg(cpu) AS avg_cpu_time_used,
  max(cpu) AS max_cpu_time_used,
  avg(memory) AS avg_memory_used,
  avg(heap) AS avg_heap_memory_used,
  avg(external) AS avg_external_memory_used
FROM rows
GROUP BY timestamp
ORDER BY timestamp
