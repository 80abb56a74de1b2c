SELECT
  1763640000000000 + number AS timestamp,
  concat('event-', toString(number)) AS id,
  ['GET', 'POST', 'PATCH', 'DELETE'][number % 4 + 1] AS method,
  concat('/rest/v1/orders?id=eq.', toString(sipHash64(number))) AS path,
  if(number % 7 = 0, NULL, 200 + number % 400) AS status_code,
  sipHash64(number, 1) % 100000 / 100 AS execution_time_ms
FROM numbers(1000000)
WHERE number < @rows
