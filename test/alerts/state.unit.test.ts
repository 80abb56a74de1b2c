import { expect, test } from 'vitest';
import { describeStep } from '../../src/alerts/evaluation.ts';
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
  const rules = { ...RULES, noData: 'alert', onError: 'alert' } as const;
  let state: AlertState = NO_STATE;
  const outcomes = [WHOLE, EMPTY, WHOLE, FAILED, FAILED, FAILED, WHOLE, rows()];
  const sent = outcomes.flatMap((outcome, minute) => {
    const tick = { tickMs: minute * MINUTE_MS, outcome };
    const next = step(state, tick, { rules, receivers: ['ops'], isSilenced: () => false });
    state = next.state;
    const told = next.transitions.filter(({ to }) => to.length > 0);
    return told.map(({ change, instance }) => `${minute} ${change} ${instance.kind}`);
  });
  expect(sent).toEqual([
    ...['0 firing condition', '1 firing no_data', '2 firing condition', '5 firing error'],
    ...['6 firing condition', '7 resolved condition'],
  ]);
});
