import { type Static, Type } from 'typebox';
import { flag, instant, list, oneOf, orNull, text, textOrNull, texts, UUID } from '../lib/schema.ts';

// As view.ts: the console may import this file, so this file must not import the service.

const LABELS = Type.Record(Type.String(), Type.String(), { description: 'Values of the columns of `per`.' });
const VALUES = Type.Record(Type.String(), Type.Union([text(), Type.Number(), Type.Null()]), {
  description: 'The other columns of its row.',
});
const STATE = oneOf(['inactive', 'pending', 'firing']);

export const SILENCE = Type.Object({
  id: UUID,
  until: instant('When it ends.'),
  comment: text(),
  labels: LABELS,
  by: text('Id of the key, or `cli`.'),
});
export type SilenceView = Static<typeof SILENCE>;

export const ALERT = Type.Object({
  id: UUID,
  name: text(),
  description: text(),
  endpoint: text(),
  severity: oneOf(['info', 'warning', 'critical']),
  every_seconds: Type.Integer(),
  parameters: Type.Record(Type.String(), Type.Union([text(), texts()]), {
    description: 'Values of the parameters of the endpoint.',
  }),
  per: texts('Columns that name an instance.'),
  when: orNull(
    Type.Object(
      {
        column: text(),
        is: oneOf(['above', 'below', 'equals']),
        value: Type.Union([Type.Number(), text(), flag()]),
      },
      { description: 'When a row counts; null: always.' },
    ),
  ),
  to: texts('Names of receivers.'),
  state: STATE,
  since: orNull(instant('When the first of its instances began to hold.')),
  instances: list(
    Type.Object({
      kind: oneOf(['condition', 'no_data', 'error']),
      state: oneOf(['pending', 'firing']),
      since: instant('When it began to hold.'),
      labels: LABELS,
      values: VALUES,
    }),
  ),
  last_evaluation: orNull(instant('The tick of the last evaluation.')),
  next_evaluation: instant('The next tick.'),
  last_error: textOrNull('Why the last evaluation failed; null: it did not.'),
  silences: list(SILENCE),
});
export type AlertView = Static<typeof ALERT>;

export const ALERT_DETAIL = Type.Object({
  ...ALERT.properties,
  chart: Type.Object(
    {
      column: textOrNull('Null: the values are the number of rows that count.'),
      threshold: orNull(Type.Number()),
      points: list(
        Type.Object({ at: instant('The last of its evaluations.'), low: Type.Number(), high: Type.Number() }),
        'The least and the greatest value in each five minutes, oldest first.',
      ),
    },
    { description: 'What the evaluations of the last day saw.' },
  ),
});
export type AlertDetailView = Static<typeof ALERT_DETAIL>;

/** What became of a message that is marked as a test. */
export const ALERT_TEST = Type.Object({
  result: Type.Record(Type.String(), Type.String(), {
    description: 'For each receiver `sent`, or why it was not.',
  }),
  firing: Type.Integer({ description: 'Instances that fire at present.' }),
  last_error: textOrNull('Why the query failed; null: it did not.'),
});
export type AlertTestView = Static<typeof ALERT_TEST>;

/** How an alert would have gone in the time before now. */
export const ALERT_REPLAY = Type.Object({
  ticks: Type.Integer({ description: 'Evaluations.' }),
  every_seconds: Type.Integer({ description: 'The time between two of them.' }),
  fired: Type.Integer({ description: 'How often an instance began to fire.' }),
  messages: list(
    Type.Object({
      at: instant('The tick of the evaluation.'),
      status: oneOf(['firing', 'resolved', 'no_data', 'error']),
      text: text(),
      instances: list(LABELS),
    }),
    'Each goes to every receiver.',
  ),
  to: texts('Names of receivers.'),
  failures: Type.Integer({ description: 'Evaluations that failed.' }),
  last_error: textOrNull('Why the last of them did.'),
});
export type AlertReplayView = Static<typeof ALERT_REPLAY>;

export const ALERT_ENTRY = Type.Object({
  id: UUID,
  at: instant('The tick of the evaluation.'),
  change: Type.Enum([
    'firing',
    'resolved',
    'no_data',
    'error',
    'failed',
    'note',
    'delivered',
    'not_delivered',
  ]),
  labels: orNull(LABELS),
  values: orNull(VALUES),
  quiet: orNull(flag('Whether no message was sent, as during a silence.')),
  receiver: textOrNull(),
  reason: textOrNull(),
  status: orNull(
    oneOf(['firing', 'resolved', 'no_data', 'error'], { description: 'Of the delivered message.' }),
  ),
});
export type AlertEntryView = Static<typeof ALERT_ENTRY>;
