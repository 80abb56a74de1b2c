SELECT splitByChar('.', id)[1] AS request, count() AS rows, uniqExact(id) AS events
FROM (
  SELECT id, project FROM edge_logs
  UNION ALL SELECT id, project FROM function_edge_logs
  UNION ALL SELECT id, project FROM postgres_logs
)
WHERE project = @project
GROUP BY request
