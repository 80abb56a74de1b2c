-- Statistics of one project's function invocations in buckets of time (spec 4.1, 2.2). How wide the buckets are and how far
-- back they go (rule 1) stands under `bucket` in endpoint.yaml.
--
-- A refresh makes some buckets anew and keeps the others, so each row has to be the same however its events are read: sums of
-- floating-point numbers and T-digests are not, since they depend on the order.
WITH
  toUInt32(@bucket_width) * 1000000 AS width,
  -- Sums of whole numbers do not depend on the order. Times up to 24 days are added up in units of 2^-64 ms, more than anyone
  -- measures; longer ones as they are, smallest first.
  exp2(31) AS longest,
  buckets AS (
    SELECT
      intDiv(toUnixTimestamp64Micro(timestamp), width) * width AS bucket,
      min(execution_time_ms) AS min_execution_time,
      max(execution_time_ms) AS max_execution_time,
      count(execution_time_ms) AS times,
      sum(toInt128(if(abs(execution_time_ms) < longest, execution_time_ms, 0) * exp2(64))) AS sum_units,
      arraySum(arraySort(groupArrayIf(execution_time_ms, abs(execution_time_ms) >= longest))) AS sum_longer,
      -- Percentiles of up to 100 times are one of them, the nearest by rank; of more they are up to 0.8 % nearer to 0.
      arraySort(groupArray(100)(execution_time_ms)) AS few,
      quantilesBFloat16(0.95, 0.99)(execution_time_ms) AS of_many,
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
      AND timestamp >= toDateTime64(@bucket_from, 6, 'UTC')
      AND timestamp < toDateTime64(@bucket_until, 6, 'UTC')
      AND (@function_id = '' OR function_id = @function_id)
    GROUP BY bucket
  )
SELECT
  bucket AS timestamp,
  min_execution_time,
  max_execution_time,
  (toFloat64(sum_units) / exp2(64) + sum_longer) / nullIf(times, 0) AS avg_execution_time,
  if(times > 100, clamp(of_many[1], min_execution_time, max_execution_time),
    arrayElementOrNull(few, intDiv(times * 95 + 99, 100))) AS p95_execution_time,
  if(times > 100, clamp(of_many[2], min_execution_time, max_execution_time),
    arrayElementOrNull(few, intDiv(times * 99 + 99, 100))) AS p99_execution_time,
  count,
  error_count
FROM buckets
ORDER BY timestamp
