SELECT splitByChar('.', id)[1] AS request, count() AS rows, uniqExact(id) AS events
FROM edge_logs
WHERE project = @project
GROUP BY request
