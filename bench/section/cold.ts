import { openBenchData } from '../data.ts';
import { askCold, openAgent } from '../http.ts';
import { median } from '../measure.ts';
import { type PastServer, withPastServer } from '../past-server.ts';
import { COUNT_KIND, goalAt, growthUpTo, ONE_KIND, QUESTION_KINDS, type QuestionKind } from '../questions.ts';
import { type Row, say, timesRow } from '../report.ts';
import type { BenchOptions } from '../section.ts';

const ASKED = 40;
const WARM_UP = 5;

/** Uncached questions, one at a time, over HTTP and directly to the engine in turn. */
export async function coldSection({ rows }: BenchOptions): Promise<Row[]> {
  return await withPastServer(await openBenchData(rows), 'steps', async (server) => {
    const measured: Row[] = [];
    for (const kind of [ONE_KIND, COUNT_KIND, ...QUESTION_KINDS])
      measured.push(...(await measure(server, kind, rows)));
    return measured;
  });
}

async function measure(server: PastServer, kind: QuestionKind, rows: number): Promise<Row[]> {
  const agent = openAgent();
  const overHttp: number[] = [];
  const direct: number[] = [];
  const counts: number[] = [];
  for (let i = 0; i < ASKED + WARM_UP; i++) {
    const project = server.projects[i % server.projects.length] ?? '';
    const question = kind.question(project);
    const turns = [
      async () => overHttp.push(await askCold(server.url, agent, question)),
      async () => direct.push((await server.ask(question)).ms),
      async () => {
        if (kind.belowCounts !== undefined)
          counts.push(await askCold(server.url, agent, COUNT_KIND.question(project)));
      },
    ];
    // The second one finds the files in the system's cache, so the order alternates.
    for (const ask of i % 2 === 0 ? turns : turns.reverse()) await ask();
  }
  agent.destroy();
  const [http, engine] = [overHttp.slice(WARM_UP), direct.slice(WARM_UP)];
  say(`cold: ${kind.name}: ${median(http).toFixed(1)} ms, the engine alone ${median(engine).toFixed(1)} ms`);
  return [
    timesRow(`${kind.name}, cold over HTTP`, http, {
      growth: growthUpTo(kind, rows),
      ...goalAt(kind.belowMs, rows),
    }),
    timesRow(`${kind.name}, the engine alone`, engine),
    {
      name: `${kind.name}, HTTP / engine`,
      unit: 'ratio',
      values: [median(http) / median(engine)],
      // Of next to nothing, HTTP is much.
      ...(QUESTION_KINDS.includes(kind) ? { goal: { below: 1.1 } } : {}),
    },
    ...besideCount(kind, rows, { http, counts: counts.slice(WARM_UP) }),
  ];
}

function besideCount(
  { name, belowCounts }: QuestionKind,
  rows: number,
  { http, counts }: { http: readonly number[]; counts: readonly number[] },
): Row[] {
  if (belowCounts === undefined) return [];
  const values = [median(http) / median(counts)];
  return [
    { name: `${name}, over HTTP / ${COUNT_KIND.name}`, unit: 'ratio', values, ...goalAt(belowCounts, rows) },
  ];
}
