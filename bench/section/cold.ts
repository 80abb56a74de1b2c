import { Agent } from 'node:http';
import { openBenchData } from '../data.ts';
import { askCold } from '../http.ts';
import { median } from '../measure.ts';
import { type PastServer, withPastServer } from '../past-server.ts';
import { QUESTION_KINDS, type QuestionKind } from '../questions.ts';
import { type Row, say, timesRow } from '../report.ts';
import type { BenchOptions } from '../section.ts';

const ASKED = 40;
const WARM_UP = 5;
/** The number of rows for which the medians have goals. */
const GOALS_ROWS = 100_000_000;

/** Uncached questions, one at a time, over HTTP and directly to the engine in turn. */
export async function coldSection({ rows }: BenchOptions): Promise<Row[]> {
  return await withPastServer(await openBenchData(rows), 'steps', async (server) => {
    const measured: Row[] = [];
    for (const kind of QUESTION_KINDS) measured.push(...(await measure(server, kind, rows)));
    return measured;
  });
}

async function measure(server: PastServer, kind: QuestionKind, rows: number): Promise<Row[]> {
  const agent = new Agent({ keepAlive: true });
  const overHttp: number[] = [];
  const direct: number[] = [];
  for (let i = 0; i < ASKED + WARM_UP; i++) {
    const question = kind.question(server.projects[i % server.projects.length] ?? '');
    const both = [
      async () => overHttp.push(await askCold(server.url, agent, question)),
      async () => direct.push((await server.ask(question)).ms),
    ];
    // The second one finds the files in the system's cache, so the order alternates.
    for (const ask of i % 2 === 0 ? both : both.reverse()) await ask();
  }
  agent.destroy();
  const [http, engine] = [overHttp.slice(WARM_UP), direct.slice(WARM_UP)];
  say(`cold: ${kind.name}: ${median(http).toFixed(1)} ms, the engine alone ${median(engine).toFixed(1)} ms`);
  const { growth, belowMs } = kind;
  const goal = rows === GOALS_ROWS && belowMs !== undefined ? { goal: { below: belowMs } } : {};
  return [
    timesRow(`${kind.name}, cold over HTTP`, http, { growth, ...goal }),
    timesRow(`${kind.name}, the engine alone`, engine),
    {
      name: `${kind.name}, HTTP / engine`,
      unit: 'ratio',
      values: [median(http) / median(engine)],
      goal: { below: 1.15 },
    },
  ];
}
