import type { Tables } from '../../../trial/oracle/bigquery/value.ts';
import { at } from '../../../trial/oracle/bigquery/value.ts';
import { asLists, scalar } from '../compare.ts';
import {
  ascending,
  type CorpusQuery,
  descending,
  fieldOrder,
  grouped,
  most,
  newest,
  num,
  open,
  str,
  toHour,
  toMinute,
} from './rows.ts';

const RECORDS = { request: ['m', 'request'], response: ['m', 'response'] } as const;
const UNNEST = `cross join unnest(metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response`;

const exchanges = ({ edge_logs }: Tables) => open(edge_logs, RECORDS);

/** The gateway's requests: pages, filters, counts. */
export const EDGE: readonly CorpusQuery[] = [
  {
    sql: `select id, edge_logs.timestamp, event_message, request.method, request.path, response.status_code
from edge_logs
  ${UNNEST}
order by timestamp desc
limit 100`,
    expected: (tables) =>
      newest(
        exchanges(tables).map(({ e, request, response }) => ({
          id: e.id,
          timestamp: e.timestamp,
          event_message: e.event_message,
          method: scalar(at(request, 'method')),
          path: scalar(at(request, 'path')),
          status_code: scalar(at(response, 'status_code')),
        })),
      ),
    by: ['timestamp'],
    limit: 100,
  },
  {
    sql: `SELECT id, timestamp, event_message FROM edge_logs AS t ${UNNEST} WHERE response.status_code >= 500 ORDER BY timestamp DESC LIMIT 100`,
    expected: (tables) =>
      newest(
        exchanges(tables)
          .filter(({ response }) => num(response, 'status_code') >= 500)
          .map(({ e }) => ({ id: e.id, timestamp: e.timestamp, event_message: e.event_message })),
      ),
    by: ['timestamp'],
    limit: 100,
  },
  {
    sql: `select count(*) as count from edge_logs t ${UNNEST} where response.status_code between 400 and 499`,
    expected: (tables) => [
      {
        count: exchanges(tables).filter(
          ({ response }) => num(response, 'status_code') >= 400 && num(response, 'status_code') <= 499,
        ).length,
      },
    ],
  },
  {
    sql: 'select count(*) from edge_logs',
    expected: ({ edge_logs = [] }) => [{ f0_: edge_logs.length }],
  },
  {
    sql: `select count(id), 1, "x" as x, max(timestamp) from \`edge_logs\``,
    expected: ({ edge_logs = [] }) => [
      { f0_: edge_logs.length, f1_: 1, x: 'x', f2_: most(edge_logs.map((e) => e.timestamp)) },
    ],
  },
  {
    sql: `select timestamp_trunc(t.timestamp, minute) as timestamp, count(t.timestamp) as count
from edge_logs as t
  left join unnest(metadata) as m on true
  left join unnest(m.response) as response on true
where response.status_code >= 400
group by timestamp
order by timestamp desc`,
    expected: ({ edge_logs }) =>
      newest(
        grouped(
          open(edge_logs, { response: ['m', 'response'] }).filter(
            ({ response }) => num(response, 'status_code') >= 400,
          ),
          ({ e }) => toMinute(e.timestamp),
        ).map(({ key, rows }) => ({ timestamp: key, count: rows.length })),
      ),
    by: ['timestamp'],
  },
  {
    sql: `select cast(timestamp_trunc(t.timestamp, hour) as datetime) as timestamp,
  countif(response.status_code < 400) as ok_count,
  countif(response.status_code between 400 and 499) as warning_count,
  countif(response.status_code >= 500) as error_count,
from edge_logs t
  ${UNNEST}
group by timestamp
order by timestamp asc`,
    expected: (tables) =>
      ascending(
        grouped(exchanges(tables), ({ e }) => toHour(e.timestamp)),
        ({ key }) => key,
      ).map(({ key, rows }) => {
        const codes = rows.map(({ response }) => num(response, 'status_code'));
        return {
          timestamp: new Date(key / 1000).toISOString().slice(0, 19),
          ok_count: codes.filter((code) => code < 400).length,
          warning_count: codes.filter((code) => code >= 400 && code <= 499).length,
          error_count: codes.filter((code) => code >= 500).length,
        };
      }),
    by: ['timestamp'],
  },
  {
    sql: `select request.path as path, count(*) as n
from edge_logs, unnest(metadata) as m, unnest(m.request) as request
where starts_with(request.path, '/rest/v1')
group by path
order by n desc, path`,
    expected: ({ edge_logs }) =>
      descending(
        ascending(
          grouped(
            open(edge_logs, { request: ['m', 'request'] }).filter(({ request }) =>
              str(request, 'path')?.startsWith('/rest/v1'),
            ),
            ({ request }) => str(request, 'path'),
          ),
          ({ key }) => key,
        ),
        ({ rows }) => rows.length,
      ).map(({ key, rows }) => ({ path: key, n: rows.length })),
    by: ['n', 'path'],
  },
  {
    sql: `select method, count(*) as n from edge_logs cross join unnest(metadata) as m cross join unnest(m.request) as request
where method in ('GET', 'POST') and regexp_contains(path, '^/(rest|auth)/') group by method order by 1`,
    expected: ({ edge_logs }) =>
      ascending(
        grouped(
          open(edge_logs, { request: ['m', 'request'] }).filter(
            ({ request }) =>
              ['GET', 'POST'].includes(str(request, 'method') ?? '') &&
              /^\/(rest|auth)\//.test(str(request, 'path') ?? ''),
          ),
          ({ request }) => str(request, 'method'),
        ).map(({ key, rows }) => ({ method: key, n: rows.length })),
        ({ method }) => fieldOrder(method),
      ),
    by: ['method'],
  },
  {
    sql: `select id from edge_logs cross join unnest(metadata) as metadata cross join unnest(metadata.request) as request where request.method = 'POST' and metadata.request is not null`,
    expected: ({ edge_logs }) =>
      open(edge_logs, { request: ['m', 'request'] })
        .filter(({ request }) => str(request, 'method') === 'POST')
        .map(({ e }) => ({ id: e.id })),
  },
  {
    sql: `select id, timestamp, metadata from edge_logs order by timestamp desc limit 5`,
    expected: ({ edge_logs = [] }) =>
      newest(edge_logs).map(({ id, timestamp, metadata = null }) => ({
        id,
        timestamp,
        metadata: asLists(metadata),
      })),
    by: ['timestamp'],
    limit: 5,
  },
];
