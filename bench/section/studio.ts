import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { readDefinitions } from '../../src/definitions/read.ts';
import { translateBigQuery } from '../../src/dialect/bigquery/translate.ts';
import { formatInstant, MICROS_PER_MS } from '../../src/lib/instant.ts';
import { send } from '../../trial/http.ts';
import { fillSample, withServer } from '../../trial/server.ts';
import { openBenchData } from '../data.ts';
import { inTemporaryFolder } from '../folder.ts';
import { askCold } from '../http.ts';
import { median } from '../measure.ts';
import { type PastServer, withPastServer } from '../past-server.ts';
import { pathOf } from '../questions.ts';
import { type Row, say, timesRow } from '../report.ts';
import type { BenchOptions } from '../section.ts';

export const STUDIO_MEASUREMENTS = ['page', 'translation', 'memory'];

const ASKED = 60;
const WARM_UP = 5;
const TRANSLATIONS = 500;
const PAGE_LOADS = 1_000;
const HOUR_MS = 3_600_000;
/** As many as `serve --sample` stores. */
const SAMPLE_ROWS = 300_000;
const SAMPLE_PROJECT = 'aurora';
const STUDIO_FOLDER = 'studio/endpoints';

const UNNESTED = `cross join unnest(metadata) as m
cross join unnest(m.request) as request
cross join unnest(m.response) as response`;

/** The same text each time: a page sends its range as parameters. */
const LIST = `select id, timestamp, event_message, request.method, request.path, response.status_code
from edge_logs
${UNNESTED}
where response.status_code >= 500
order by timestamp desc
limit 100`;

const chartOf = (from: string) => `select timestamp_trunc(timestamp, minute) as timestamp,
  count(case when response.status_code < 400 then 1 end) as ok_count,
  count(case when response.status_code >= 500 then 1 end) as error_count,
from edge_logs
${UNNESTED}
where timestamp >= '${from}'
group by timestamp
order by timestamp asc`;

const messagesOf = (from: string) => `select id, timestamp, event_message, parsed.error_severity
from postgres_logs
cross join unnest(metadata) as m
cross join unnest(m.parsed) as parsed
where timestamp >= '${from}'
order by timestamp desc
limit 100`;

/** What Studio's log pages cost: a page beside hand-written SQL, its translation, and the memory of a thousand of them. */
export async function studioSection({ rows, only }: BenchOptions): Promise<Row[]> {
  const isAsked = (name: string) => only.length === 0 || only.includes(name);
  return [
    ...(isAsked('page') ? await measurePage(rows) : []),
    ...(isAsked('translation') ? await measureTranslation() : []),
    ...(isAsked('memory') ? await measureMemory() : []),
  ];
}

const HAND_YAML = `id: c2f8a5d1-6f0e-4c1b-9a52-7d3e8b4f0c66
name: bench.hand
description: The page of measurePage, written by hand.
max_rows: 1000
caching: disabled
parameters:
  project: { type: string, required: true, description: A project. }
  since: { type: timestamp, required: true, description: A bound. }
columns:
  id: { type: string, description: Of the entry. }
  timestamp: { type: integer, description: Of the entry. }
  event_message: { type: string, description: Of the entry. }
  method: { type: string, description: Of the request. }
  path: { type: string, description: Of the request. }
  status_code: { type: integer, description: Of the response. }
`;

const HAND_SQL = `SELECT id, toUnixTimestamp64Micro(edge_logs.timestamp) AS timestamp, event_message, method, path, status_code
FROM edge_logs
WHERE project = @project AND status_code >= 500
  AND edge_logs.timestamp > greatest(toDateTime64(@now, 6, 'UTC') - toIntervalDay(90), parseDateTime64BestEffort(@since, 6, 'UTC'))
ORDER BY edge_logs.timestamp DESC
LIMIT 100
`;

/** The newest 100 requests of an hour with an error, by Studio's SELECT and by a stored query, in turn. */
async function measurePage(rows: number): Promise<Row[]> {
  const data = await openBenchData(rows);
  return await inTemporaryFolder((folder) => {
    const endpointsDir = join(folder, 'endpoints');
    cpSync(STUDIO_FOLDER, endpointsDir, { recursive: true });
    mkdirSync(join(endpointsDir, 'bench.hand'));
    writeFileSync(join(endpointsDir, 'bench.hand/endpoint.yaml'), HAND_YAML);
    writeFileSync(join(endpointsDir, 'bench.hand/query.sql'), HAND_SQL);
    return withPastServer({ ...data, endpointsDir }, 'steps', (server) => askPages(server, data.endMs));
  });
}

async function askPages({ url, projects }: PastServer, endMs: number): Promise<Row[]> {
  const agent = new Agent({ keepAlive: true });
  const [translated, byHand]: [number[], number[]] = [[], []];
  for (let i = 0; i < ASKED + WARM_UP; i++) {
    const project = projects[i % projects.length] ?? '';
    const from = new Date(endMs - HOUR_MS - i).toISOString(); // never the same question
    const ask = (endpoint: string, parameters: Readonly<Record<string, string>>) =>
      askCold(url, agent, { endpoint, parameters: { project, ...parameters } });
    const both = [
      async () => translated.push(await ask('logs.all', { sql: LIST, iso_timestamp_start: from })),
      async () => byHand.push(await ask('bench.hand', { since: from })),
    ];
    // The second one finds the files in the system's cache, so the order alternates.
    for (const one of i % 2 === 0 ? both : both.reverse()) await one();
  }
  agent.destroy();
  const [studio, hand] = [translated.slice(WARM_UP), byHand.slice(WARM_UP)];
  return [
    timesRow('studio: newest 100 errors of an hour', studio),
    timesRow('studio: the same, written by hand', hand),
    {
      name: 'studio: translated / by hand',
      unit: 'ratio',
      values: [median(studio) / median(hand)],
      goal: { below: 1.5 },
    },
  ];
}

async function measureTranslation(): Promise<Row[]> {
  const { definitions } = await readDefinitions({ endpointsDir: STUDIO_FOLDER, sourcesDir: 'sources' });
  const { dialect } = definitions.endpoints.find(({ name }) => name === 'logs.all') ?? {};
  const views = new Map([...(dialect?.tables ?? [])].map(([table, columns]) => [table, { columns }]));
  const nowMs = Date.now();
  const times: number[] = [];
  for (let i = 0; i < TRANSLATIONS; i++) {
    const from = new Date(nowMs - i).toISOString();
    for (const sql of [LIST, chartOf(from), messagesOf(from)]) {
      const startMs = performance.now();
      translateBigQuery(sql, { views, now: formatInstant(nowMs * MICROS_PER_MS) });
      times.push(performance.now() - startMs);
    }
  }
  return [timesRow('studio: translation', times, { goal: { below: 5 } })];
}

/** Loads pages from a service that has been started on the sample: storing it takes memory, too. */
async function measureMemory(): Promise<Row[]> {
  return await inTemporaryFolder(async (dataDir) => {
    await fillSample(dataDir, SAMPLE_ROWS);
    return await withServer({ dataDir, env: { TAILRACE_STUDIO: '1' } }, async (server) => {
      const agent = new Agent({ keepAlive: true });
      const before = server.rssMb();
      const startMs = Date.now();
      for (let i = 0; i < PAGE_LOADS; i++) {
        const from = new Date(startMs - HOUR_MS - i).toISOString();
        for (const sql of [LIST, chartOf(from), messagesOf(from)]) {
          const path = pathOf({
            endpoint: 'logs.all',
            parameters: { project: SAMPLE_PROJECT, sql, iso_timestamp_start: from },
          });
          const { status, text } = await send(server.url, agent, { path });
          if (status !== 200) throw new Error(`${sql}\nwas answered ${status}: ${text.slice(0, 500)}`);
        }
      }
      agent.destroy();
      say(`studio: ${PAGE_LOADS} pages are loaded`);
      const after = server.rssMb();
      return [
        { name: 'studio: RSS with the sample', unit: 'MB', values: [before] },
        {
          name: `studio: RSS after ${PAGE_LOADS} page loads`,
          unit: 'MB',
          values: [after],
          goal: { below: 600 },
        },
      ];
    });
  });
}
