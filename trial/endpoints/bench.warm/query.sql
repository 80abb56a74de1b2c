SELECT count() AS events
FROM edge_logs
WHERE project = @project
