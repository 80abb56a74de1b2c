import { expect, test } from 'vitest';
import { describeStep } from '../../src/alerts/history.ts';
import { type AlertState, NO_STATE, type Outcome, type StepOptions, step } from '../../src/alerts/state.ts';

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
const WHOLE: Outcome = { kind: 'rows', holding: [{ labels: {}, values: { failures: 1 } }] };

/** Evaluates each minute. @returns what was sent: minute, change and path */
function send(outcomes: readonly Outcome[], rules: Partial<StepOptions['rules']> = {}): string[] {
  const options = { rules: { ...RULES, ...rules }, receivers: ['ops'], isSilenced: () => false };
  let state: AlertState = NO_STATE;
  return outcomes.flatMap((outcome, minute) => {
    const next = step(state, { tickMs: minute * MINUTE_MS, outcome }, options);
    state = next.state;
    const sent = next.transitions.filter(({ to }) => to.length > 0);
    return sent.map(
      ({ change, instance }) => `${minute} ${change} ${instance.labels['path'] ?? instance.kind}`,
    );
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
  const options = { rules: { ...RULES, repeatMs: MINUTE_MS }, receivers: [], isSilenced: () => false };
  let state: AlertState = NO_STATE;
  const history = [rows('/a'), rows('/a'), FAILED, FAILED, rows()].map((outcome, minute) => {
    const next = step(state, { tickMs: minute * MINUTE_MS, outcome }, options);
    state = next.state;
    return describeStep(state, next.transitions)
      .map(({ change }) => change)
      .join();
  });
  expect(history).toEqual(['firing', '', 'failed', '', 'resolved']);
});

test('a condition, no rows and a failing query are one instance, which resolves once none of them is the case', () => {
  const outcomes = [WHOLE, EMPTY, WHOLE, FAILED, FAILED, FAILED, WHOLE, rows()];
  expect(send(outcomes, { noData: 'alert', onError: 'alert' })).toEqual([
    ...[
      '0 firing condition',
      '1 firing no_data',
      '2 firing condition',
      '5 firing error',
      '6 firing condition',
    ],
    '7 resolved condition',
  ]);
});

test('time without evaluations does not count towards `for`', () => {
  const options = { rules: { ...RULES, forMs: 3 * MINUTE_MS }, receivers: ['ops'], isSilenced: () => false };
  let state: AlertState = NO_STATE;
  const fired = [0, 1, 30, 31, 32].filter((minute) => {
    const next = step(state, { tickMs: minute * MINUTE_MS, outcome: WHOLE }, options);
    state = next.state;
    return next.transitions.length > 0;
  });
  expect(fired).toEqual([31]);
});
