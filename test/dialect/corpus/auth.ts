import { at, type Tables } from '../../../trial/oracle/bigquery/value.ts';
import { jsonText, scalar } from '../compare.ts';
import { find, jsonValue } from '../generate/json-value.ts';
import {
  ascending,
  type CorpusQuery,
  descending,
  grouped,
  near,
  newest,
  num,
  open,
  str,
  toHour,
} from './rows.ts';

const auth = ({ auth_logs }: Tables) => open(auth_logs);

/** The auth server's messages, which are JSON texts. */
export const AUTH: readonly CorpusQuery[] = [
  {
    sql: `select id, auth_logs.timestamp, event_message, metadata.level, metadata.status, metadata.path, metadata.msg as msg, metadata.error from auth_logs
cross join unnest(metadata) as metadata order by timestamp desc limit 100`,
    expected: (tables) =>
      newest(
        auth(tables).map(({ e, m }) => ({
          id: e.id,
          timestamp: e.timestamp,
          event_message: e.event_message,
          level: scalar(at(m, 'level')),
          status: scalar(at(m, 'status')),
          path: scalar(at(m, 'path')),
          msg: scalar(at(m, 'msg')),
          error: scalar(at(m, 'error')),
        })),
      ),
    by: ['timestamp'],
    limit: 100,
  },
  {
    sql: `select json_value(event_message, "$.level") as level, count(*) as count from auth_logs group by level order by level`,
    expected: ({ auth_logs = [] }) =>
      ascending(
        grouped(auth_logs, (e) => jsonValue(e.event_message, '$.level')).map(({ key, rows }) => ({
          level: key,
          count: rows.length,
        })),
        ({ level }) => level,
      ),
    by: ['level'],
  },
  {
    sql: `select id, json_value(event_message, '$.status') as status, json_value(event_message, "$.deep['x.y']") as dotted, json_value(event_message, '$.deep.list[1].z') as nested from auth_logs`,
    expected: ({ auth_logs = [] }) =>
      auth_logs.map(({ id, event_message }) => ({
        id,
        status: jsonValue(event_message, '$.status'),
        dotted: jsonValue(event_message, "$.deep['x.y']"),
        nested: jsonValue(event_message, '$.deep.list[1].z'),
      })),
  },
  {
    sql: `select id, json_query(event_message, '$.deep') as deep, json_query(event_message, '$.deep.list') is null as none from auth_logs`,
    expected: ({ auth_logs = [] }) =>
      auth_logs.map(({ id, event_message }) => ({
        id,
        deep: jsonText(find(event_message, '$.deep')),
        none: find(event_message, '$.deep.list') === undefined,
      })),
  },
  {
    sql: `select count(*) as n from auth_logs where cast(json_value(event_message, '$.status') as int64) >= 400`,
    expected: ({ auth_logs = [] }) => [
      {
        n: auth_logs.filter((e) => Number(jsonValue(e.event_message, '$.status') ?? Number.NaN) >= 400)
          .length,
      },
    ],
  },
  {
    sql: `select timestamp_trunc(timestamp, hour) as timestamp, countif(m.status >= 400) / count(*) as share from auth_logs cross join unnest(metadata) as m group by timestamp order by timestamp`,
    expected: (tables) =>
      ascending(
        grouped(auth(tables), ({ e }) => toHour(e.timestamp)).map(({ key, rows }) => ({
          timestamp: key,
          share: rows.filter(({ m }) => num(m, 'status') >= 400).length / rows.length,
        })),
        ({ timestamp }) => timestamp,
      ),
    by: ['timestamp'],
  },
  {
    sql: `select path, approx_quantiles(duration, 100)[offset(95)] as p95, count(*) as n from auth_logs, unnest(metadata) as m where safe_cast(duration as float64) is not null group by path order by n desc`,
    expected: (tables) =>
      descending(
        grouped(
          auth(tables).filter(({ m }) => !Number.isNaN(num(m, 'duration'))),
          ({ m }) => str(m, 'path'),
        ).map(({ key, rows }) => ({
          path: key,
          p95: near(
            rows.map(({ m }) => num(m, 'duration')),
            0.95,
          ),
          n: rows.length,
        })),
        ({ n }) => n,
      ),
    by: ['n'],
  },
  {
    sql: `select id from auth_logs cross join unnest(metadata) as m where m.error is null and m.level is not null`,
    expected: (tables) =>
      auth(tables)
        .filter(({ m }) => at(m, 'error') === null && at(m, 'level') !== null)
        .map(({ e }) => ({ id: e.id })),
  },
  {
    sql: `select ifnull(m.level, 'none') as level, if(m.status = 200, 'ok', 'other') as outcome, count(*) as n from auth_logs cross join unnest(metadata) as m group by 1, 2`,
    expected: (tables) =>
      grouped(auth(tables), ({ m }) => [
        str(m, 'level') ?? 'none',
        num(m, 'status') === 200 ? 'ok' : 'other',
      ]).map(({ key, rows }) => ({ level: key[0], outcome: key[1], n: rows.length })),
  },
];
