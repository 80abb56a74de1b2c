import { at, number, type Tables } from '../../../trial/oracle/bigquery/value.ts';
import { asLists, record, scalar } from '../compare.ts';
import {
  ascending,
  type CorpusQuery,
  DAY,
  datetime,
  descending,
  fieldOrder,
  grouped,
  HOUR,
  most,
  NOW_MICROS,
  newest,
  num,
  open,
  str,
  toHour,
  toMinute,
} from './rows.ts';

const UNNEST = `cross join unnest(metadata) as m
cross join unnest(m.parsed) as parsed`;

const messages = ({ postgres_logs }: Tables) => open(postgres_logs, { parsed: ['m', 'parsed'] });
const severity = ({ parsed }: ReturnType<typeof messages>[number]) => str(parsed, 'error_severity');

/** The database's messages: severities, roles, 64-bit identifiers. */
export const POSTGRES: readonly CorpusQuery[] = [
  {
    sql: `select identifier, postgres_logs.timestamp, id, event_message, parsed.error_severity, parsed.detail, parsed.hint
from postgres_logs
  ${UNNEST}
order by timestamp desc
limit 100`,
    expected: (tables) =>
      newest(
        messages(tables).map(({ e, m, parsed }) => ({
          identifier: scalar(at(m, 'identifier')),
          timestamp: e.timestamp,
          id: e.id,
          event_message: e.event_message,
          error_severity: scalar(at(parsed, 'error_severity')),
          detail: scalar(at(parsed, 'detail')),
          hint: scalar(at(parsed, 'hint')),
        })),
      ),
    by: ['timestamp'],
    limit: 100,
  },
  {
    sql: `select id, timestamp, event_message from postgres_logs ${UNNEST} where parsed.error_severity in ('ERROR', 'FATAL', 'PANIC') order by timestamp desc limit 50`,
    expected: (tables) =>
      newest(
        messages(tables)
          .filter((row) => ['ERROR', 'FATAL', 'PANIC'].includes(severity(row) ?? ''))
          .map(({ e }) => ({ id: e.id, timestamp: e.timestamp, event_message: e.event_message })),
      ),
    by: ['timestamp'],
    limit: 50,
  },
  {
    sql: `select parsed.error_severity as error_severity, count(*) as count from postgres_logs ${UNNEST} group by error_severity order by error_severity`,
    expected: (tables) =>
      ascending(
        grouped(messages(tables), severity).map(({ key, rows }) => ({
          error_severity: key,
          count: rows.length,
        })),
        (row) => fieldOrder(row.error_severity),
      ),
    by: ['error_severity'],
  },
  {
    sql: `select timestamp_trunc(timestamp, minute) as timestamp, countif(parsed.error_severity = 'LOG') as logs, countif(parsed.error_severity != 'LOG') as others
from postgres_logs ${UNNEST} group by 1 order by 1 desc limit 20`,
    expected: (tables) =>
      newest(
        grouped(messages(tables), ({ e }) => toMinute(e.timestamp)).map(({ key, rows }) => ({
          timestamp: key,
          logs: rows.filter((row) => severity(row) === 'LOG').length,
          others: rows.filter((row) => severity(row) !== null && severity(row) !== 'LOG').length,
        })),
      ),
    by: ['timestamp'],
    limit: 20,
  },
  {
    sql: `select id from postgres_logs ${UNNEST} where parsed.query_id = 9007199254740993`,
    expected: (tables) =>
      messages(tables)
        .filter(({ parsed }) => number(at(parsed, 'query_id')) === 9007199254740993n)
        .map(({ e }) => ({ id: e.id })),
  },
  {
    sql: `select id from postgres_logs ${UNNEST} where parsed.query_id > 9223372036854775806`,
    expected: (tables) =>
      messages(tables)
        .filter(({ parsed }) => (number(at(parsed, 'query_id')) ?? 0) > 9223372036854775806n)
        .map(({ e }) => ({ id: e.id })),
  },
  {
    sql: `select id, parsed.query_id, cast(parsed.query_id as string) as text from postgres_logs ${UNNEST} where parsed.query_id is not null`,
    expected: (tables) =>
      messages(tables)
        .filter(({ parsed }) => at(parsed, 'query_id') !== null)
        .map(({ e, parsed }) => ({
          id: e.id,
          query_id: scalar(at(parsed, 'query_id')),
          text: str(parsed, 'query_id'),
        })),
  },
  {
    sql: `select parsed.user_name, count(distinct parsed.process_id) as processes from postgres_logs ${UNNEST} where parsed.user_name is not null group by parsed.user_name`,
    expected: (tables) =>
      grouped(
        messages(tables).filter(({ parsed }) => str(parsed, 'user_name') !== null),
        ({ parsed }) => str(parsed, 'user_name'),
      ).map(({ key, rows }) => {
        const ids = rows.map(({ parsed }) => at(parsed, 'process_id')).filter((one) => one !== null);
        // Whether 7 and "7" are one value, BigQuery does not say: its columns have one type.
        const asText = new Set(ids.map(String)).size;
        return { user_name: key, processes: { least: asText, most: new Set(ids).size } };
      }),
  },
  {
    sql: `select substr(event_message, 1, 10) as start, length(event_message) as length, upper(parsed.error_severity) as level from postgres_logs ${UNNEST} order by length desc, start limit 30`,
    expected: (tables) =>
      descending(
        ascending(
          messages(tables).map((row) => {
            const signs = [...row.e.event_message];
            return {
              start: signs.slice(0, 10).join(''),
              length: signs.length,
              level: severity(row)?.toUpperCase() ?? null,
            };
          }),
          ({ start }) => start,
        ),
        ({ length }) => length,
      ),
    by: ['length', 'start'],
    limit: 30,
  },
  {
    sql: `select id, event_message from postgres_logs where regexp_contains(event_message, r'(?i)connection\\s+authorized') order by id`,
    expected: ({ postgres_logs = [] }) =>
      ascending(
        postgres_logs.filter((e) => /connection\s+authorized/i.test(e.event_message)),
        (e) => e.id,
      ).map(({ id, event_message }) => ({ id, event_message })),
    by: ['id'],
  },
  {
    sql: `select id from postgres_logs where event_message like '%authorized: user=%' or event_message like "%\\"level\\"%"`,
    expected: ({ postgres_logs = [] }) =>
      postgres_logs
        .filter((e) => e.event_message.includes('authorized: user=') || e.event_message.includes('"level"'))
        .map(({ id }) => ({ id })),
  },
  {
    sql: `select count(*) as count from postgres_logs where timestamp > timestamp_sub(current_timestamp(), interval 1 day)`,
    expected: ({ postgres_logs = [] }) => [
      { count: postgres_logs.filter((e) => e.timestamp > NOW_MICROS - DAY).length },
    ],
  },
  {
    sql: `select count(*) as count from postgres_logs where timestamp between '2026-11-19T00:00:00Z' and '2026-11-20T00:00:00Z'`,
    expected: ({ postgres_logs = [] }) => {
      const start = Date.parse('2026-11-19T00:00:00Z') * 1000;
      return [
        { count: postgres_logs.filter((e) => e.timestamp >= start && e.timestamp <= start + DAY).length },
      ];
    },
  },
  {
    sql: `select count(*) as n from postgres_logs where timestamp >= timestamp('2026-11-19 06:00:00') and timestamp < timestamp_add(timestamp '2026-11-19 06:00:00', interval 90 minute)`,
    expected: ({ postgres_logs = [] }) => {
      const start = Date.parse('2026-11-19T06:00:00Z') * 1000;
      return [
        { n: postgres_logs.filter((e) => e.timestamp >= start && e.timestamp < start + 1.5 * HOUR).length },
      ];
    },
  },
  {
    sql: `select cast(timestamp as datetime) as at, cast(timestamp as string) is not null as written from postgres_logs order by timestamp desc limit 10`,
    expected: ({ postgres_logs = [] }) =>
      newest(postgres_logs).map(({ timestamp }) => ({ at: datetime(timestamp), written: true })),
    by: [],
    limit: 10,
  },
  {
    sql: `select metadata from postgres_logs as p where p.id is not null`,
    expected: ({ postgres_logs = [] }) =>
      postgres_logs.map(({ metadata = null }) => ({ metadata: asLists(metadata) })),
  },
  {
    sql: `select parsed from postgres_logs ${UNNEST} where parsed.error_severity = 'ERROR'`,
    expected: (tables) =>
      messages(tables)
        .filter((row) => severity(row) === 'ERROR')
        .map(({ parsed }) => ({ parsed: record(parsed) })),
  },
  {
    sql: `select hour, sum(n) as total, max(n) as busiest from (
  select timestamp_trunc(timestamp, hour) as hour, parsed.user_name as user, count(*) as n from postgres_logs ${UNNEST} group by hour, user
) group by hour order by hour`,
    expected: (tables) =>
      ascending(
        grouped(messages(tables), ({ e }) => toHour(e.timestamp)).map(({ key, rows }) => ({
          hour: key,
          total: rows.length,
          busiest: most(
            grouped(rows, ({ parsed }) => str(parsed, 'user_name')).map((user) => user.rows.length),
          ),
        })),
        ({ hour }) => hour,
      ),
    by: ['hour'],
  },
  {
    sql: `with errors as (select id, timestamp from postgres_logs ${UNNEST} where parsed.error_severity = 'ERROR'), latest as (select max(timestamp) as timestamp from errors)
select count(*) as n, max(latest.timestamp) as last from errors cross join latest`,
    expected: (tables) => {
      const found = messages(tables).filter((row) => severity(row) === 'ERROR');
      return [{ n: found.length, last: most(found.map(({ e }) => e.timestamp)) }];
    },
  },
  {
    sql: `select id from postgres_logs ${UNNEST} where safe_cast(parsed.process_id as int64) > 400 and parsed.process_id < 1000`,
    expected: (tables) =>
      messages(tables)
        .filter(({ parsed }) => num(parsed, 'process_id') > 400 && num(parsed, 'process_id') < 1000)
        .map(({ e }) => ({ id: e.id })),
  },
];
