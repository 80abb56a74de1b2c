SELECT splitByChar('.', id)[1] AS request, count() AS rows, uniqExact(id) AS events
FROM (
  SELECT id, project FROM edge_logs
  UNION ALL SELECT id, project FROM function_edge_logs
  UNION ALL SELECT id, project FROM postgres_logs
  UNION ALL SELECT splitByChar(' ', event_message)[1] AS id, project FROM logs
)
WHERE project = @project
GROUP BY request
