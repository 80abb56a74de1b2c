import { createWeighted, type Random } from '../../src/lib/random.ts';
import type { TestCaller } from './callers.ts';
import { TENANTS } from './data.ts';
import { escapeSigns, type Question, SEARCHED_MAX } from './oracle.ts';

// logs.all and searches are not cached: more of them would turn the run into a benchmark of the engine.
const pickEndpoint = createWeighted([
  [48, 'functions.invocation-stats'],
  [48, 'usage.api-counts'],
  [2, 'logs.all'],
  [1, 'search'],
  [1, 'nothing.here'],
]);
const pickProject = createWeighted<'own' | 'none' | 'escaped' | 'foreign'>([
  [5, 'own'],
  [5, 'none'],
  [2, 'escaped'],
  [3, 'foreign'],
]);

/** A random request of a caller: for its own project, for none, for another. */
export function ask(random: Random, caller: TestCaller): Question {
  const ownProjects = caller.choices['project'] ?? [caller.pins['project'] ?? random.pick(TENANTS)];
  const own = random.pick(ownProjects);
  const foreign = random.pick(TENANTS);
  const endpoint = pickEndpoint(random);
  // Names that are invalid or ambiguous as patterns are only sent by keys that pin them.
  const isPinned = caller.pins['project'] !== undefined || caller.choices['project'] !== undefined;
  const isPattern = endpoint === 'usage.api-counts' && !isPinned;
  const project = {
    own: isPattern ? escapeSigns(own) : own,
    none: '',
    escaped: escapeSigns(own),
    foreign: escapeSigns(foreign),
  }[pickProject(random)];
  const intervals =
    endpoint === 'usage.api-counts' ? ['hourly', 'minutely', 'daily'] : ['', '5min', '1hr', '7day'];
  const interval = random.chance(0.1) ? 'junk' : random.pick(intervals);
  const project_tier = random.pick(['', 'FREE', 'PRO', 'ENTERPRISE', 'junk']);
  const junk = random.chance(0.2) ? { junk: random.hex(), pinned_project: random.pick(TENANTS) } : {};
  const parameters = { project, interval, project_tier, ...junk };
  return {
    endpoint,
    parameters: endpoint === 'search' ? { project, ...createSearch(random) } : parameters, // a search rejects others
  };
}

/** Of all events, and of one source or several. */
function createSearch(random: Random): Question['parameters'] {
  const source = random.pick(SEARCHED);
  return { source, from: '2000-01-01', limit: String(SEARCHED_MAX) };
}

const SEARCHED = [
  '',
  'cloudflare.logs.prod',
  'deno-relay-logs',
  'cloudflare.logs.prod,deno-relay-logs',
  'nothing.here',
];
