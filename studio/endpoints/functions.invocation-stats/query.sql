-- Invocations of one project's functions in time buckets. A self-hosted Supabase has no records of invocations, so in a bucket
-- without any, the gateway's requests for functions count, which have no execution time.
WITH
  multiIf(@interval = '5min', 1, @interval IN ('15min', '1hr'), 60, @interval = '3hr', 300, @interval = '7day', 86400, 3600) AS width,
  multiIf(@interval = '5min', 300, @interval = '15min', 900, @interval = '1hr', 3600, @interval = '3hr', 10800, @interval = '7day', 604800, 86400) AS reach,
  -- Of the buckets below, the first is whole.
  toStartOfInterval(
    toDateTime64(@now, 6, 'UTC') - toIntervalSecond(reach),
    toIntervalMicrosecond(width * 1000000)
  ) AS since,
  invocations AS (
    SELECT timestamp AS at, true AS is_recorded, execution_time_ms AS duration, status_code AS status
    FROM function_edge_logs
    WHERE project = @project AND timestamp >= since AND (@function_id = '' OR function_id = @function_id)
      AND (status_code IS NOT NULL OR execution_time_ms IS NOT NULL) -- else it is a line of a function's output
    UNION ALL
    SELECT timestamp, false, NULL, status_code
    FROM edge_logs
    WHERE project = @project AND timestamp >= since AND startsWith(path, '/functions/v1/')
      AND (@function_id = '' OR extract(path, '^/functions/v1/([^/?]+)') = @function_id)
  ),
  -- The nearest rank; see the shipped endpoint of this name for the codes, and for their way back.
  if(abs(duration) < 0.00000095367431640625, 0,
    bitShiftRight(reinterpretAsUInt32(toFloat32(least(abs(duration), 8796093022207.))) + 8192, 14) - 54656) AS code,
  arrayMap(
    y -> if(y = 0, 0, sign(y) * reinterpretAsFloat32(toUInt32(
      bitShiftLeft(bitShiftRight(reinterpretAsUInt32(toFloat32(abs(y))), 16) + 54656, 14)
    ))),
    quantilesBFloat16(0.95, 0.99)(sign(duration) * reinterpretAsFloat32(toUInt32(bitShiftLeft(toUInt32(code), 16))))
  ) AS percentiles,
  countIf(is_recorded) AS recorded
SELECT
  toUnixTimestamp64Micro(toStartOfInterval(at, toIntervalMicrosecond(width * 1000000))) AS timestamp,
  min(duration) AS min_execution_time,
  max(duration) AS max_execution_time,
  avg(duration) AS avg_execution_time,
  clamp(percentiles[1], min_execution_time, max_execution_time) AS p95_execution_time,
  clamp(percentiles[2], min_execution_time, max_execution_time) AS p99_execution_time,
  if(recorded > 0, recorded, count()) AS count,
  if(recorded > 0, countIf(is_recorded AND status >= 400), countIf(status >= 400)) AS error_count
FROM invocations
GROUP BY timestamp
ORDER BY timestamp
