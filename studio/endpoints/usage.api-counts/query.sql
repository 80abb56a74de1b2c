-- Requests to a project's API by product area, in time buckets.
WITH
  -- Width of a bucket and lookback from now, in seconds. The first bucket is cut where the range begins.
  multiIf(@interval IN ('minutely', '1hr'), 60, @interval IN ('hourly', '1day'), 3600, 86400) AS width,
  multiIf(@interval IN ('daily', '7day'), 604800, @interval = '1day', 86400, 3600) AS lookback,
  toStartOfInterval(edge_logs.timestamp, toIntervalMicrosecond(width * 1000000)) AS bucket
SELECT
  formatDateTime(bucket, '%Y-%m-%dT%H:%i:%S') AS timestamp,
  countIf(is_rest) AS total_rest_requests,
  countIf(is_storage) AS total_storage_requests,
  countIf(is_auth) AS total_auth_requests,
  countIf(is_realtime) AS total_realtime_requests
FROM edge_logs
WHERE edge_logs.timestamp >= toDateTime64(@now, 6, 'UTC') - toIntervalSecond(lookback)
  -- The address is the url, or project and path of an event without one; the source keeps an index of it. The key of
  -- one project counts that project's own requests, and no others whose address happens to contain its name:
  -- @project is that name, escaped.
  AND if(@pinned_project = '', match(address, @project), project = @pinned_project AND names_project)
GROUP BY bucket
ORDER BY bucket
