import type { Alert } from '../definitions/alert.ts';

/** What an instance is about: a condition that holds, an answer without rows, or a query that fails. */
export type InstanceKind = 'condition' | 'no_data' | 'error';

export type Labels = Readonly<Record<string, string>>;
export type RowValues = Readonly<Record<string, string | number | null>>;

/** One set of labels for which the condition holds at a tick. */
export interface Holding {
  readonly labels: Labels;
  /** The other columns of its row. */
  readonly values: RowValues;
}

/** The result of one evaluation. */
export type Outcome =
  | { readonly kind: 'rows'; readonly holding: readonly Holding[] }
  | { readonly kind: 'no rows' }
  | { readonly kind: 'failed'; readonly reason: string };

/** An instance that holds, or held until a moment ago. Times are ms since the epoch. */
export interface Instance extends Holding {
  /** Why it holds. It may change while the instance fires. */
  readonly kind: InstanceKind;
  readonly phase: 'pending' | 'firing';
  /** The tick at which it began to hold. */
  readonly sinceMs: number;
  /** The first tick at which it no longer held; it fires until `keep_firing_for` has passed. */
  readonly quietMs?: number;
  /** The tick of its last message. */
  readonly sentMs?: number;
  /** The receivers that know that it fires, so that they have to hear of its end. */
  readonly sentTo: readonly string[];
}

/** The state of one alert, as it is stored: JSON. */
export interface AlertState {
  /** The last evaluated tick; `undefined`: none. */
  readonly tickMs?: number;
  /** By `keyOf`. */
  readonly instances: Readonly<Record<string, Instance>>;
  /** Failed evaluations in a row. */
  readonly failures: number;
  readonly lastError?: string;
}

export const NO_STATE: AlertState = { instances: {}, failures: 0 };

/** What happened to an instance at a tick. */
export interface Transition {
  /** `withdrawn`: it still fires, but not for these receivers. */
  readonly change: 'firing' | 'repeated' | 'withdrawn' | 'resolved';
  readonly instance: Instance;
  /** The receivers that get a message. */
  readonly to: readonly string[];
}

export interface StepOptions {
  readonly rules: Pick<Alert, 'everyMs' | 'forMs' | 'keepFiringForMs' | 'noData' | 'onError' | 'repeatMs'>;
  /** The receivers of the alert that exist. */
  readonly receivers: readonly string[];
  /** Whether an instance is silenced at this tick: then its end is sent, and nothing else. */
  readonly isSilenced: (labels: Labels) => boolean;
}

/** Instances of one alert. */
const INSTANCES_MAX = 100;
/** An error is reported at this failed evaluation in a row. */
const TRIES = 3;

/**
 * Computes the state of an alert after a tick. An instance is what its labels name, whatever it is about: with `per`
 * empty, a condition that holds, an answer without rows and a failing query are one instance, for receivers as well.
 */
export function step(
  before: AlertState,
  { tickMs, outcome }: { readonly tickMs: number; readonly outcome: Outcome },
  options: StepOptions,
): { readonly state: AlertState; readonly transitions: readonly Transition[] } {
  const bounded = boundInstances(outcome);
  const failures = bounded.kind === 'failed' ? before.failures + 1 : 0;
  const walk: Walk = { tickMs, options, transitions: [] };
  const watched = skipUnwatched(before, tickMs, options.rules.everyMs);
  const known = findHolding(bounded, failures, options.rules);
  const next = walkInstances(withdraw(watched, walk), known, walk);
  return {
    state: {
      ...{ tickMs, instances: dropExcess(next, walk), failures },
      ...(bounded.kind === 'failed' && { lastError: bounded.reason }),
    },
    transitions: walk.transitions,
  };
}

type Instances = AlertState['instances'];

/** Identifies an instance within its alert. */
export function keyOf(labels: Labels): string {
  return JSON.stringify(Object.entries(labels));
}

function boundInstances(outcome: Outcome): Outcome {
  if (outcome.kind !== 'rows' || outcome.holding.length <= INSTANCES_MAX) return outcome;
  const count = `the answer has ${outcome.holding.length} instances; an alert has at most ${INSTANCES_MAX}`;
  return { kind: 'failed', reason: `${count}: group by other columns, or raise the threshold` };
}

type Present = Holding & { readonly kind: InstanceKind };

/** What holds, and the kinds of instances of which nothing is known at this tick, so that they stay as they are. */
interface Known {
  readonly holding: readonly Present[];
  readonly unknown: readonly InstanceKind[];
}

function findHolding(outcome: Outcome, failures: number, { noData, onError }: StepOptions['rules']): Known {
  if (outcome.kind === 'rows')
    return { holding: outcome.holding.map((one) => ({ kind: 'condition', ...one })), unknown: [] };
  if (outcome.kind === 'no rows') {
    const holding: Present[] = noData === 'alert' ? [{ kind: 'no_data', labels: {}, values: {} }] : [];
    return { holding, unknown: noData === 'ok' ? [] : ['condition', 'no_data'] };
  }
  const isReported = onError === 'alert' && failures >= TRIES;
  if (!isReported) return { holding: [], unknown: ['condition', 'no_data', 'error'] };
  const values = { error: outcome.reason };
  return { holding: [{ kind: 'error', labels: {}, values }], unknown: ['condition', 'no_data'] };
}

/** One step while it is computed. */
interface Walk {
  readonly tickMs: number;
  readonly options: StepOptions;
  readonly transitions: Transition[];
}

function walkInstances(before: Instances, { holding, unknown }: Known, walk: Walk): Instances {
  const present = new Map(holding.map((one) => [keyOf(one.labels), one]));
  const instances: Record<string, Instance> = {};
  for (const [key, instance] of Object.entries(before)) {
    const now = present.get(key);
    const absent = () => (unknown.includes(instance.kind) ? instance : fade(instance, walk));
    const next = now === undefined ? absent() : goOn(instance, now, walk);
    if (next !== undefined) instances[key] = next;
  }
  for (const [key, one] of present)
    instances[key] ??= goOn({ ...one, phase: 'pending', sinceMs: walk.tickMs, sentTo: [] }, one, walk);
  return instances;
}

/** An instance that holds. */
function goOn({ quietMs: _, ...before }: Instance, { kind, values }: Present, walk: Walk): Instance {
  const { tickMs, options, transitions } = walk;
  const { rules, receivers } = options;
  const instance = { ...before, kind, values };
  // A failed query has failed three times already.
  const waitsMs = kind === 'error' ? 0 : rules.forMs;
  if (before.phase === 'pending' && tickMs - before.sinceMs < waitsMs) return instance;
  const isNew = before.phase === 'pending' || kind !== before.kind;
  const { sentTo, sentMs = tickMs } = before;
  const isDue = isNew || (rules.repeatMs !== undefined && tickMs - sentMs >= rules.repeatMs);
  const due = isDue ? receivers : receivers.filter((name) => !sentTo.includes(name));
  const to = options.isSilenced(before.labels) ? [] : due;
  const sent = to.length > 0 && { sentMs: tickMs, sentTo: [...new Set([...sentTo, ...to])] };
  const firing: Instance = { ...instance, phase: 'firing', ...sent };
  if (isNew || to.length > 0)
    transitions.push({ change: isNew ? 'firing' : 'repeated', instance: firing, to });
  return firing;
}

/** An instance that does not hold. */
function fade(instance: Instance, walk: Walk): Instance | undefined {
  if (instance.phase === 'pending') return undefined;
  const { quietMs = walk.tickMs } = instance;
  if (walk.tickMs - quietMs < walk.options.rules.keepFiringForMs) return { ...instance, quietMs };
  walk.transitions.push(resolve(instance));
  return undefined;
}

function resolve(instance: Instance): Transition {
  return { change: 'resolved', instance, to: instance.sentTo };
}

/** Resolves all that fires, for whoever knows of it. */
export function resolveAll({ instances }: AlertState): Transition[] {
  return Object.values(instances)
    .filter(({ phase }) => phase === 'firing')
    .map(resolve);
}

/** Resolves what only `keep_firing_for` holds beyond the bound, the quietest first: changing labels would add up. */
function dropExcess(instances: Instances, { transitions }: Walk): Instances {
  const excess = Object.keys(instances).length - INSTANCES_MAX;
  if (excess <= 0) return instances;
  const quiet = Object.entries(instances).filter(([, { quietMs }]) => quietMs !== undefined);
  quiet.sort(([, a], [, b]) => (a.quietMs ?? 0) - (b.quietMs ?? 0));
  const dropped = new Map(quiet.slice(0, excess));
  transitions.push(...[...dropped.values()].map(resolve));
  return Object.fromEntries(Object.entries(instances).filter(([key]) => !dropped.has(key)));
}

/** Resolves what fires for receivers that the alert no longer has. */
function withdraw(instances: Instances, { options: { receivers }, transitions }: Walk): Instances {
  return mapValues(instances, (instance) => {
    const to = instance.sentTo.filter((name) => !receivers.includes(name));
    if (to.length === 0) return instance;
    transitions.push({ change: 'withdrawn', instance, to });
    return { ...instance, sentTo: instance.sentTo.filter((name) => receivers.includes(name)) };
  });
}

/**
 * Moves what durations are counted from: time without evaluations does not count towards `for` and `keep_firing_for`,
 * and a clock that is set back neither fires nor resolves anything.
 */
function skipUnwatched(
  { tickMs: lastMs, instances }: AlertState,
  tickMs: number,
  everyMs: number,
): Instances {
  const passedMs = tickMs - (lastMs ?? tickMs);
  const isBack = passedMs < 0;
  // One missed tick may be that of a process that another one has taken over from.
  if (!isBack && passedMs <= 2 * everyMs) return instances;
  const moveMs = isBack ? passedMs : passedMs - everyMs;
  return mapValues(instances, ({ sinceMs, quietMs, sentMs, ...instance }) => ({
    ...instance,
    sinceMs: isBack || instance.phase === 'pending' ? sinceMs + moveMs : sinceMs,
    ...(quietMs !== undefined && { quietMs: quietMs + moveMs }),
    ...(sentMs !== undefined && { sentMs: isBack ? sentMs + moveMs : sentMs }),
  }));
}

function mapValues(instances: Instances, map: (instance: Instance) => Instance): Instances {
  return Object.fromEntries(Object.entries(instances).map(([key, one]) => [key, map(one)]));
}
