-- How the services of one project do, in time buckets.
WITH
  ifNull(parseDateTime64BestEffortOrNull(@iso_timestamp_end, 6, 'UTC'), toDateTime64(@now, 6, 'UTC')) AS until,
  ifNull(parseDateTime64BestEffortOrNull(@iso_timestamp_start, 6, 'UTC'), until - toIntervalHour(1)) AS since,
  dateDiff('second', since, until) AS reach,
  multiIf(reach <= 3 * 3600, 60, reach <= 86400, 600, reach <= 14 * 86400, 3600, 86400) AS width,
  signals AS (
    SELECT
      timestamp AS at,
      extract(path, '^/(rest|auth|storage|realtime|functions|graphql)/') AS area,
      if(area = '', 'other', area) AS service,
      multiIf(status_code >= 500, 'error', status_code >= 400, 'warning', 'ok') AS grade
    FROM edge_logs
    WHERE project = @project AND timestamp >= since AND timestamp < until
    UNION ALL
    SELECT
      timestamp, '', 'database',
      multiIf(error_severity IN ('ERROR', 'FATAL', 'PANIC'), 'error', error_severity = 'WARNING', 'warning', 'ok')
    FROM postgres_logs
    WHERE project = @project AND timestamp >= since AND timestamp < until
  )
SELECT
  toUnixTimestamp64Micro(toStartOfInterval(at, toIntervalMicrosecond(width * 1000000))) AS timestamp,
  service,
  count() AS count,
  countIf(grade = 'ok') AS ok_count,
  countIf(grade = 'warning') AS warning_count,
  countIf(grade = 'error') AS error_count
FROM signals
GROUP BY timestamp, service
ORDER BY timestamp, service
