-- What was stored and asked, by day of arrival (UTC) and project or key. The service writes the counts once a minute.
SELECT
  toString(toDate(usage.timestamp, 'UTC')) AS day,
  usage.project AS project,
  if(@by = 'key', usage.key, '') AS key,
  sum(usage.events) AS events,
  sum(usage.bytes) AS bytes,
  ifNull(sum(usage.queries), 0) AS queries,
  ifNull(round(sum(usage.core_ms) / 1000, 3), 0) AS core_seconds
FROM tailrace_usage AS usage
WHERE usage.timestamp >= toStartOfDay(toDateTime64(@now, 6, 'UTC')) - toIntervalDay(@days - 1)
  AND (@project = '' OR usage.project = @project)
GROUP BY day, project, key
ORDER BY day DESC, events DESC, core_seconds DESC, project, key
