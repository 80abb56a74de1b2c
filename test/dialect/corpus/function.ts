import { at, type Tables } from '../../../trial/oracle/bigquery/value.ts';
import { scalar } from '../compare.ts';
import {
  ascending,
  average,
  type CorpusQuery,
  descending,
  fieldOrder,
  grouped,
  HOUR,
  least,
  most,
  near,
  newest,
  num,
  open,
  orNull,
  str,
  sum,
  toHour,
  toMinute,
} from './rows.ts';

const UNNEST = `cross join unnest(metadata) as m
cross join unnest(m.request) as request
cross join unnest(m.response) as response`;

const calls = ({ function_edge_logs }: Tables) =>
  open(function_edge_logs, { request: ['m', 'request'], response: ['m', 'response'] });
const times = (rows: ReturnType<typeof calls>) => rows.map(({ m }) => num(m, 'execution_time_ms'));
const output = ({ function_logs }: Tables) => open(function_logs);

/** Calls of functions, and their output. */
export const FUNCTION: readonly CorpusQuery[] = [
  {
    sql: `select id, function_edge_logs.timestamp, event_message, response.status_code, request.method, m.function_id, m.execution_time_ms, m.deployment_id, m.version
from function_edge_logs ${UNNEST} order by timestamp desc limit 100`,
    expected: (tables) =>
      newest(
        calls(tables).map(({ e, m, request, response }) => ({
          id: e.id,
          timestamp: e.timestamp,
          event_message: e.event_message,
          status_code: scalar(at(response, 'status_code')),
          method: scalar(at(request, 'method')),
          function_id: scalar(at(m, 'function_id')),
          execution_time_ms: scalar(at(m, 'execution_time_ms')),
          deployment_id: scalar(at(m, 'deployment_id')),
          version: scalar(at(m, 'version')),
        })),
      ),
    by: ['timestamp'],
    limit: 100,
  },
  {
    sql: `select timestamp_trunc(timestamp, minute) as timestamp, avg(m.execution_time_ms) as avg_execution_time, max(cast(m.execution_time_ms as float64)) as max_execution_time
from function_edge_logs ${UNNEST} where safe_cast(m.execution_time_ms as float64) is not null group by timestamp order by timestamp asc`,
    expected: (tables) =>
      ascending(
        grouped(
          calls(tables).filter(({ m }) => !Number.isNaN(num(m, 'execution_time_ms'))),
          ({ e }) => toMinute(e.timestamp),
        ).map(({ key, rows }) => ({
          timestamp: key,
          avg_execution_time: average(times(rows)),
          max_execution_time: most(times(rows)),
        })),
        ({ timestamp }) => timestamp,
      ),
    by: ['timestamp'],
  },
  {
    sql: `select approx_quantiles(m.execution_time_ms, 100)[offset(99)] as p99, approx_quantiles(m.execution_time_ms, 4)[offset(1)] as q1, sum(m.execution_time_ms) as total, min(safe_cast(m.execution_time_ms as float64)) as least from function_edge_logs, unnest(metadata) as m`,
    expected: ({ function_edge_logs }) => {
      const all = open(function_edge_logs).map(({ m }) => num(m, 'execution_time_ms'));
      return [{ p99: near(all, 0.99), q1: near(all, 0.25), total: sum(all), least: least(all) }];
    },
  },
  {
    sql: `select m.function_id, count(*) as count, countif(response.status_code >= 500) as errors from function_edge_logs ${UNNEST} where m.function_id is not null group by function_id`,
    expected: (tables) =>
      grouped(
        calls(tables).filter(({ m }) => str(m, 'function_id') !== null),
        ({ m }) => str(m, 'function_id'),
      ).map(({ key, rows }) => ({
        function_id: key,
        count: rows.length,
        errors: rows.filter(({ response }) => num(response, 'status_code') >= 500).length,
      })),
  },
  {
    sql: `select request.pathname as path, round(avg(m.execution_time_ms), 2) as mean from function_edge_logs ${UNNEST} group by path order by path`,
    expected: (tables) =>
      ascending(
        grouped(calls(tables), ({ request }) => str(request, 'pathname')).map(({ key, rows }) => {
          const mean = average(times(rows));
          return {
            path: key,
            mean: mean === null ? null : { least: mean - 0.005001, most: mean + 0.005001 },
          };
        }),
        ({ path }) => fieldOrder(path),
      ),
    by: ['path'],
  },
  {
    sql: `select id from function_edge_logs ${UNNEST} where response.status_code = 200 and m.execution_time_ms / 2 > 40.5`,
    expected: (tables) =>
      calls(tables)
        .filter(
          ({ m, response }) => num(response, 'status_code') === 200 && num(m, 'execution_time_ms') / 2 > 40.5,
        )
        .map(({ e }) => ({ id: e.id })),
  },
  {
    sql: `select concat(request.method, ' ', request.pathname) as called, count(*) as n from function_edge_logs ${UNNEST} group by 1 order by n desc, called limit 10`,
    expected: (tables) =>
      descending(
        ascending(
          grouped(calls(tables), ({ request }) => {
            const [method, path] = [str(request, 'method'), str(request, 'pathname')];
            return method === null || path === null ? null : `${method} ${path}`;
          }).map(({ key, rows }) => ({ called: key, n: rows.length })),
          ({ called }) => called,
        ),
        ({ n }) => n,
      ),
    by: ['n', 'called'],
    limit: 10,
  },
  {
    sql: `select m.version as version, count(*) as n from function_edge_logs cross join unnest(metadata) as m where m.version = '7' or m.version = 200 group by version`,
    expected: ({ function_edge_logs }) =>
      grouped(
        open(function_edge_logs).filter(({ m }) => str(m, 'version') === '7' || num(m, 'version') === 200),
        ({ m }) => str(m, 'version'),
      ).map(({ key, rows }) => ({ version: (actual: unknown) => String(actual) === key, n: rows.length })),
  },
  {
    sql: `select id, timestamp, event_message, metadata.event_type, metadata.function_id, metadata.level from function_logs cross join unnest(metadata) as metadata where metadata.event_type is not null order by timestamp desc limit 100`,
    expected: (tables) =>
      newest(
        output(tables)
          .filter(({ m }) => at(m, 'event_type') !== null)
          .map(({ e, m }) => ({
            id: e.id,
            timestamp: e.timestamp,
            event_message: e.event_message,
            event_type: scalar(at(m, 'event_type')),
            function_id: scalar(at(m, 'function_id')),
            level: scalar(at(m, 'level')),
          })),
      ),
    by: ['timestamp'],
    limit: 100,
  },
  {
    sql: `select level, event_type, count(*) from function_logs, unnest(metadata) group by level, event_type`,
    expected: (tables) =>
      grouped(output(tables), ({ m }) => [str(m, 'level'), str(m, 'event_type')]).map(({ key, rows }) => ({
        level: key[0],
        event_type: key[1],
        f0_: rows.length,
      })),
  },
  {
    sql: `select timestamp_trunc(timestamp, hour) as hour, sum(cpu_time_used) as cpu, avg(cpu_time_used) as mean from function_logs as f cross join unnest(f.metadata) as m group by hour order by hour desc`,
    expected: (tables) =>
      descending(
        grouped(output(tables), ({ e }) => toHour(e.timestamp)).map(({ key, rows }) => {
          const used = rows.map(({ m }) => num(m, 'cpu_time_used'));
          return { hour: key, cpu: sum(used), mean: average(used) };
        }),
        ({ hour }) => hour,
      ),
    by: ['hour'],
  },
  {
    sql: `select safe_cast(m.cpu_time_used as float64) as cpu from function_logs cross join unnest(metadata) as m order by cpu desc`,
    expected: (tables) =>
      descending(
        output(tables).map(({ m }) => ({ cpu: orNull(num(m, 'cpu_time_used')) })),
        ({ cpu }) => cpu,
      ),
    by: ['cpu'],
  },
  {
    sql: `select id, safe_cast(m.cpu_time_used as float64) as cpu from function_logs cross join unnest(metadata) as m order by cpu, id`,
    expected: (tables) =>
      ascending(
        ascending(
          output(tables).map(({ e, m }) => ({ id: e.id, cpu: orNull(num(m, 'cpu_time_used')) })),
          ({ id }) => id,
        ),
        ({ cpu }) => cpu,
      ),
    by: ['cpu', 'id'],
  },
  {
    sql: `select count(*) as n from function_logs cross join unnest(metadata) as m where m.level in ('error', 'warning') and lower(event_message) like '%err%'`,
    expected: (tables) => [
      {
        n: output(tables).filter(
          ({ e, m }) =>
            ['error', 'warning'].includes(str(m, 'level') ?? '') &&
            e.event_message.toLowerCase().includes('err'),
        ).length,
      },
    ],
  },
  {
    sql: `select regexp_contains(event_message, '^\\\\{') as is_json, count(*) as n from function_logs group by is_json order by is_json`,
    expected: ({ function_logs = [] }) =>
      ascending(
        grouped(function_logs, (e) => e.event_message.startsWith('{')).map(({ key, rows }) => ({
          is_json: key,
          n: rows.length,
        })),
        ({ is_json }) => Number(is_json),
      ),
    by: ['is_json'],
  },
  {
    sql: `select a.hour, a.calls, b.lines from
  (select timestamp_trunc(timestamp, hour) as hour, count(*) as calls from function_edge_logs group by hour) as a
  left join (select timestamp_trunc(timestamp, hour) as hour, count(*) as lines from function_logs group by hour) as b on a.hour = b.hour
order by a.hour`,
    expected: ({ function_edge_logs = [], function_logs = [] }) => {
      const lines = new Map(
        grouped(function_logs, (e) => toHour(e.timestamp)).map(({ key, rows }) => [key, rows.length]),
      );
      return ascending(
        grouped(function_edge_logs, (e) => toHour(e.timestamp)).map(({ key, rows }) => ({
          hour: key,
          calls: rows.length,
          lines: lines.get(key) ?? null,
        })),
        ({ hour }) => hour,
      );
    },
    by: ['hour'],
  },
  {
    sql: `select timestamp_diff(max(timestamp), min(timestamp), hour) as hours, timestamp_diff(min(timestamp), max(timestamp), minute) as minutes from function_edge_logs`,
    expected: ({ function_edge_logs = [] }) => {
      const instants = function_edge_logs.map((e) => e.timestamp);
      const span = Math.max(...instants) - Math.min(...instants);
      return [{ hours: Math.floor(span / HOUR), minutes: -Math.floor(span / (HOUR / 60)) }];
    },
  },
];
