import { type Static, Type } from 'typebox';

const VERSION = {
  id: Type.String({ format: 'uuid' }),
  at: Type.String({
    format: 'date-time',
    description: 'When it was saved; of texts from elsewhere, when a save replaced them.',
  }),
  by: Type.String({ description: 'The person or key; empty: the files were not written by a save.' }),
  version: Type.String({ description: 'As of the files.' }),
};

/** The kept versions of a definition, newest first. */
export const HISTORY = Type.Object({ result: Type.Array(Type.Object(VERSION)) });
export type HistoryView = Static<typeof HISTORY>;

export const HISTORY_VERSION = Type.Object({
  ...VERSION,
  definition: Type.String(),
  sql: Type.Union([Type.String(), Type.Null()], { description: 'query.sql of an endpoint.' }),
});
export type HistoryVersionView = Static<typeof HISTORY_VERSION>;
