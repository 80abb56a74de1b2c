SELECT function_id, round(quantileExact(0.95)(execution_time_ms), 1) AS p95_ms, count() AS invocations
FROM function_edge_logs
WHERE project = @project
  AND timestamp > toDateTime64(@now, 6, 'UTC') - toIntervalHour(@hours) AND timestamp <= toDateTime64(@now, 6, 'UTC')
GROUP BY function_id HAVING invocations >= 10
ORDER BY p95_ms DESC, function_id
