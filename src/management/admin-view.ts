import { type Static, type TSchema, Type } from 'typebox';

// As view.ts: the console may import this file, so this file must not import the service.

const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const textOrNull = (description: string) => orNull(Type.String({ description }));
const time = (description: string) => Type.String({ format: 'date-time', description });
const count = (description: string) => Type.Integer({ minimum: 0, description });

const SEEN = {
  count: count('How many.'),
  first_at: time('When the first of them came.'),
  last_at: time('When the last of them came.'),
};
const SINCE = time('Start of this process, which keeps them in memory.');

export const REJECTED_REQUESTS = Type.Object({
  since: SINCE,
  result: Type.Array(
    Type.Object({
      code: Type.String({ description: 'The error code.' }),
      status: Type.Integer(),
      reason: textOrNull('Why the key was rejected, such as `unknown`.'),
      method: Type.String(),
      route: Type.String(),
      key: textOrNull('Id of the accepted key; null: none.'),
      address: Type.String({ description: 'Address of the client.' }),
      ...SEEN,
      message: textOrNull('The last message; null for keys that may not read all events.'),
    }),
    { description: 'By reason, route, key and address, the last one first.' },
  ),
});
export type RejectedRequestsView = Static<typeof REJECTED_REQUESTS>;

export const REJECTED_EVENTS = Type.Object({
  since: SINCE,
  result: Type.Array(
    Type.Object({
      source: Type.String({ description: 'Empty: no source accepts them.' }),
      reason: Type.String({ description: 'Completes the sentence "the event …"; `…` varies.' }),
      key: textOrNull('Id of the key that sent them; null if this key may not know it.'),
      ...SEEN,
      last: orNull(
        Type.Object(
          {
            reason: Type.String({ description: 'The whole reason.' }),
            event: textOrNull(
              'Start of the event; null: its source has a rule `redact`, or it was not readable.',
            ),
          },
          { description: 'The last one; null for keys that may not read such events.' },
        ),
      ),
    }),
    { description: 'By source, reason and key, the last one first.' },
  ),
});
export type RejectedEventsView = Static<typeof REJECTED_EVENTS>;
