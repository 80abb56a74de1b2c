-- Requests to a project's API by product area, in time buckets (spec 4.3, 2.4). Width and range of the buckets are
-- under `bucket` in endpoint.yaml.
WITH
  toUInt32(@bucket_width) AS width,
  buckets AS (
    SELECT
      intDiv(toUnixTimestamp64Micro(timestamp), width * 1000000) * width AS bucket,
      countIf(position(path, '/rest') > 0) AS total_rest_requests,
      countIf(position(path, '/storage') > 0) AS total_storage_requests,
      countIf(position(path, '/auth') > 0) AS total_auth_requests,
      countIf(position(path, '/realtime') > 0) AS total_realtime_requests
    FROM edge_logs
    WHERE timestamp >= toDateTime64(@bucket_from, 6, 'UTC')
      AND timestamp < toDateTime64(@bucket_until, 6, 'UTC')
      -- The url, or project and path of an event without one; the source keeps an index of it.
      AND match(address, @project)
      -- The key of one project counts that project's own requests, and no others whose url happens to contain its name.
      AND (@pinned_project = '' OR project = @pinned_project)
    GROUP BY bucket
  )
SELECT
  formatDateTime(toDateTime(bucket, 'UTC'), '%Y-%m-%dT%H:%i:%S', 'UTC') AS timestamp,
  total_rest_requests,
  total_storage_requests,
  total_auth_requests,
  total_realtime_requests
FROM buckets
ORDER BY bucket
