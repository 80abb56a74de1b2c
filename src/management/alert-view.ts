import { type Static, type TSchema, Type } from 'typebox';

// As view.ts: the console may import this file, so this file must not import the service.

const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const time = (description: string) => Type.String({ format: 'date-time', description });
const LABELS = Type.Record(Type.String(), Type.String(), { description: 'Values of the columns of `per`.' });
const VALUES = Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Null()]), {
  description: 'The other columns of its row.',
});
const STATE = Type.Enum(['inactive', 'pending', 'firing']);

export const SILENCE = Type.Object({
  id: Type.String({ format: 'uuid' }),
  until: time('When it ends.'),
  comment: Type.String(),
  labels: LABELS,
  by: Type.String({ description: 'Id of the key, or `cli`.' }),
});
export type SilenceView = Static<typeof SILENCE>;

export const ALERT = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  description: Type.String(),
  endpoint: Type.String(),
  severity: Type.Enum(['info', 'warning', 'critical']),
  every_seconds: Type.Integer(),
  parameters: Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())]), {
    description: 'Values of the parameters of the endpoint.',
  }),
  per: Type.Array(Type.String(), { description: 'Columns that name an instance.' }),
  when: orNull(
    Type.Object(
      {
        column: Type.String(),
        is: Type.Enum(['above', 'below', 'equals']),
        value: Type.Union([Type.Number(), Type.String(), Type.Boolean()]),
      },
      { description: 'When a row counts; null: always.' },
    ),
  ),
  to: Type.Array(Type.String(), { description: 'Names of receivers.' }),
  state: STATE,
  since: orNull(time('When the first of its instances began to hold.')),
  instances: Type.Array(
    Type.Object({
      kind: Type.Enum(['condition', 'no_data', 'error']),
      state: Type.Enum(['pending', 'firing']),
      since: time('When it began to hold.'),
      labels: LABELS,
      values: VALUES,
    }),
  ),
  last_evaluation: orNull(time('The tick of the last evaluation.')),
  next_evaluation: time('The next tick.'),
  last_error: orNull(Type.String({ description: 'Why the last evaluation failed; null: it did not.' })),
  silences: Type.Array(SILENCE),
});
export type AlertView = Static<typeof ALERT>;

export const ALERT_DETAIL = Type.Object({
  ...ALERT.properties,
  chart: Type.Object(
    {
      column: orNull(Type.String({ description: 'Null: the values are the number of rows that count.' })),
      threshold: orNull(Type.Number()),
      points: Type.Array(
        Type.Object({ at: time('The last of its evaluations.'), low: Type.Number(), high: Type.Number() }),
        { description: 'The least and the greatest value in each five minutes, oldest first.' },
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
  last_error: orNull(Type.String({ description: 'Why the query failed; null: it did not.' })),
});
export type AlertTestView = Static<typeof ALERT_TEST>;

/** How an alert would have gone in the time before now. */
export const ALERT_REPLAY = Type.Object({
  ticks: Type.Integer({ description: 'Evaluations.' }),
  every_seconds: Type.Integer({ description: 'The time between two of them.' }),
  fired: Type.Integer({ description: 'How often an instance began to fire.' }),
  messages: Type.Array(
    Type.Object({
      at: time('The tick of the evaluation.'),
      status: Type.Enum(['firing', 'resolved', 'no_data', 'error']),
      text: Type.String(),
      instances: Type.Array(LABELS),
    }),
    { description: 'Each goes to every receiver.' },
  ),
  to: Type.Array(Type.String(), { description: 'Names of receivers.' }),
  failures: Type.Integer({ description: 'Evaluations that failed.' }),
  last_error: orNull(Type.String({ description: 'Why the last of them did.' })),
});
export type AlertReplayView = Static<typeof ALERT_REPLAY>;

export const ALERT_ENTRY = Type.Object({
  id: Type.String({ format: 'uuid' }),
  at: time('The tick of the evaluation.'),
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
  quiet: orNull(Type.Boolean({ description: 'Whether no message was sent, as during a silence.' })),
  receiver: orNull(Type.String()),
  reason: orNull(Type.String()),
  status: orNull(
    Type.Enum(['firing', 'resolved', 'no_data', 'error'], { description: 'Of the delivered message.' }),
  ),
});
export type AlertEntryView = Static<typeof ALERT_ENTRY>;
