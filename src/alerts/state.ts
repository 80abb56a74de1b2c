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
  readonly kind: InstanceKind;
  readonly phase: 'pending' | 'firing';
  /** The tick at which it began to hold. */
  readonly sinceMs: number;
  /** The first tick at which it no longer held; it fires until `keep_firing_for` has passed. */
  readonly quietMs?: number;
  /** The tick of its last message; `undefined`: its receivers do not know that it fires, because of a silence. */
  readonly sentMs?: number;
}

/** The state of one alert, as it is stored: JSON. */
export interface AlertState {
  /** The last evaluated tick; `undefined`: none. */
  readonly tickMs?: number;
  /** By `keyOf`. */
  readonly instances: Readonly<Record<string, Instance>>;
  /** Instances that resolved during a silence, so that their receivers still think that they fire. */
  readonly unreported: Readonly<Record<string, Instance>>;
  /** Failed evaluations in a row. */
  readonly failures: number;
  readonly lastError?: string;
}

export const NO_STATE: AlertState = { instances: {}, unreported: {}, failures: 0 };

/** What happened to an instance at a tick; `send` says whether its receivers get a message. */
export interface Transition {
  readonly change: 'firing' | 'repeated' | 'resolved';
  readonly instance: Instance;
  readonly send: boolean;
}

export interface StepOptions {
  readonly rules: Pick<Alert, 'everyMs' | 'forMs' | 'keepFiringForMs' | 'noData' | 'onError' | 'repeatMs'>;
  /** Whether the messages of an instance are silenced at this tick. */
  readonly isSilenced: (labels: Labels) => boolean;
  readonly instancesMax?: number;
}

/** Instances of one alert. */
const INSTANCES_MAX = 100;
/** An error is reported at this failed evaluation in a row. */
const TRIES = 3;

/**
 * Computes the state of an alert after a tick. A tick that is not after the last one by the clock counts as one at the
 * same time: durations go
 * on from there, so that a clock that is set back neither fires nor resolves anything.
 */
export function step(
  before: AlertState,
  { tickMs, outcome }: { readonly tickMs: number; readonly outcome: Outcome },
  options: StepOptions,
): { readonly state: AlertState; readonly transitions: readonly Transition[] } {
  const state = rebase(before, tickMs);
  const bounded = boundInstances(outcome, options.instancesMax ?? INSTANCES_MAX);
  const failures = bounded.kind === 'failed' ? state.failures + 1 : 0;
  const walk = { tickMs, options, transitions: [] as Transition[], unreported: { ...state.unreported } };
  const next = walkInstances(state, findHolding(bounded, { failures, options }), walk);
  const instances = dropExcess(next, walk);
  settleUnreported(instances, walk);
  return {
    state: {
      ...{ tickMs, instances, unreported: keepNewest(walk.unreported, options), failures },
      ...(bounded.kind === 'failed' && { lastError: bounded.reason }),
    },
    transitions: walk.transitions,
  };
}

/** Identifies an instance within its alert. */
function keyOf(kind: InstanceKind, labels: Labels): string {
  return JSON.stringify([kind, ...Object.entries(labels)]);
}

function boundInstances(outcome: Outcome, max: number): Outcome {
  if (outcome.kind !== 'rows' || outcome.holding.length <= max) return outcome;
  const count = `the answer has ${outcome.holding.length} instances; an alert has at most ${max}`;
  return { kind: 'failed', reason: `${count}: group by other columns, or raise the threshold` };
}

type Present = Holding & { readonly kind: InstanceKind };

/** What holds, and the kinds of instances of which nothing is known at this tick, so that they stay as they are. */
interface Known {
  readonly holding: readonly Present[];
  readonly unknown: readonly InstanceKind[];
}

const NOTHING = { labels: {}, values: {} };

function findHolding(
  outcome: Outcome,
  { failures, options }: { failures: number; options: StepOptions },
): Known {
  const { noData, onError } = options.rules;
  if (outcome.kind === 'failed') {
    const isReported = onError === 'alert' && failures >= TRIES;
    const unknown: InstanceKind[] = ['condition', 'no_data'];
    if (!isReported) return { holding: [], unknown: [...unknown, 'error'] };
    return { holding: [{ kind: 'error', labels: {}, values: { error: outcome.reason } }], unknown };
  }
  if (outcome.kind === 'rows')
    return { holding: outcome.holding.map((one) => ({ kind: 'condition', ...one })), unknown: [] };
  if (noData === 'alert') return { holding: [{ kind: 'no_data', ...NOTHING }], unknown: ['condition'] };
  return { holding: [], unknown: noData === 'keep' ? ['condition', 'no_data'] : [] };
}

/** One step while it is computed. */
interface Walk {
  readonly tickMs: number;
  readonly options: StepOptions;
  readonly transitions: Transition[];
  readonly unreported: Record<string, Instance>;
}

function walkInstances(state: AlertState, { holding, unknown }: Known, walk: Walk): Record<string, Instance> {
  const present = new Map(holding.map((one) => [keyOf(one.kind, one.labels), one]));
  const instances: Record<string, Instance> = {};
  const keep = (key: string, instance: Instance | undefined) => {
    if (instance !== undefined) instances[key] = instance;
  };
  for (const [key, instance] of Object.entries(state.instances)) {
    const now = present.get(key);
    if (now !== undefined) keep(key, goOn(instance, now, walk));
    else if (unknown.includes(instance.kind)) keep(key, instance);
    else keep(key, fade(key, instance, walk));
  }
  for (const [key, one] of present)
    if (!Object.hasOwn(state.instances, key)) keep(key, begin(key, one, walk));
  return instances;
}

function begin(key: string, one: Present, walk: Walk): Instance {
  const { [key]: unreported } = walk.unreported;
  // Its receivers still think that it fires.
  const sent = unreported?.sentMs === undefined ? {} : { sentMs: unreported.sentMs };
  return goOn({ ...one, phase: 'pending', sinceMs: walk.tickMs, ...sent }, one, walk);
}

/** An instance that holds. */
function goOn({ quietMs: _, ...instance }: Instance, { values }: Present, walk: Walk): Instance {
  const { tickMs, options, transitions } = walk;
  const { forMs, repeatMs } = options.rules;
  // A failed query has failed three times already.
  const waitsMs = instance.kind === 'error' ? 0 : forMs;
  if (instance.phase === 'pending' && tickMs - instance.sinceMs < waitsMs) return { ...instance, values };
  const isNew = instance.phase === 'pending';
  const { sentMs } = instance;
  const isDue = sentMs === undefined || (repeatMs !== undefined && tickMs - sentMs >= repeatMs);
  const send = isDue && !options.isSilenced(instance.labels);
  const firing: Instance = { ...instance, values, phase: 'firing', ...(send && { sentMs: tickMs }) };
  if (isNew || send) transitions.push({ change: isNew ? 'firing' : 'repeated', instance: firing, send });
  return firing;
}

/** An instance that does not hold. */
function fade(key: string, instance: Instance, walk: Walk): Instance | undefined {
  if (instance.phase === 'pending') return undefined;
  const { quietMs = walk.tickMs } = instance;
  if (walk.tickMs - quietMs < walk.options.rules.keepFiringForMs) return { ...instance, quietMs };
  resolve(key, instance, walk);
  return undefined;
}

function resolve(key: string, instance: Instance, { unreported, options, transitions }: Walk): void {
  const isKnown = instance.sentMs !== undefined;
  const isSilenced = options.isSilenced(instance.labels);
  if (isKnown && isSilenced) unreported[key] = instance;
  else delete unreported[key];
  transitions.push({ change: 'resolved', instance, send: isKnown && !isSilenced });
}

/**
 * Resolves instances that only `keep_firing_for` holds, the quietest first, beyond the bound: changing labels would add
 * up to any number.
 */
function dropExcess(instances: Record<string, Instance>, walk: Walk): Record<string, Instance> {
  const excess = Object.keys(instances).length - (walk.options.instancesMax ?? INSTANCES_MAX);
  if (excess <= 0) return instances;
  const quiet = Object.entries(instances).filter(([, { quietMs }]) => quietMs !== undefined);
  quiet.sort(([, a], [, b]) => (a.quietMs ?? 0) - (b.quietMs ?? 0));
  const dropped = quiet.slice(0, excess);
  for (const [key, instance] of dropped) resolve(key, instance, walk);
  const names = new Set(dropped.map(([key]) => key));
  return Object.fromEntries(Object.entries(instances).filter(([key]) => !names.has(key)));
}

/** Sends what resolved during a silence that has ended, and forgets what fires again. */
function settleUnreported(instances: Readonly<Record<string, Instance>>, walk: Walk): void {
  const { unreported, options, transitions } = walk;
  for (const [key, instance] of Object.entries(unreported)) {
    const again = instances[key];
    if (again?.phase === 'firing') delete unreported[key];
    else if (again === undefined && !options.isSilenced(instance.labels)) {
      delete unreported[key];
      transitions.push({ change: 'resolved', instance, send: true });
    }
  }
}

function keepNewest(
  unreported: Readonly<Record<string, Instance>>,
  { instancesMax = INSTANCES_MAX }: StepOptions,
): AlertState['unreported'] {
  return Object.fromEntries(Object.entries(unreported).slice(-instancesMax));
}

/** Moves every time back if the clock has been set back. */
function rebase(state: AlertState, tickMs: number): AlertState {
  const backMs = (state.tickMs ?? tickMs) - tickMs;
  if (backMs <= 0) return state;
  const move = (instances: AlertState['instances']) =>
    Object.fromEntries(Object.entries(instances).map(([key, one]) => [key, moveBack(one, backMs)]));
  return { ...state, tickMs, instances: move(state.instances), unreported: move(state.unreported) };
}

function moveBack(instance: Instance, backMs: number): Instance {
  const { quietMs, sentMs, sinceMs } = instance;
  return {
    ...instance,
    sinceMs: sinceMs - backMs,
    ...(quietMs !== undefined && { quietMs: quietMs - backMs }),
    ...(sentMs !== undefined && { sentMs: sentMs - backMs }),
  };
}
