import { SQL_PARAMETER } from '../../definitions/parameter.ts';
import { TailraceError } from '../../errors.ts';

export interface DialectColumn {
  readonly name: string;
  readonly type: 'string' | 'keyword' | 'integer' | 'number' | 'boolean';
  readonly path: readonly string[];
}

export interface DialectView {
  readonly columns: readonly DialectColumn[];
}

export interface TranslateOptions {
  readonly views: ReadonlyMap<string, DialectView>;
  readonly now: string;
}

export interface Translation {
  readonly sql: string;
  readonly columns: readonly {
    readonly name: string;
    readonly type: 'timestamp' | 'datetime' | 'int64' | 'float64' | 'bool' | 'string' | 'json' | 'record';
  }[];
  readonly bounds: { readonly from?: string; readonly until?: string; readonly id?: string };
}

/** Refuses everything, until there is a translator. */
export function translateBigQuery(_sql: string, _options: TranslateOptions): Translation {
  const message = 'cannot be translated yet';
  throw new TailraceError('invalid_parameter', `${SQL_PARAMETER} ${message}`, {
    errors: [{ parameter: SQL_PARAMETER, message }],
  });
}
