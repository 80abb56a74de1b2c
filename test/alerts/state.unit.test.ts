import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeJudgement, describeTransitions } from '../../src/alerts/history.ts';
import {
  type AlertState,
  type Instance,
  type Labels,
  NO_STATE,
  type Outcome,
  type StepOptions,
  step,
} from '../../src/alerts/state.ts';
import { createAlertModel, type Seen } from '../../trial/alerts/model.ts';
import { runs } from '../support/property.ts';

const MINUTE_MS = 60_000;
const RULES: StepOptions['rules'] = {
  ...{ everyMs: MINUTE_MS, forMs: 0, keepFiringForMs: 0, repeatMs: undefined },
  ...{ noData: 'ok', onError: 'keep' },
};
const rows = (...paths: string[]): Outcome => ({
  kind: 'rows',
  holding: paths.map((path) => ({ labels: { path }, values: { failures: 1 } })),
});
const FAILED: Outcome = { kind: 'failed', reason: 'the query took too long' };
const EMPTY: Outcome = { kind: 'no rows' };

/** Evaluates each minute. @returns what was sent: minute, change and path */
function send(outcomes: readonly Outcome[], rules: Partial<StepOptions['rules']> = {}): string[] {
  const options = { rules: { ...RULES, ...rules }, isSilenced: () => false };
  let state: AlertState = NO_STATE;
  return outcomes.flatMap((outcome, minute) => {
    const next = step(state, { tickMs: minute * MINUTE_MS, outcome }, options);
    state = next.state;
    const sent = next.transitions.filter((one) => one.send);
    return sent.map(({ change, instance }) => `${minute} ${change} ${instance.labels['path']}`);
  });
}

test('an instance fires after it has held for `for`, without a gap, and resolves', () => {
  const outcomes = [rows('/a'), rows('/a', '/b'), rows('/b'), rows('/a', '/b'), rows('/a'), rows()];
  expect(send(outcomes)).toEqual([
    ...['0 firing /a', '1 firing /b', '2 resolved /a', '3 firing /a', '4 resolved /b', '5 resolved /a'],
  ]);
  expect(send(outcomes, { forMs: 2 * MINUTE_MS })).toEqual(['3 firing /b', '4 resolved /b']);
});

test('the history has each change once, not what is sent again, and the first of several failures', () => {
  const options = { rules: { ...RULES, repeatMs: MINUTE_MS }, isSilenced: () => false };
  let state: AlertState = NO_STATE;
  const history = [rows('/a'), rows('/a'), FAILED, FAILED, rows()].map((outcome, minute) => {
    const next = step(state, { tickMs: minute * MINUTE_MS, outcome }, options);
    state = next.state;
    const events = [...describeJudgement({ notes: [] }, state), ...describeTransitions(next.transitions)];
    return events.map(({ change }) => change).join();
  });
  expect(history).toEqual(['firing', '', 'failed', '', 'resolved']);
});

const NAMES = ['/a', '/b', '/c', '/d', '/e', '/f'];
const MOST = 4;
const seconds = (...choices: number[]) => fc.constantFrom(...choices.map((one) => one * 1000));
const anyRules = fc.record({
  everyMs: fc.constant(MINUTE_MS),
  forMs: seconds(0, 0, 60, 150),
  keepFiringForMs: seconds(0, 0, 60, 150),
  repeatMs: fc.option(seconds(60, 120, 300), { nil: undefined }),
  noData: fc.constantFrom('ok' as const, 'alert' as const, 'keep' as const),
  onError: fc.constantFrom('keep' as const, 'alert' as const),
});
const anySeen: fc.Arbitrary<Seen> = fc.oneof(
  { weight: 6, arbitrary: fc.subarray(NAMES, { maxLength: MOST }) },
  { weight: 1, arbitrary: fc.subarray(NAMES) },
  { weight: 1, arbitrary: fc.constant('empty' as const) },
  { weight: 2, arbitrary: fc.constant('failure' as const) },
);
const anyTick = fc.record({
  seen: anySeen,
  // A tick as usual, gaps, and a clock that is set ahead or back.
  afterMs: seconds(60, 60, 60, 60, 120, 600, 8_640_000, -60, -86_400),
  silenced: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 2, arbitrary: fc.subarray([...NAMES, '!none']) },
  ),
  restarts: fc.boolean(),
});

const KINDS = { condition: '', no_data: '!none', error: '!error' } as const;
const nameOf = ({ kind, labels }: Instance) => labels['path'] ?? KINDS[kind];

function toOutcome(seen: Seen): Outcome {
  if (seen === 'empty') return EMPTY;
  return seen === 'failure' ? FAILED : rows(...seen);
}

test('does as the model does, for random rows, gaps, restarts, silences and clock steps', () => {
  const property = fc.property(anyRules, fc.array(anyTick, { maxLength: 25 }), (rules, ticks) => {
    const model = createAlertModel(rules, MOST);
    let state: AlertState = NO_STATE;
    let tickMs = 1e12;
    for (const { seen, afterMs, silenced, restarts } of ticks) {
      tickMs += afterMs;
      const muted = new Set<string>(silenced);
      if (restarts) state = JSON.parse(JSON.stringify(state)) as AlertState;
      // Silences know only labels, which the two other kinds lack.
      const isMuted = (name: string) => muted.has(name.startsWith('!') ? '!none' : name);
      const expected = model.advance(tickMs, seen, isMuted);
      const isSilenced = (labels: Labels) => isMuted(labels['path'] ?? '!none');
      const options = { rules, isSilenced, instancesMax: MOST };
      const next = step(state, { tickMs, outcome: toOutcome(seen) }, options);
      state = next.state;
      const sent = next.transitions.filter((one) => one.send);
      const signOf = (change: string) => (change === 'resolved' ? '-' : '+');
      const messages = sent.map(({ change, instance }) => signOf(change) + nameOf(instance));
      expect(messages.toSorted()).toEqual(expected.toSorted());
      const all = Object.values(state.instances);
      const inPhase = (phase: Instance['phase']) =>
        all
          .filter((one) => one.phase === phase)
          .map(nameOf)
          .toSorted();
      expect(inPhase('firing')).toEqual(model.firing().toSorted());
      expect(inPhase('pending')).toEqual(model.pending().toSorted());
    }
  });
  fc.assert(property, runs(10_000));
});
