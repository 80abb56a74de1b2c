import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { inTemporaryFolder, openBenchData } from '../data.ts';
import { type PastServer, withPastServer } from '../past-server.ts';
import { askNew, pathOf } from '../questions.ts';
import { type BenchOptions, median, type Row, timesRow } from '../report.ts';

const ASKED = 60;
const WARM_UP = 5;
const HOUR_MS = 3_600_000;
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

const HAND_YAML = `description: A query of measurePages, written by hand.
max_rows: 1000
caching: disabled
parameters:
  project: { type: string, required: true, description: A project. }
  since: { type: timestamp, required: true, description: A bound. }
columns:
`;

const SINCE =
  "greatest(toDateTime64(@now, 6, 'UTC') - toIntervalDay(90), parseDateTime64BestEffort(@since, 6, 'UTC'))";

/** A query of Studio and the same by hand, with the columns of both. */
interface Page {
  readonly name: string;
  /** @param from an instant that no text before had */
  readonly sql: (from: string) => string;
  readonly hand: string;
  readonly columns: string;
}

const PAGES: readonly Page[] = [
  {
    name: 'newest 100 errors of an hour',
    sql: () => LIST,
    hand: `SELECT id, toUnixTimestamp64Micro(edge_logs.timestamp) AS timestamp, event_message, method, path, status_code
FROM edge_logs
WHERE project = @project AND status_code >= 500 AND edge_logs.timestamp > ${SINCE}
ORDER BY edge_logs.timestamp DESC
LIMIT 100
`,
    columns: 'id:string timestamp:integer event_message:string method:string path:string status_code:integer',
  },
  {
    name: 'requests by minute of an hour, time in the text',
    sql: chartOf,
    hand: `SELECT toUnixTimestamp64Micro(toDateTime64(toStartOfMinute(edge_logs.timestamp), 6, 'UTC')) AS timestamp,
  countIf(status_code < 400) AS ok_count, countIf(status_code >= 500) AS error_count
FROM edge_logs
WHERE project = @project AND edge_logs.timestamp >= ${SINCE}
GROUP BY timestamp
ORDER BY timestamp
`,
    columns: 'timestamp:integer ok_count:integer error_count:integer',
  },
];

/** An endpoint for each query by hand, beside those for Studio. */
function writeEndpoints(endpointsDir: string): void {
  cpSync(STUDIO_FOLDER, endpointsDir, { recursive: true });
  for (const [i, { hand, columns }] of PAGES.entries()) {
    const head = `id: c2f8a5d1-6f0e-4c1b-9a52-7d3e8b4f0c6${i}\nname: bench.hand${i}\n`;
    const list = columns.split(' ').map((column) => {
      const [name, type] = column.split(':');
      return `  ${name}: { type: ${type}, description: Of the entry. }\n`;
    });
    mkdirSync(join(endpointsDir, `bench.hand${i}`));
    writeFileSync(join(endpointsDir, `bench.hand${i}/endpoint.yaml`), head + HAND_YAML + list.join(''));
    writeFileSync(join(endpointsDir, `bench.hand${i}/query.sql`), hand);
  }
}

/** What Studio's log pages cost: its SELECTs and stored queries written by hand, by turns. */
export async function studioSection({ rows }: BenchOptions): Promise<Row[]> {
  const data = await openBenchData(rows);
  return await inTemporaryFolder((folder) => {
    const endpointsDir = join(folder, 'endpoints');
    writeEndpoints(endpointsDir);
    return withPastServer({ ...data, endpointsDir }, 'steps', async (server) => {
      const measured: Row[] = [];
      for (const place of PAGES.keys()) measured.push(...(await askPage(server, place, data.endMs)));
      return measured;
    });
  });
}

/** @param place of the page in `PAGES` */
async function askPage({ url, projects }: PastServer, place: number, endMs: number): Promise<Row[]> {
  const page = PAGES[place];
  if (page === undefined) throw new RangeError(`there is no page ${place}`);
  const agent = new Agent({ keepAlive: true });
  const [translated, byHand]: [number[], number[]] = [[], []];
  for (let i = 0; i < ASKED + WARM_UP; i++) {
    const project = projects[i % projects.length] ?? '';
    const from = new Date(endMs - HOUR_MS - i).toISOString(); // never the same question
    const ask = async (endpoint: string, parameters: Readonly<Record<string, string>>) =>
      (await askNew(url, agent, pathOf({ endpoint, parameters: { project, ...parameters } }))).ms;
    const both = [
      async () => translated.push(await ask('logs.all', { sql: page.sql(from), iso_timestamp_start: from })),
      async () => byHand.push(await ask(`bench.hand${place}`, { since: from })),
    ];
    // The second finds the files in the system's cache, so the order alternates.
    for (const one of i % 2 === 0 ? both : both.reverse()) await one();
  }
  agent.destroy();
  const name = `studio: ${page.name}`;
  const [asked, hand] = [translated.slice(WARM_UP), byHand.slice(WARM_UP)];
  const ratios = asked.map((ms, i) => ms / (hand[i] ?? Number.NaN));
  return [
    timesRow(`${name}, by hand`, hand),
    timesRow(name, asked),
    { name: `${name}, ratio`, unit: 'ratio', values: [median(ratios)], goal: { below: 2 } },
  ];
}
