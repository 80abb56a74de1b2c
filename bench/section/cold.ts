import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { join } from 'node:path';
import type { ColdStarted, DirectAnswer, Question } from '../cold-process.ts';
import { openBenchData } from '../data.ts';
import { send } from '../http.ts';
import { median, quantile } from '../measure.ts';
import { type Row, say } from '../report.ts';
import type { BenchOptions } from '../section.ts';

const ASKED = 40;
const WARM_UP = 5;

interface Kind {
  readonly name: string;
  readonly question: (project: string) => Question;
}

const KINDS: readonly Kind[] = [
  ...['1day', '7day'].map((interval) => ({
    name: `functions.invocation-stats ${interval}`,
    question: (project: string) => ({
      endpoint: 'functions.invocation-stats',
      parameters: { project, interval },
    }),
  })),
  {
    name: 'logs.all PRO',
    question: (project) => ({ endpoint: 'logs.all', parameters: { project, project_tier: 'PRO' } }),
  },
  ...['hourly', 'daily'].map((interval) => ({
    name: `usage.api-counts ${interval}`,
    question: (project: string) => ({ endpoint: 'usage.api-counts', parameters: { project, interval } }),
  })),
];

/** Questions never asked before, over HTTP and of the engine itself, by turns; one at a time. */
export async function coldSection({ rows }: BenchOptions): Promise<Row[]> {
  const data = await openBenchData(rows);
  const child = fork(join(import.meta.dirname, '../cold-process.ts'));
  try {
    child.send(data);
    const [started] = (await once(child, 'message')) as [ColdStarted]; // its first message
    const measured: Row[] = [];
    for (const kind of KINDS) measured.push(...(await measure(child, started, kind)));
    return measured;
  } finally {
    child.disconnect();
  }
}

async function measure(child: ChildProcess, { url, projects }: ColdStarted, kind: Kind): Promise<Row[]> {
  const agent = new Agent({ keepAlive: true });
  const overHttp: number[] = [];
  const direct: number[] = [];
  for (let i = 0; i < ASKED + WARM_UP; i++) {
    const question = kind.question(projects[i % projects.length] ?? '');
    const both = [
      async () => overHttp.push(await askHttp(url, agent, question)),
      async () => direct.push(await askDirect(child, question)),
    ];
    // Who comes second finds the files in the system's cache, so each is it as often as the other.
    for (const ask of i % 2 === 0 ? both : both.reverse()) await ask();
  }
  agent.destroy();
  const [http, engine] = [overHttp.slice(WARM_UP), direct.slice(WARM_UP)];
  say(`cold: ${kind.name}: ${median(http).toFixed(1)} ms, the engine alone ${median(engine).toFixed(1)} ms`);
  return [
    { name: `${kind.name}, cold over HTTP: p50`, unit: 'ms', values: [median(http)] },
    { name: `${kind.name}, cold over HTTP: p99`, unit: 'ms', values: [quantile(http, 0.99)] },
    { name: `${kind.name}, the engine alone: p50`, unit: 'ms', values: [median(engine)] },
    {
      name: `${kind.name}, HTTP / engine, p50`,
      unit: 'ratio',
      values: [median(http) / median(engine)],
      goal: { below: 1.15 },
    },
  ];
}

async function askHttp(url: string, agent: Agent, { endpoint, parameters }: Question): Promise<number> {
  const path = `/api/endpoints/query/${endpoint}?${new URLSearchParams(parameters)}`;
  const startMs = performance.now();
  const { status, text } = await send(url, agent, { path, headers: { 'cache-control': 'no-cache' } });
  const ms = performance.now() - startMs;
  if (status !== 200) throw new Error(`${path} was answered ${status}: ${text.slice(0, 500)}`);
  return ms;
}

async function askDirect(child: ChildProcess, question: Question): Promise<number> {
  child.send(question);
  const [answer] = (await once(child, 'message')) as [DirectAnswer]; // one for each question
  return answer.ms;
}
