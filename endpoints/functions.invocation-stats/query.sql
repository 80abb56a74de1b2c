-- Statistics of one project's function invocations in buckets of time (spec 4.1, 2.2).
WITH
  -- Width of a bucket and range covered, in seconds. Any other interval is a day in hours (rule 1).
  -- By multiIf, which the engine computes before it reads: transform() would leave it without a bound to skip data by.
  multiIf(@interval = '5min', 1, @interval IN ('15min', '1hr'), 60, @interval = '7day', 86400, 3600) AS width,
  multiIf(@interval = '5min', 300, @interval = '15min', 900, @interval = '1hr', 3600, @interval = '7day', 604800, 86400) AS covered,
  -- The first bucket starts where the range does, cut down to the width (rule 2).
  intDiv(toInt64(toUnixTimestamp(toDateTime64(@now, 6, 'UTC'))) - covered, width) * width AS first_bucket,
  buckets AS (
    SELECT
      intDiv(toUnixTimestamp64Micro(timestamp), width * 1000000) * width * 1000000 AS bucket,
      min(execution_time_ms) AS min_execution_time,
      max(execution_time_ms) AS max_execution_time,
      avg(execution_time_ms) AS avg_execution_time,
      quantilesTDigest(0.95, 0.99)(execution_time_ms) AS percentiles,
      count() AS count,
      countIf(status_code >= 400) AS error_count,
      -- By class of status; kept for those who extend this query, not returned (spec 2.2).
      countIf(status_code BETWEEN 100 AND 199) AS count_1xx,
      countIf(status_code BETWEEN 200 AND 299) AS count_2xx,
      countIf(status_code BETWEEN 300 AND 399) AS count_3xx,
      countIf(status_code BETWEEN 400 AND 499) AS count_4xx,
      countIf(status_code BETWEEN 500 AND 599) AS count_5xx
    FROM function_edge_logs
    WHERE project = @project
      AND timestamp >= toDateTime64(first_bucket, 6, 'UTC')
      AND (@function_id = '' OR function_id = @function_id)
    GROUP BY bucket
  )
SELECT
  bucket AS timestamp,
  min_execution_time,
  max_execution_time,
  avg_execution_time,
  percentiles[1] AS p95_execution_time,
  percentiles[2] AS p99_execution_time,
  count,
  error_count
FROM buckets
ORDER BY timestamp
