-- Requests of one project at the gateway.
WITH multiIf(@interval IN ('7day', 'daily'), 7 * 86400, @interval = '1day', 86400, 3600) AS reach
SELECT count() AS count
FROM edge_logs
WHERE project = @project AND timestamp >= toDateTime64(@now, 6, 'UTC') - toIntervalSecond(reach)
