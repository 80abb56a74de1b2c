-- Statistics of one project's function invocations in time buckets (spec 4.1, 2.2). Width and range of the buckets (rule 1) are
-- under `bucket` in endpoint.yaml. A refresh recomputes some buckets and keeps the others, so no
-- column may depend on the order in which events are read.
WITH
  toUInt32(@bucket_width) * 1000000 AS width,
  buckets AS (
    SELECT
      intDiv(toUnixTimestamp64Micro(timestamp), width) * width AS bucket,
      min(execution_time_ms) AS shortest,
      max(execution_time_ms) AS longest,
      -- Summed as integers of 2^-64 ms, since a sum of floating-point numbers depends on the order. Longer times would
      -- overflow it.
      sum(toInt256(clamp(execution_time_ms, -1e40, 1e40) * exp2(64))) / exp2(64) / count(execution_time_ms) AS average,
      -- The nearest rank: of 200 times, p95 is the 190th. The function takes the one after `level * times`, rounded down. It
      -- holds all times of the range in memory: 1 GiB (TAILRACE_QUERY_MEMORY_BYTES_MAX) is enough for 30 million.
      quantilesExact(0.949999999999, 0.989999999999)(execution_time_ms) AS percentiles,
      count() AS count,
      countIf(status_code >= 400) AS error_count,
      -- 1xx to 5xx; not returned, so the engine does not compute them until a SELECT below asks for them.
      sumForEach(arrayMap(class -> intDiv(status_code, 100) = class, [1, 2, 3, 4, 5])) AS class_counts
    FROM function_edge_logs
    WHERE project = @project
      AND timestamp >= toDateTime64(@bucket_from, 6, 'UTC')
      AND timestamp < toDateTime64(@bucket_until, 6, 'UTC')
      AND (@function_id = '' OR function_id = @function_id)
    GROUP BY bucket
  )
SELECT
  bucket AS timestamp,
  shortest AS min_execution_time,
  longest AS max_execution_time,
  average AS avg_execution_time,
  if(isNull(shortest), NULL, percentiles[1]) AS p95_execution_time,
  if(isNull(shortest), NULL, percentiles[2]) AS p99_execution_time,
  count,
  error_count
FROM buckets
ORDER BY timestamp
