SELECT count() AS n
FROM edge_logs
WHERE project = @project
  AND timestamp > toDateTime64(@now, 6, 'UTC') - toIntervalHour(1)
