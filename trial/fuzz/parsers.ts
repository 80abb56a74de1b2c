import type { Parser } from './parser.ts';
import { BIGQUERY_PARSERS } from './parsers/bigquery.ts';
import { BODY_PARSERS } from './parsers/bodies.ts';
import { HTTP_PARSERS } from './parsers/http.ts';
import { SQL_PARSERS } from './parsers/sql.ts';
import { TEXT_PARSERS } from './parsers/texts.ts';

/** Every parser of callers' texts, by the name of what it reads. A new one is one entry, in the file of its kind. */
export const PARSERS: Readonly<Record<string, Parser>> = {
  ...HTTP_PARSERS,
  ...BODY_PARSERS,
  ...SQL_PARSERS,
  ...BIGQUERY_PARSERS,
  ...TEXT_PARSERS,
};
