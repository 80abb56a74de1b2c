import type { Tables } from '../../../trial/oracle/bigquery/value.ts';
import {
  ascending,
  average,
  type CorpusQuery,
  descending,
  fieldOrder,
  grouped,
  least,
  most,
  near,
  num,
  open,
  orNull,
  str,
  toDay,
  toHour,
} from './rows.ts';

const RECORDS = { request: ['m', 'request'], response: ['m', 'response'] } as const;
const UNNEST = `cross join unnest(metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response`;

const exchanges = ({ edge_logs }: Tables) => open(edge_logs, RECORDS);
const withHeaders = ({ edge_logs }: Tables) =>
  open(edge_logs, { ...RECORDS, headers: ['request', 'headers'], cf: ['request', 'cf'] });

/** Charts and figures of the gateway's requests. */
export const EDGE_CHART: readonly CorpusQuery[] = [
  {
    sql: `select headers.user_agent as agent, cf.country, count(*) as requests
from edge_logs
  ${UNNEST}
  cross join unnest(request.headers) as headers
  cross join unnest(request.cf) as cf
where headers.user_agent is not null
group by headers.user_agent, cf.country
having count(*) > 1
order by requests desc`,
    expected: (tables) =>
      descending(
        grouped(
          withHeaders(tables).filter(({ headers }) => str(headers, 'user_agent') !== null),
          ({ headers, cf }) => [str(headers, 'user_agent'), str(cf, 'country')],
        )
          .filter(({ rows }) => rows.length > 1)
          .map(({ key: [agent, country], rows }) => ({ agent, country, requests: rows.length })),
        ({ requests }) => requests,
      ),
    by: ['requests'],
  },
  {
    sql: `select approx_quantiles(response.origin_time, 100)[offset(50)] as p50, approx_quantiles(response.origin_time, 100)[offset(95)] as p95, avg(response.origin_time) as mean, max(cast(response.origin_time as float64)) as slowest from edge_logs ${UNNEST} where safe_cast(response.origin_time as float64) is not null`,
    expected: (tables) => {
      const times = exchanges(tables)
        .map(({ response }) => num(response, 'origin_time'))
        .filter((time) => !Number.isNaN(time));
      return [{ p50: near(times, 0.5), p95: near(times, 0.95), mean: average(times), slowest: most(times) }];
    },
  },
  {
    sql: `select safe_divide(countif(response.status_code >= 500), count(*)) as rate, safe_divide(1, 0) as none from edge_logs ${UNNEST}`,
    expected: (tables) => {
      const all = exchanges(tables);
      const bad = all.filter(({ response }) => num(response, 'status_code') >= 500);
      return [{ rate: bad.length / all.length, none: null }];
    },
  },
  {
    sql: `select case when response.status_code >= 500 then 'error' when response.status_code >= 400 then 'warning' else 'ok' end as level, count(*) as count
from edge_logs ${UNNEST} group by level order by level`,
    expected: (tables) =>
      ascending(
        grouped(exchanges(tables), ({ response }) => {
          const code = num(response, 'status_code');
          return code >= 500 ? 'error' : code >= 400 ? 'warning' : 'ok';
        }).map(({ key, rows }) => ({ level: key, count: rows.length })),
        ({ level }) => level,
      ),
    by: ['level'],
  },
  {
    sql: `select cast(response.status_code as string) as status, count(*) as count from edge_logs ${UNNEST} group by 1 order by 2 desc, 1`,
    expected: (tables) =>
      descending(
        ascending(
          grouped(exchanges(tables), ({ response }) => str(response, 'status_code')),
          ({ key }) => key,
        ),
        ({ rows }) => rows.length,
      ).map(({ key, rows }) => ({ status: key, count: rows.length })),
    by: ['count', 'status'],
  },
  {
    sql: `select distinct request.method as method from edge_logs ${UNNEST} order by method desc`,
    expected: (tables) =>
      descending(
        grouped(exchanges(tables), ({ request }) => str(request, 'method')).map(({ key }) => ({
          method: key,
        })),
        ({ method }) => fieldOrder(method),
      ),
    by: ['method'],
  },
  {
    sql: `select id, count(*) over () as total from edge_logs ${UNNEST} where request.method = "GET" limit 3`,
    expected: (tables) => {
      const found = exchanges(tables).filter(({ request }) => str(request, 'method') === 'GET');
      return found.map(({ e }) => ({ id: e.id, total: found.length }));
    },
    limit: 3,
  },
  {
    sql: `with hours as (select timestamp_trunc(timestamp, hour) as hour, response.status_code >= 500 as failed from edge_logs ${UNNEST})
select hour, count(*) as n, countif(failed) as failures from hours group by hour order by hour`,
    expected: (tables) =>
      ascending(
        grouped(exchanges(tables), ({ e }) => toHour(e.timestamp)).map(({ key, rows }) => ({
          hour: key,
          n: rows.length,
          failures: rows.filter(({ response }) => num(response, 'status_code') >= 500).length,
        })),
        ({ hour }) => hour,
      ),
    by: ['hour'],
  },
  {
    sql: `select coalesce(request.path, '(none)') as path, min(timestamp) as first, max(timestamp) as last from edge_logs ${UNNEST} group by 1 order by 1`,
    expected: (tables) =>
      ascending(
        grouped(exchanges(tables), ({ request }) => str(request, 'path') ?? '(none)').map(
          ({ key, rows }) => ({
            path: key,
            first: least(rows.map(({ e }) => e.timestamp)),
            last: most(rows.map(({ e }) => e.timestamp)),
          }),
        ),
        ({ path }) => path,
      ),
    by: ['path'],
  },
  {
    sql: `select id from edge_logs ${UNNEST} where not (request.method = 'GET' or response.status_code < 300)`,
    expected: (tables) =>
      exchanges(tables)
        .filter(({ request, response }) => {
          const method = str(request, 'method');
          return method !== null && method !== 'GET' && num(response, 'status_code') >= 300;
        })
        .map(({ e }) => ({ id: e.id })),
  },
  {
    sql: `select timestamp_trunc(timestamp, day) as timestamp, count(distinct request.path) as paths from edge_logs ${UNNEST} group by timestamp order by timestamp`,
    expected: (tables) =>
      ascending(
        grouped(exchanges(tables), ({ e }) => toDay(e.timestamp)).map(({ key, rows }) => ({
          timestamp: key,
          paths: new Set(rows.map(({ request }) => str(request, 'path')).filter((path) => path !== null))
            .size,
        })),
        ({ timestamp }) => timestamp,
      ),
    by: ['timestamp'],
  },
  {
    sql: `select id, cast(response.status_code as int64) as code from edge_logs ${UNNEST} where response.status_code in (200, 404, 500) order by code desc, id`,
    expected: (tables) =>
      descending(
        ascending(
          exchanges(tables)
            .map(({ e, response }) => ({ id: e.id, code: orNull(num(response, 'status_code')) }))
            .filter(({ code }) => [200, 404, 500].includes(code ?? 0)),
          ({ id }) => id,
        ),
        ({ code }) => code,
      ),
    by: ['code', 'id'],
  },
  {
    sql: `select t.id from edge_logs t cross join unnest(t.metadata) m cross join unnest(m.request) r where r.path like '%/v1/%' and r.method not like 'P%'`,
    expected: ({ edge_logs }) =>
      open(edge_logs, { r: ['m', 'request'] })
        .filter(({ r }) => {
          const method = str(r, 'method');
          return str(r, 'path')?.includes('/v1/') && method !== null && !method.startsWith('P');
        })
        .map(({ e }) => ({ id: e.id })),
  },
];
