SELECT path, count() AS failures
FROM edge_logs
WHERE project = @project AND status_code >= 500
  AND timestamp > toDateTime64(@now, 6, 'UTC') - INTERVAL 1 HOUR AND timestamp <= toDateTime64(@now, 6, 'UTC')
GROUP BY path ORDER BY failures DESC, path
