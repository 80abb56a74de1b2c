import type { DialectName } from '../definitions/endpoint.ts';
import type { TranslateOptions, Translation } from './bigquery/translate.ts';

/** Translates a caller's SELECT to the engine's SQL. @throws TailraceError `invalid_parameter` */
type Translate = (sql: string, options: TranslateOptions) => Translation;

/** The translators, each loaded when the first SELECT in its dialect comes. */
export const DIALECTS: Readonly<Record<DialectName, () => Promise<Translate>>> = {
  bigquery: async () => (await import('./bigquery/translate.ts')).translateBigQuery,
  studio: async () => {
    const { translateBigQuery } = await import('./bigquery/translate.ts');
    return (sql, options) => translateBigQuery(sql, { ...options, quotes: 'doubled' });
  },
};
