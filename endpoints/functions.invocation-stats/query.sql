-- Statistics of one project's function invocations in time buckets (spec 4.1, 2.2). No column depends on the order
-- in which events are read.
WITH
  -- Width of a bucket and range covered, in seconds (rule 1).
  map(
    '5min', (1, 300), '15min', (60, 900), '1hr', (60, 3600), '1day', (3600, 86400), '7day', (86400, 604800)
  )[@interval] AS buckets,
  buckets.1 AS width,
  buckets.2 AS reach,
  -- The first bucket is whole (rule 2).
  toStartOfInterval(
    toDateTime64(@now, 6, 'UTC') - toIntervalSecond(reach),
    toIntervalMicrosecond(width * 1000000)
  ) AS since,
  -- Buckets of an hour or more consist of hours, which the source's rollup holds.
  toStartOfInterval(function_edge_logs.timestamp, toIntervalMicrosecond(least(width, 3600) * 1000000)) AS time,
  toStartOfInterval(time, toIntervalMicrosecond(width * 1000000)) AS bucket,
  clamp(execution_time_ms, -1e38, 1e38) AS duration,
  -- quantilesBFloat16 finds the nearest rank (of 200 times, p95 is the 190th) in any order of rows and parts, and
  -- tells 2^16 numbers apart: too few for times themselves. So a time becomes a code: 0 below 2^-20 ms, then 512
  -- codes for each power of two up to 2^43 ms, by its first 10 significant bits, rounded: less than 1/1024 off. The
  -- code is the upper half of a single-precision number.
  if(abs(execution_time_ms) < 0.00000095367431640625, 0,
    bitShiftRight(reinterpretAsUInt32(toFloat32(least(abs(execution_time_ms), 8796093022207.))) + 8192, 14) - 54656) AS code,
  quantilesBFloat16(0.95, 0.99)(sign(execution_time_ms) * reinterpretAsFloat32(toUInt32(bitShiftLeft(toUInt32(code), 16)))) AS coded,
  -- Back to times.
  arrayMap(
    y -> sign(y) * reinterpretAsFloat32(toUInt32(
      bitShiftLeft(bitShiftRight(reinterpretAsUInt32(toFloat32(abs(y))), 16) + 54656, 14)
    )),
    coded
  ) AS percentiles,
  -- 1xx to 5xx; not returned, so they do not reach the engine until an item below asks for them.
  sumForEach(arrayMap(class -> intDiv(status_code, 100) = class, [1, 2, 3, 4, 5])) AS class_counts
SELECT
  toUnixTimestamp64Micro(bucket) AS timestamp,
  min(execution_time_ms) AS min_execution_time,
  max(execution_time_ms) AS max_execution_time,
  -- Decimals: a sum of floating-point numbers depends on the order. They round, by less than 1e-15, beyond an only time.
  clamp(avg(toDecimal256(duration, 20)), min_execution_time, max_execution_time) AS avg_execution_time,
  clamp(percentiles[1], min_execution_time, max_execution_time) AS p95_execution_time,
  clamp(percentiles[2], min_execution_time, max_execution_time) AS p99_execution_time,
  count() AS count,
  countIf(status_code >= 400) AS error_count
FROM function_edge_logs
WHERE project = @project
  AND time >= since
  AND (@function_id = '' OR function_id = @function_id)
GROUP BY timestamp
ORDER BY timestamp
