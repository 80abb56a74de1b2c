import { at, type Json, number, type Tables } from '../../../trial/oracle/bigquery/value.ts';
import { scalar } from '../compare.ts';
import {
  ascending,
  average,
  type CorpusQuery,
  DAY,
  descending,
  fieldOrder,
  grouped,
  least,
  most,
  newest,
  num,
  open,
  str,
  toDay,
} from './rows.ts';

const realtime = ({ realtime_logs }: Tables) =>
  open(realtime_logs, { measurements: ['m', 'measurements'], context: ['m', 'context'] });
const storage = ({ storage_logs }: Tables) =>
  open(storage_logs, { req: ['m', 'req'], res: ['m', 'res'], headers: ['req', 'headers'] });

const textOf = (measurements: Json) => {
  const connected = at(measurements, 'connected');
  return typeof connected === 'string' ? connected : '';
};

/** Realtime, storage, the REST server and the pooler. */
export const SERVICE: readonly CorpusQuery[] = [
  {
    sql: `select id, timestamp, event_message, m.level from realtime_logs cross join unnest(metadata) as m where m.level = 'error' order by timestamp desc limit 20`,
    expected: ({ realtime_logs }) =>
      newest(
        open(realtime_logs)
          .filter(({ m }) => str(m, 'level') === 'error')
          .map(({ e }) => ({
            id: e.id,
            timestamp: e.timestamp,
            event_message: e.event_message,
            level: 'error',
          })),
      ),
    by: ['timestamp'],
    limit: 20,
  },
  {
    sql: `select context.module as module, max(measurements.connected) is not null as measured, count(context.line) as lines from realtime_logs cross join unnest(metadata) as m cross join unnest(m.measurements) as measurements cross join unnest(m.context) as context group by module order by module`,
    expected: (tables) =>
      ascending(
        grouped(realtime(tables), ({ context }) => str(context, 'module')).map(({ key, rows }) => ({
          module: key,
          measured: rows.some(({ measurements }) => at(measurements, 'connected') !== null),
          lines: rows.filter(({ context }) => at(context, 'line') !== null).length,
        })),
        ({ module }) => fieldOrder(module),
      ),
    by: ['module'],
  },
  {
    sql: `select vm.node, count(*) as n from realtime_logs left join unnest(metadata) as m on true left join unnest(m.context) as context on true left join unnest(context.vm) as vm on true group by vm.node`,
    expected: ({ realtime_logs }) =>
      grouped(open(realtime_logs, { context: ['m', 'context'], vm: ['context', 'vm'] }), ({ vm }) =>
        str(vm, 'node'),
      ).map(({ key, rows }) => ({ node: key, n: rows.length })),
  },
  {
    sql: `select avg(connected) as mean, max(safe_cast(connected as int64)) as peak from realtime_logs cross join unnest(metadata) as m cross join unnest(m.measurements) as measurements where safe_cast(connected as float64) between 0 and 1000 and mod(safe_cast(connected as int64), 1) = 0`,
    expected: ({ realtime_logs }) => {
      const found = open(realtime_logs, { measurements: ['m', 'measurements'] })
        .filter(({ measurements }) => !/\./.test(textOf(measurements)))
        .map(({ measurements }) => num(measurements, 'connected'))
        .filter((value) => value >= 0 && value <= 1000);
      // The numbers 2.5 and 99.75 are rounded by the cast; the texts are no whole numbers.
      const peak = most(found.map((value) => Math.round(value)));
      return [{ mean: average(found), peak }];
    },
  },
  {
    sql: `select id, storage_logs.timestamp, m.level, req.method, req.url, res.statusCode, m.responseTime from storage_logs
cross join unnest(metadata) as m
cross join unnest(m.req) as req
cross join unnest(m.res) as res
cross join unnest(req.headers) as headers
order by timestamp desc limit 30`,
    expected: (tables) =>
      newest(
        storage(tables).map(({ e, m, req, res }) => ({
          id: e.id,
          timestamp: e.timestamp,
          level: scalar(at(m, 'level')),
          method: scalar(at(req, 'method')),
          url: scalar(at(req, 'url')),
          statusCode: scalar(at(res, 'statusCode')),
          responseTime: scalar(at(m, 'responseTime')),
        })),
      ),
    by: ['timestamp'],
    limit: 30,
  },
  {
    sql: `select headers.user_agent as agent, countif(res.statusCode = 200) as hits, countif(res.statusCode != 200) as others from storage_logs cross join unnest(metadata) as m cross join unnest(m.req) as req cross join unnest(m.res) as res cross join unnest(req.headers) as headers where starts_with(req.url, '/object/') group by agent`,
    expected: (tables) =>
      grouped(
        storage(tables).filter(({ req }) => str(req, 'url')?.startsWith('/object/')),
        ({ headers }) => str(headers, 'user_agent'),
      ).map(({ key, rows }) => {
        const codes = rows.map(({ res }) => num(res, 'statusCode')).filter((code) => !Number.isNaN(code));
        return {
          agent: key,
          hits: codes.filter((code) => code === 200).length,
          others: codes.filter((code) => code !== 200).length,
        };
      }),
  },
  {
    sql: `select m.operation as operation, min(safe_cast(m.responseTime as float64)) as fastest, max(safe_cast(m.responseTime as float64)) as slowest from storage_logs cross join unnest(metadata) as m group by operation order by operation desc`,
    expected: ({ storage_logs }) =>
      descending(
        grouped(open(storage_logs), ({ m }) => str(m, 'operation')).map(({ key, rows }) => {
          const times = rows.map(({ m }) => num(m, 'responseTime'));
          return { operation: key, fastest: least(times), slowest: most(times) };
        }),
        ({ operation }) => fieldOrder(operation),
      ),
    by: ['operation'],
  },
  {
    sql: `select id, res.statusCode::text as code from storage_logs cross join unnest(metadata) as m cross join unnest(m.res) as res where res.statusCode::text like '4%'`,
    expected: ({ storage_logs }) =>
      open(storage_logs, { res: ['m', 'res'] })
        .filter(({ res }) => str(res, 'statusCode')?.startsWith('4'))
        .map(({ e, res }) => ({ id: e.id, code: str(res, 'statusCode') })),
  },
  {
    sql: `select id, event_message, metadata.level as level from postgrest_logs cross join unnest(metadata) as metadata where metadata.level != 'info' order by id`,
    expected: ({ postgrest_logs }) =>
      ascending(
        open(postgrest_logs)
          .filter(({ m }) => str(m, 'level') !== null && str(m, 'level') !== 'info')
          .map(({ e, m }) => ({ id: e.id, event_message: e.event_message, level: str(m, 'level') })),
        ({ id }) => id,
      ),
    by: ['id'],
  },
  {
    sql: `SELECT host, identifier, COUNT(*) AS n FROM \`postgrest_logs\` CROSS JOIN UNNEST(metadata) AS m GROUP BY host, identifier ORDER BY n DESC`,
    expected: ({ postgrest_logs }) =>
      descending(
        grouped(open(postgrest_logs), ({ m }) => [str(m, 'host'), str(m, 'identifier')]).map(
          ({ key, rows }) => ({
            host: key[0],
            identifier: key[1],
            n: rows.length,
          }),
        ),
        ({ n }) => n,
      ),
    by: ['n'],
  },
  {
    sql: `select pid, safe_cast(pid as int64) as number, count(*) over () as total from pgbouncer_logs cross join unnest(metadata) as m where pid is not null`,
    expected: ({ pgbouncer_logs }) => {
      const found = open(pgbouncer_logs).filter(({ m }) => at(m, 'pid') !== null);
      return found.map(({ m }) => {
        const pid = at(m, 'pid');
        // A cast rounds a number, half away from zero; a text has to be a whole number.
        const value = typeof pid === 'string' && pid.includes('.') ? null : number(pid);
        const whole = typeof value === 'number' ? Math.sign(value) * Math.round(Math.abs(value)) : value;
        return { pid: scalar(pid), number: whole, total: found.length };
      });
    },
  },
  {
    sql: `select timestamp_trunc(timestamp, day) as day, m.level, count(*) as n from pgbouncer_logs cross join unnest(metadata) as m group by day, m.level order by day desc, n desc limit 5`,
    expected: ({ pgbouncer_logs }) =>
      descending(
        descending(
          grouped(open(pgbouncer_logs), ({ e, m }) => ({
            day: toDay(e.timestamp),
            level: str(m, 'level'),
          })).map(({ key, rows }) => ({ ...key, n: rows.length })),
          ({ n }) => n,
        ),
        ({ day }) => day,
      ),
    by: ['day', 'n'],
    limit: 5,
  },
  {
    sql: `select event_message from pgbouncer_logs where timestamp >= timestamp_sub(timestamp('2026-11-20T07:00:00Z'), interval 24 hour) and event_message != ''`,
    expected: ({ pgbouncer_logs = [] }) =>
      pgbouncer_logs
        .filter(
          (e) => e.timestamp >= Date.parse('2026-11-20T07:00:00Z') * 1000 - DAY && e.event_message !== '',
        )
        .map(({ event_message }) => ({ event_message })),
  },
];
