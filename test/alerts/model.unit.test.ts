import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readStored } from '../../src/alerts/evaluation.ts';
import { createEvaluator } from '../../src/alerts/evaluator.ts';
import type { AlertMessage } from '../../src/alerts/message.ts';
import { createOutbox } from '../../src/alerts/outbox.ts';
import { SendError } from '../../src/alerts/receivers/receiver.ts';
import { createDelivery } from '../../src/alerts/receivers/sender.ts';
import type { Outcome } from '../../src/alerts/state.ts';
import { createAlertModel, type Seen, WHOLE } from '../../trial/alerts/model.ts';
import { createAlert } from '../support/alert.ts';
import { createMemoryAlerts } from '../support/alert-store.ts';
import { scale } from '../support/property.ts';

// The gate tries 2,000 sequences, each night 50,000.
const SEQUENCES = scale(10_000) < 10_000 ? scale(10_000) : 50_000;
const MINUTES_MAX = 20;

const ID = '5f1f3f0a-8c1e-4a52-9a58-0d6a2f6a4c11';
const EVERY_MS = 60_000;
const PATHS = ['/a', '/b', '/c'];
const RECEIVERS = ['ops', 'duty'];
const INSTANCES_MAX = 100;
const seconds = (...choices: number[]) => fc.constantFrom(...choices);

const anyRules = fc.record({
  per: fc.constantFrom(['path'], undefined),
  for: seconds(0, 0, 60, 150),
  keep_firing_for: seconds(0, 0, 60, 150),
  repeat: fc.constantFrom(undefined, 120),
  no_data: fc.constantFrom('ok', 'alert', 'keep'),
  on_error: fc.constantFrom('keep', 'alert'),
});
/** What an author may change of a firing alert; `isServed: false` removes its file. */
const anyEdit = fc.record({
  name: fc.constantFrom('checkout', 'checkout', 'orders'),
  severity: fc.constantFrom('warning', 'warning', 'critical'),
  to: fc.subarray(RECEIVERS, { minLength: 1 }),
  isServed: fc.constantFrom(true, true, true, false),
});
const anyTick = fc.record({
  seen: fc.oneof(
    { weight: 6, arbitrary: fc.subarray(PATHS) },
    { weight: 2, arbitrary: fc.constant('empty' as const) },
    { weight: 2, arbitrary: fc.constant('failure' as const) },
  ),
  // A tick as usual, one missed, a gap, and a clock that is set back.
  minutes: fc.constantFrom(1, 1, 1, 1, 2, 10, -30),
  silenced: fc.constantFrom<string | undefined>(undefined, undefined, undefined, '/a', WHOLE),
  edit: fc.option(anyEdit, { freq: 4 }),
  /** The process ends: before, or after a write of which it does not learn; or it does not learn of it, and goes on. */
  crash: fc.constantFrom(undefined, undefined, undefined, undefined, 'before', 'after', 'unknown'),
  /** How each receiver responds until the next tick. */
  modes: fc.tuple(anyMode(), anyMode()),
});

function anyMode() {
  return fc.constantFrom('accepts' as const, 'accepts' as const, 'down' as const, 'rejects' as const);
}
type Mode = 'accepts' | 'down' | 'rejects';

const { database, store } = createMemoryAlerts();

const keyOf = ({ alert, severity }: AlertMessage, labels: Readonly<Record<string, string>>) =>
  `${alert} ${severity} ${labels['path'] ?? WHOLE}`;

/** A receiver that keeps what is open there, as PagerDuty and Alertmanager do. */
function openReceiver(name: string, now: () => number) {
  const receiver = { mode: 'accepts' as Mode, open: new Set<string>(), deliverNext: () => next() };
  const sendNext = () =>
    createDelivery(
      { name, kind: 'webhook', version: '', secrets: [], send },
      { outbox: createOutbox(store, now), listFiring: async () => [], now, random: () => 0, watch: () => {} },
      new AbortController().signal,
    );
  let next = sendNext();
  async function send({ message }: { readonly message: AlertMessage }): Promise<void> {
    if (receiver.mode !== 'accepts')
      throw new SendError(receiver.mode, { isRejected: receiver.mode === 'rejects' });
    for (const { labels } of message.instances)
      if (message.status === 'resolved') receiver.open.delete(keyOf(message, labels));
      else receiver.open.add(keyOf(message, labels));
  }
  return Object.assign(receiver, {
    /** Sends what is due. */
    async deliver(): Promise<void> {
      for (let steps = 0; steps < 100; steps++) if ((await receiver.deliverNext()) !== 0) return;
    },
    restart() {
      next = sendNext();
    },
  });
}

function toOutcome(seen: Seen, { per }: Rules): Outcome {
  if (seen === 'empty') return { kind: 'no rows' };
  if (seen === 'failure') return { kind: 'failed', reason: 'the query took too long' };
  const holding = seen.map((path) => ({
    labels: per === undefined ? {} : { path },
    values: { failures: 1 },
  }));
  return { kind: 'rows', holding: per === undefined ? holding.slice(0, 1) : holding };
}

type Rules = typeof anyRules extends fc.Arbitrary<infer T> ? T : never;
type Tick = typeof anyTick extends fc.Arbitrary<infer T> ? T : never;

async function tryAll(rules: Rules, ticks: readonly Tick[]): Promise<void> {
  for (const table of ['states', 'history', 'silences', 'outbox'])
    database.exec(`DELETE FROM tailrace_alert_${table}`);
  const world = { nowMs: 1e12, ticks: 0, outcome: { kind: 'no rows' } as Outcome, isLost: false };
  /** What the evaluations of a tick have written for receivers. */
  let written: string[] = [];
  const now = () => world.nowMs;
  const receivers = RECEIVERS.map((name) => [name, openReceiver(name, now)] as const);
  let edit = { name: 'checkout', severity: 'warning', to: RECEIVERS, isServed: true };
  const readAlert = () => {
    const { isServed: _, ...edited } = edit;
    return createAlert({ id: ID, every: EVERY_MS / 1000, ...rules, ...edited });
  };
  const start = () =>
    createEvaluator({
      ...{ now, owner: 'one', ticks: () => world.ticks++ * 60_000, leaseMs: () => 60_000 },
      alerts: () => (edit.isServed ? [readAlert()] : []),
      evaluate: async () => ({ outcome: world.outcome }),
      store: {
        ...store,
        async write(write) {
          const isWritten = await store.write(write);
          if (isWritten) written.push(...write.messages.map((one) => `${one.receiver} ${one.message}`));
          if (world.isLost) throw new Error('the connection was lost after the commit');
          return isWritten;
        },
      },
      receivers: () => new Set(RECEIVERS),
    });
  let evaluator = start();
  const evaluate = async () => {
    await evaluator.renew();
    evaluator.tick();
    await evaluator.idle();
  };
  const model = createAlertModel(readAlert(), INSTANCES_MAX);
  const identity = () => (edit.isServed ? `${edit.name} ${edit.severity}` : '');
  let lastMs: number | undefined;
  let latestMs = world.nowMs;

  for (const { seen, minutes, silenced, edit: edited, crash, modes } of ticks) {
    world.nowMs += minutes * 60_000;
    latestMs = Math.max(latestMs, world.nowMs);
    const before = identity();
    edit = edited ?? edit;
    if (before !== identity()) {
      model.clear();
      lastMs = undefined;
    }
    world.outcome = toOutcome(seen, rules);
    if (silenced !== undefined) {
      const labels = JSON.stringify(silenced === WHOLE ? {} : { path: silenced });
      const about = { alert: ID, labels, comment: '', author: '', createdMs: world.nowMs };
      await store.addSilence({ ...about, id: 's', untilMs: Number.MAX_SAFE_INTEGER });
    }
    written = [];
    if (crash === 'after' || crash === 'unknown') {
      world.isLost = true;
      await evaluate();
      world.isLost = false;
    }
    if (crash === 'before' || crash === 'after') {
      evaluator = start();
      for (const [, receiver] of receivers) receiver.restart();
    }
    await evaluate();
    expect(written).toEqual([...new Set(written)]);
    if (silenced !== undefined) await store.removeSilence(ID, 's');
    if (edit.isServed) {
      const isMuted = (name: string) => silenced === WHOLE || silenced === name;
      const afterMs = lastMs === undefined ? 0 : world.nowMs - lastMs;
      lastMs = world.nowMs;
      const isWhole = rules.per === undefined && typeof seen !== 'string';
      const found = isWhole ? seen.slice(0, 1).map(() => WHOLE) : seen;
      model.advance({ afterMs, seen: found, isMuted, receivers: edit.to });
    }
    const stored = (await store.readStates()).get(ID);
    const instances = stored === undefined ? [] : Object.values(readStored(stored).state.instances);
    const inPhase = (phase: string) =>
      instances
        .filter((one) => one.phase === phase)
        .map(({ labels }) => labels['path'] ?? WHOLE)
        .toSorted();
    expect([inPhase('firing'), inPhase('pending')]).toEqual([model.firing(), model.pending()]);
    for (const [i, [, receiver]] of receivers.entries()) {
      receiver.mode = modes[i] ?? 'accepts';
      await receiver.deliver();
    }
  }

  // In the end each receiver is back, and longer than any message waits for its next try.
  world.nowMs = latestMs + 3_600_000;
  for (const [name, receiver] of receivers) {
    receiver.mode = 'accepts';
    await receiver.deliver();
    const expected = model.openAt(name).map((one) => `${identity()} ${one}`);
    expect([name, ...[...receiver.open].toSorted()]).toEqual([name, ...expected.toSorted()]);
  }
}

test(
  'each receiver holds open in the end what the model says, over gaps, failures, restarts, silences and edits',
  async () => {
    const property = fc.asyncProperty(anyRules, fc.array(anyTick, { maxLength: 12 }), tryAll);
    await fc.assert(property, { numRuns: SEQUENCES });
  },
  MINUTES_MAX * 60_000,
);
