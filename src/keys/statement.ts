/** A statement with `$1`, `$2`, … for its values; tables are named as in PostgreSQL. */
export interface Statement {
  readonly text: string;
  readonly values: readonly (string | number | null)[];
}

/** Values by column. */
export type Row = Readonly<Record<string, unknown>>;
