import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { addEndpoint } from '../endpoint.ts';

/** Something that one caller does to the service, again and again. */
export interface Attack {
  /** One word, by which it is chosen. */
  readonly short: (typeof ATTACKS)[number];
  readonly name: string;
  /** A signal sent to the engine process, an endpoint of the attacker's and its `project` for each time, or requests that are sent at once. */
  readonly how:
    | { readonly signal: NodeJS.Signals }
    | QueryAttack
    | { readonly paths: (time: number) => string[] };
}

interface QueryAttack {
  readonly endpoint: string;
  /** Another value each time, so that neither a cache nor a rejected text gets in the way. */
  readonly project: (time: number) => string;
  /** Each time by another token of the attacker's key. */
  readonly hasTokens?: boolean;
}

export const ATTACKS = ['fifo', 'tokens', 'memory', 'crash', 'searches'] as const;

/** Endpoint with one row for each request that was stored; the id of an event begins with its request's. */
export const STORED_ENDPOINT = 'attack.stored';

// At start the engine is shown each query with this value, and must not be attacked by it.
const SAMPLE = 'x';

const SEARCHES = 30;
const TERMS = 127;

/**
 * Writes endpoints whose stored SQL carries the attacks: nothing checks it, so what is tried is the supervisor.
 *
 * @param folder of endpoints, which the service reads at start
 * @param dataDir of the service; a FIFO is created in it
 * @param isChosen by the word of an attack: the others have no endpoint
 */
export async function prepareAttacks(
  folder: string,
  dataDir: string,
  isChosen: (short: string) => boolean = () => true,
): Promise<Attack[]> {
  const fifo = join(dataDir, 'zone');
  execFileSync('mkfifo', [fifo]);
  const blocks = {
    sql: `SELECT toHour(toTimezone(toDateTime(0, 'UTC'), if(@project = '${SAMPLE}', 'UTC', concat('file:', @project)))) AS n`,
    project: (time: number) => `${dataDir}${'/.'.repeat(time)}/zone`,
  };
  const queries: readonly (Omit<QueryAttack, 'endpoint'> & Omit<Attack, 'how'> & { sql: string })[] = [
    { short: 'fifo', name: 'a time zone that is a FIFO', ...blocks },
    { short: 'tokens', name: 'the same by a new token each time', ...blocks, hasTokens: true },
    {
      short: 'memory',
      name: 'more memory than there is',
      sql: `SELECT length(groupArray(repeat(concat(@project, toString(number)), 1000))) AS n
        FROM numbers(if(@project = '${SAMPLE}', 1, 1000000000))`,
      project: (time) => `${time}-`,
    },
  ];
  const attacks: Attack[] = [];
  for (const [i, { short, name, sql, ...how }] of queries.entries()) {
    if (!isChosen(short)) continue;
    const endpoint = `attack.${short}`;
    await addEndpoint(folder, { name: endpoint, id: idOf(i), sql, caching: 'disabled' });
    attacks.push({ short, name, how: { endpoint, ...how } });
  }
  await addEndpoint(folder, {
    name: STORED_ENDPOINT,
    id: idOf(queries.length),
    sql: `SELECT count() * 1000000 + uniqExact(id) AS n FROM edge_logs WHERE project = @project`,
    caching: 'disabled',
  });
  if (isChosen('crash')) attacks.push({ short: 'crash', name: 'a crash', how: { signal: 'SIGSEGV' } });
  if (isChosen('searches'))
    attacks.push({
      short: 'searches',
      name: `${SEARCHES} searches of ${TERMS} terms over all sources at once`,
      how: { paths: (time) => Array.from({ length: SEARCHES }, (_, i) => searchPath(`${time}x${i}`)) },
    });
  return attacks;
}

/** The search with the most terms, over paths that no source declares; its SQL has some 200 KB. */
function searchPath(name: string): string {
  const terms = Array.from({ length: TERMS }, (_, i) => `f${name}x${i}:>=${i}`);
  return `/api/search?${new URLSearchParams({ q: terms.join(' or ') })}`;
}

function idOf(i: number): string {
  return `a77ac000-0000-4000-8000-${String(i).padStart(12, '0')}`;
}
