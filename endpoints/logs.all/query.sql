-- The newest entries of a project (spec 4.2, 2.3).
WITH
  -- How far back the plan reaches, exclusive; any other plan is FREE. By multiIf, which the engine computes before it reads:
  -- transform() would leave it without a bound to skip data by.
  toDateTime64(@now, 6, 'UTC') - toIntervalDay(multiIf(@project_tier = 'PRO', 7, @project_tier IN ('PAYG', 'ENTERPRISE'), 90, 1)) AS bound,

  -- One view a source, newest first (rule 1), of the range that the service binds: the caller's own bounds and the cursor.
  -- Only the edge view is returned (rule 2); a view that is not read costs nothing.
  edge_view AS (
    SELECT id, timestamp AS at, event_message, metadata FROM edge_logs
    WHERE project = @project AND timestamp > bound AND timestamp >= @page_from AND (@page_until = '' OR timestamp <= @page_until)
      -- Of several entries at the instant of the cursor, those after its row.
      AND (@cursor_id IS NULL OR timestamp < @page_until OR id < @cursor_id)
    ORDER BY timestamp DESC, id DESC
  ),
  postgres_view AS (
    SELECT id, timestamp AS at, event_message, metadata FROM postgres_logs
    WHERE project = @project AND timestamp > bound AND timestamp >= @page_from AND (@page_until = '' OR timestamp <= @page_until)
    ORDER BY timestamp DESC, id DESC
  ),
  function_edge_view AS (
    SELECT id, timestamp AS at, event_message, metadata FROM function_edge_logs
    WHERE project = @project AND timestamp > bound AND timestamp >= @page_from AND (@page_until = '' OR timestamp <= @page_until)
    ORDER BY timestamp DESC, id DESC
  ),
  function_runtime_view AS (
    SELECT id, timestamp AS at, event_message, metadata FROM function_logs
    WHERE project = @project AND timestamp > bound AND timestamp >= @page_from AND (@page_until = '' OR timestamp <= @page_until)
    ORDER BY timestamp DESC, id DESC
  ),
  auth_view AS (
    SELECT id, timestamp AS at, event_message, metadata FROM auth_logs
    WHERE project = @project AND timestamp > bound AND timestamp >= @page_from AND (@page_until = '' OR timestamp <= @page_until)
    ORDER BY timestamp DESC, id DESC
  ),
  realtime_view AS (
    SELECT id, timestamp AS at, event_message, metadata FROM realtime_logs
    WHERE project = @project AND timestamp > bound AND timestamp >= @page_from AND (@page_until = '' OR timestamp <= @page_until)
    ORDER BY timestamp DESC, id DESC
  ),
  storage_view AS (
    SELECT id, timestamp AS at, event_message, metadata FROM storage_logs
    WHERE project = @project AND timestamp > bound AND timestamp >= @page_from AND (@page_until = '' OR timestamp <= @page_until)
    ORDER BY timestamp DESC, id DESC
  ),
  postgrest_view AS (
    SELECT id, timestamp AS at, event_message, metadata FROM postgrest_logs
    WHERE project = @project AND timestamp > bound AND timestamp >= @page_from AND (@page_until = '' OR timestamp <= @page_until)
    ORDER BY timestamp DESC, id DESC
  ),
  pgbouncer_view AS (
    SELECT id, timestamp AS at, event_message, metadata FROM pgbouncer_logs
    WHERE project = @project AND timestamp > bound AND timestamp >= @page_from AND (@page_until = '' OR timestamp <= @page_until)
    ORDER BY timestamp DESC, id DESC
  )
SELECT id, toUnixTimestamp64Micro(at) AS timestamp, event_message, metadata
FROM edge_view
LIMIT 100
