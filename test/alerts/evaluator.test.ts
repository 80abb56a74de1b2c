import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Evaluate } from '../../src/alerts/evaluate.ts';
import { listFiring, readEntry } from '../../src/alerts/evaluation.ts';
import { createEvaluator, type EvaluatorOptions, lastTick } from '../../src/alerts/evaluator.ts';
import { createOutbox } from '../../src/alerts/outbox.ts';
import type { Outcome } from '../../src/alerts/state.ts';
import type { Alert } from '../../src/definitions/alert.ts';
import type { AlertStore } from '../../src/keys/alerts/alert-store.ts';
import { openSqliteStore } from '../../src/keys/sqlite-store.ts';
import { createAlert } from '../support/alert.ts';
import { ownFolder } from '../support/service.ts';

const folder = await ownFolder();
let made = 0;

const MINUTE_MS = 60_000;
const ID = '5f1f3f0a-8c1e-4a52-9a58-0d6a2f6a4c11';
const START_MS = Date.UTC(2026, 10, 20, 12);

function alertOf(fields: Readonly<Record<string, unknown>> = {}): Alert {
  const own = { id: ID, delay: 10, per: ['path'], text: '{{ path }} fails', to: ['ops', 'nobody'] };
  return createAlert({ ...own, ...fields });
}

const rows = (...paths: string[]): Outcome => ({
  kind: 'rows',
  holding: paths.map((path) => ({ labels: { path }, values: { failures: 3 } })),
});

/** A service with an evaluator on its own store, or on that of another one. */
function open(store: AlertStore = openSqliteStore(join(folder.path, String(++made))).alerts, owner = 'one') {
  const world = {
    nowMs: START_MS,
    outcome: rows(),
    alerts: [alertOf()],
    asked: [] as number[],
    ticks: 0,
    onAsk: (_: string) => {},
  };
  const evaluate: Evaluate = async ({ name }, { nowMs }) => {
    world.asked.push(nowMs);
    world.onAsk(name);
    return { outcome: world.outcome };
  };
  const options: EvaluatorOptions = {
    ...{ alerts: () => world.alerts, evaluate, store, owner, now: () => world.nowMs },
    ...{ leaseMs: () => 60_000, ticks: () => world.ticks++ * 60_000, receivers: () => new Set(['ops']) },
  };
  const evaluator = createEvaluator(options);
  /** Moves the clock, and evaluates what is due then. */
  async function at(minute: number, outcome = world.outcome): Promise<void> {
    world.nowMs = START_MS + minute * MINUTE_MS;
    world.outcome = outcome;
    await evaluator.renew();
    evaluator.tick();
    await evaluator.idle();
  }
  return { store, world, evaluator, at };
}

/** Takes every message of a receiver out of the outbox. */
async function receive(store: AlertStore, receiver = 'ops'): Promise<string[]> {
  const outbox = createOutbox(store, () => START_MS);
  const texts: string[] = [];
  const next = () => outbox.next(receiver, START_MS * 2);
  for (let one = await next(); one; one = await next()) {
    texts.push(`${one.message.status}: ${one.message.text}`);
    await outbox.done(one);
  }
  return texts;
}

describe('an evaluation', () => {
  test('is at each tick, once for those that were missed, as of the tick less the delay', async () => {
    const { world, at } = open();
    for (const minute of [0, 0.1, 0.9, 1.2, 2, 500]) await at(minute);
    const tickMs = lastTick(alertOf(), START_MS);
    expect(world.asked.map((ms) => ms - tickMs)).toEqual([-10_000, 50_000, 110_000, 29_990_000]);
  });

  test('sends one message with its instances to each receiver that there is', async () => {
    const { store, at } = open();
    for (const minute of [0, 1]) await at(minute, rows('/a', '/b'));
    await at(2, rows('/b'));
    expect(await receive(store)).toEqual(['firing: /a fails\n/b fails', 'resolved: Resolved: /a fails']);
    expect(await store.nextMessage('nobody', START_MS * 2)).toBeUndefined();
    const history = (await store.listHistory(ID, { limit: 100 })).toReversed();
    expect(history.map(({ entry }) => readEntry(entry).change).join()).toBe(
      'firing,firing,not_delivered,resolved,delivered,delivered',
    );
  });
});

test('alerts that are due again when they end do not keep the others waiting', async () => {
  const { world, at } = open();
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  world.alerts = names.map((name, i) => {
    const parameters = { project: name }; // others would be one group, which starts at once
    return alertOf({ id: ID.replace(/.$/, String(i)), name, parameters, every: 1 });
  });
  const asked: string[] = [];
  world.onAsk = (name) => {
    asked.push(name);
    world.nowMs += 1_000; // each takes as long as its interval
    if (asked.length === 60) world.alerts = [];
  };
  await at(0);
  await expect.poll(() => asked.length).toBeGreaterThanOrEqual(60);
  const counts = names.map((name) => asked.filter((one) => one === name).length);
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
});

test('alerts on the same endpoint with the same parameters are evaluated at the same moment, others at another', async () => {
  const { world, at } = open();
  world.alerts = Array.from({ length: 12 }, (_, i) => {
    const id = ID.replace(/..$/, String(10 + i));
    return alertOf({ id, name: `n${i}`, parameters: { project: `p${i % 2}` } });
  });
  let started = 0;
  world.onAsk = () => started++;
  world.nowMs = START_MS;
  await at(0);
  expect(started).toBe(12);
  expect(new Set(world.asked).size).toBe(2);
});

test('an alert that is edited or removed while it is evaluated is not evaluated twice at once', async () => {
  const { store, world, evaluator, at } = open();
  await at(0, rows('/a'));
  const before = world.asked.length;
  for (const edited of [[alertOf({ parameters: { project: 'other' } })], []]) {
    world.onAsk = () => {
      world.alerts = edited;
      evaluator.tick();
    };
    await at(1 + world.asked.length, rows('/a'));
    world.onAsk = () => {};
    await at(1 + world.asked.length, rows('/a'));
  }
  expect(world.asked.length - before).toBeGreaterThan(1);
  const texts = await receive(store);
  expect(texts.filter((text) => text.startsWith('resolved')).length).toBe(
    texts.filter((text) => text.startsWith('firing')).length,
  );
});

test('of two processes one evaluates, and the other goes on when it ends', async () => {
  const one = open();
  const other = open(one.store, 'other');
  for (const each of [one, other]) await each.at(0, rows('/a'));
  expect([one.evaluator.isLeader(), other.evaluator.isLeader()]).toEqual([true, false]);
  await one.evaluator.close();
  await other.at(1, rows('/a'));
  expect([one.world.asked.length, other.world.asked.length]).toEqual([1, 1]);
  expect(await receive(one.store)).toEqual(['firing: /a fails']);
});

test('what fires is listed for receivers that get it again: not what is silenced, or has resolved', async () => {
  const { store, at } = open();
  const list = async (receiver = 'ops') => {
    const nowMs = START_MS + 2 * MINUTE_MS;
    const messages = await listFiring(store, { receiver, nowMs });
    return messages.map(({ text, since }) => `${text} since ${(Date.parse(since) - START_MS) / MINUTE_MS}`);
  };
  const since = (minute: number) =>
    (lastTick(alertOf(), START_MS + minute * MINUTE_MS) - START_MS) / MINUTE_MS;
  await at(0, rows('/a', '/b'));
  await at(1, rows('/a', '/b', '/c'));
  expect(await list()).toEqual([`/a fails\n/b fails since ${since(0)}`, `/c fails since ${since(1)}`]);
  expect(await list('another')).toEqual([]);
  await store.addSilence({
    ...{ id: 's', alert: ID, labels: '{"path":"/a"}', untilMs: START_MS + 5 * MINUTE_MS },
    ...{ comment: 'deploy', author: 'cli', createdMs: START_MS },
  });
  await at(2, rows('/a', '/b'));
  expect(await list()).toEqual([`/b fails since ${since(0)}`]);
  await at(3, rows());
  expect(await list()).toEqual([]);
});
