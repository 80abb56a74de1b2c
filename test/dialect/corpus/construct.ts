import { at, type TableEvent, type Tables } from '../../../trial/oracle/bigquery/value.ts';
import { EMPTY_TABLES, SOURCES, TABLES } from '../generate/schema.ts';
import {
  ascending,
  type CorpusQuery,
  datetime,
  descending,
  fieldOrder,
  grouped,
  iso,
  most,
  newest,
  num,
  open,
  str,
  toHour,
} from './rows.ts';

/** One event, found by its identifier: Studio's detail page. */
const DETAIL: readonly CorpusQuery[] = TABLES.map((table) => ({
  sql: `select id, timestamp, event_message, metadata is not null as has_metadata from ${table} where id = '${table}-3' limit 1`,
  expected: (tables) =>
    (tables[table] ?? [])
      .filter(({ id }) => id === `${table}-3`)
      .map(({ id, timestamp, event_message, metadata }) => ({
        id,
        timestamp,
        event_message,
        has_metadata: metadata !== null && metadata !== undefined,
      })),
}));

const EMPTY: readonly CorpusQuery[] = EMPTY_TABLES.flatMap((table) => [
  {
    sql: `select id, ${table}.timestamp, event_message, m.level from ${table} cross join unnest(metadata) as m order by timestamp desc limit 100`,
    expected: () => [],
  },
  {
    sql: `select count(*) as count, max(timestamp) as newest, sum(1) as total from ${table}`,
    expected: () => [{ count: 0, newest: null, total: null }],
  },
]);

const everyTable = (tables: Tables) =>
  (Object.keys(SOURCES) as (keyof Tables)[]).flatMap((table) =>
    (tables[table] ?? []).map((event): TableEvent & { table: string } => ({
      ...event,
      table: String(table),
    })),
  );

/** CTEs, UNION ALL, joins, comments, spellings. */
const SHAPES: readonly CorpusQuery[] = [
  {
    sql: `${TABLES.map((table) => `select '${table}' as source, count(*) as n from ${table}`).join('\nunion all\n')}`,
    expected: (tables) => TABLES.map((table) => ({ source: table, n: tables[table]?.length ?? 0 })),
  },
  {
    sql: `select source, count(*) as n, max(timestamp) as last from (${TABLES.map((table) => `select '${table}' as source, timestamp from ${table}`).join(' union all ')}) group by source order by source`,
    expected: (tables) =>
      ascending(
        grouped(everyTable(tables), ({ table }) => table).map(({ key, rows }) => ({
          source: key,
          n: rows.length,
          last: most(rows.map(({ timestamp }) => timestamp)),
        })),
        ({ source }) => source,
      ),
    by: ['source'],
  },
  {
    sql: `with a as (select id, timestamp from edge_logs), b as (select id, timestamp from auth_logs), every as (select * from a union all select * from b)
select id, timestamp from every order by timestamp desc limit 25`,
    expected: ({ edge_logs = [], auth_logs = [] }) =>
      newest([...edge_logs, ...auth_logs]).map(({ id, timestamp }) => ({ id, timestamp })),
    by: ['timestamp'],
    limit: 25,
  },
  {
    sql: `with r as (select timestamp_trunc(timestamp, hour) as hour, count(*) as requests from edge_logs group by hour), p as (select timestamp_trunc(timestamp, hour) as hour, count(*) as messages from postgres_logs group by hour)
select hour, requests, messages from r join p using (hour) order by hour`,
    expected: ({ edge_logs = [], postgres_logs = [] }) => {
      const messages = new Map(
        grouped(postgres_logs, (e) => toHour(e.timestamp)).map(({ key, rows }) => [key, rows.length]),
      );
      return ascending(
        grouped(edge_logs, (e) => toHour(e.timestamp)).flatMap(({ key, rows }) => {
          const found = messages.get(key);
          return found === undefined ? [] : [{ hour: key, requests: rows.length, messages: found }];
        }),
        ({ hour }) => hour,
      );
    },
    by: ['hour'],
  },
  {
    sql: `-- the newest entries
select /* only */ id, # its identifier
  event_message
from edge_logs
where event_message != '-- no comment' and event_message not in ('/* nor this */', '# nor this')
order by id asc
limit 7;`,
    expected: ({ edge_logs = [] }) =>
      ascending(edge_logs, ({ id }) => id).map(({ id, event_message }) => ({ id, event_message })),
    by: ['id'],
    limit: 7,
  },
  {
    sql: 'select id, event_message from postgres_logs order by id limit 5 offset 3',
    expected: ({ postgres_logs = [] }) =>
      ascending(postgres_logs, ({ id }) => id)
        .slice(3)
        .map(({ id, event_message }) => ({ id, event_message })),
    by: ['id'],
    limit: 5,
  },
  {
    sql: `select lower(event_message) as event_message, length(event_message) as n from auth_logs where event_message like '%Ä%' or event_message like '%R%'`,
    expected: ({ auth_logs = [] }) =>
      auth_logs
        .filter(({ event_message }) => /[ÄR]/.test(event_message))
        .map(({ event_message }) => ({
          event_message: event_message.toLowerCase(),
          n: [...event_message].length,
        })),
  },
  {
    sql: `select timestamp_trunc(timestamp, day) as timestamp, count(*) as count from realtime_logs where timestamp < '2026-11-20T06:30:00.000Z' and timestamp >= '2026-11-18T12:34:56.789012Z' group by timestamp having count > 1 order by timestamp`,
    expected: ({ realtime_logs = [] }) => {
      const [start, end] = [
        Date.parse('2026-11-18T12:34:56.789Z') * 1000 + 12,
        Date.parse('2026-11-20T06:30:00Z') * 1000,
      ];
      const inside = realtime_logs.filter((e) => e.timestamp >= start && e.timestamp < end);
      return ascending(
        grouped(inside, (e) => iso(e.timestamp).slice(0, 10))
          .filter(({ rows }) => rows.length > 1)
          .map(({ key, rows }) => ({ timestamp: Date.parse(key) * 1000, count: rows.length })),
        ({ timestamp }) => timestamp,
      );
    },
    by: ['timestamp'],
  },
  {
    sql: `select format_timestamp('%Y-%m-%d %H', timestamp) as hour, extract(minute from timestamp) as minute, count(*) as n from storage_logs group by hour, minute order by hour, minute`,
    expected: ({ storage_logs = [] }) =>
      ascending(
        grouped(storage_logs, (e) => iso(e.timestamp).slice(0, 16)).map(({ key, rows }) => ({
          hour: key.slice(0, 13).replace('T', ' '),
          minute: Number(key.slice(14)),
          n: rows.length,
        })),
        ({ hour, minute }) => `${hour}:${String(minute).padStart(2, '0')}`,
      ),
    by: ['hour', 'minute'],
  },
  {
    sql: `select id, cast(timestamp as datetime) as timestamp from storage_logs order by timestamp desc, id desc limit 4`,
    expected: ({ storage_logs = [] }) =>
      newest(storage_logs.toSorted((a, b) => (a.id < b.id ? 1 : -1))).map(({ id, timestamp }) => ({
        id,
        timestamp: datetime(timestamp),
      })),
    by: ['id'],
    limit: 4,
  },
  {
    sql: `select * from (select id, event_message from pgbouncer_logs) as p where p.event_message is not null`,
    expected: ({ pgbouncer_logs = [] }) =>
      pgbouncer_logs.map(({ id, event_message }) => ({ id, event_message })),
  },
  {
    sql: `select id from edge_logs where id in (select id from edge_logs cross join unnest(metadata) as m cross join unnest(m.response) as response where response.status_code >= 500)`,
    expected: ({ edge_logs = [] }) => {
      const bad = open(edge_logs, { response: ['m', 'response'] }).filter(
        ({ response }) => num(response, 'status_code') >= 500,
      );
      const ids = new Set(bad.map(({ e }) => e.id));
      return edge_logs.filter(({ id }) => ids.has(id)).map(({ id }) => ({ id }));
    },
  },
  {
    sql: `select m.level as level, count(*) as n from function_logs, unnest(metadata) as m group by level order by level desc`,
    expected: ({ function_logs }) =>
      descending(
        grouped(open(function_logs), ({ m }) => str(m, 'level')).map(({ key, rows }) => ({
          level: key,
          n: rows.length,
        })),
        ({ level }) => fieldOrder(level),
      ),
    by: ['level'],
  },
  {
    sql: `select 2 as a, id, -1 as b, event_message from edge_logs order by a desc, b, id desc limit 9`,
    expected: ({ edge_logs = [] }) =>
      descending(edge_logs, ({ id }) => id).map(({ id, event_message }) => ({
        a: 2,
        id,
        b: -1,
        event_message,
      })),
    by: ['id'],
    limit: 9,
  },
  {
    sql: `select id from auth_logs where starts_with(event_message, 'GET') or regexp_contains(event_message, 'user') and id = 'auth_logs-1' or false and true`,
    expected: ({ auth_logs = [] }) =>
      auth_logs
        .filter(
          ({ id, event_message }) =>
            event_message.startsWith('GET') || (event_message.includes('user') && id === 'auth_logs-1'),
        )
        .map(({ id }) => ({ id })),
  },
  {
    sql: `select 7 as seven, count(*) as n from edge_logs group by seven order by seven`,
    expected: ({ edge_logs = [] }) => [{ seven: 7, n: edge_logs.length }],
  },
  {
    sql: `select hour, n, from (select timestamp_trunc(timestamp, hour) as hour, count(*) as n, from edge_logs group by hour) order by hour`,
    expected: ({ edge_logs = [] }) =>
      ascending(
        grouped(edge_logs, (e) => toHour(e.timestamp)).map(({ key, rows }) => ({
          hour: key,
          n: rows.length,
        })),
        ({ hour }) => hour,
      ),
    by: ['hour'],
  },
  {
    sql: `(select id, 'edge' as source from edge_logs order by id limit 4) union all (select id, 'auth' as source from auth_logs order by id desc limit 3) order by id limit 6`,
    expected: ({ edge_logs = [], auth_logs = [] }) =>
      ascending(
        [
          ...ascending(edge_logs, ({ id }) => id)
            .slice(0, 4)
            .map(({ id }) => ({ id, source: 'edge' })),
          ...descending(auth_logs, ({ id }) => id)
            .slice(0, 3)
            .map(({ id }) => ({ id, source: 'auth' })),
        ],
        ({ id }) => id,
      ),
    by: ['id'],
    limit: 6,
  },
  {
    sql: `(select id from edge_logs order by id limit 9) order by id desc limit 2`,
    expected: ({ edge_logs = [] }) =>
      descending(
        ascending(edge_logs, ({ id }) => id)
          .slice(0, 9)
          .map(({ id }) => ({ id })),
        ({ id }) => id,
      ),
    by: ['id'],
    limit: 2,
  },
  {
    sql: `select id from edge_logs where ${Array.from({ length: 120 }, (_, i) => `id != 'edge_logs-${i + 5}'`).join(' and ')}`,
    expected: ({ edge_logs = [] }) =>
      edge_logs
        .filter(({ id }) => !Array.from({ length: 120 }, (_, i) => `edge_logs-${i + 5}`).includes(id))
        .map(({ id }) => ({ id })),
  },
  {
    sql: `select ${Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? '3' : '1')).join(' - ')} as n, 'a'${" || 'b'".repeat(90)} as t, 64${' / 2'.repeat(5)} * 3 as q`,
    expected: () => [{ n: 3 - 19 * 3 - 20, t: `a${'b'.repeat(90)}`, q: 6 }],
  },
  {
    sql: `select id from edge_logs cross join unnest(metadata) as m where m.request is null`,
    expected: ({ edge_logs }) =>
      open(edge_logs)
        .filter(({ m }) => at(m, 'request') === null)
        .map(({ e }) => ({ id: e.id })),
  },
];

/** Constructs, whichever the table. */
export const CONSTRUCT: readonly CorpusQuery[] = [...DETAIL, ...EMPTY, ...SHAPES];
