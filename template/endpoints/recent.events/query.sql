SELECT count() AS events
FROM edge_logs
WHERE project = @project
  AND timestamp > toDateTime64(@now, 6, 'UTC') - INTERVAL 15 MINUTE AND timestamp <= toDateTime64(@now, 6, 'UTC')
HAVING events > 0
