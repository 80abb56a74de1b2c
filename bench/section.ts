import type { Row } from './report.ts';
import type { RivalEntry } from './rival/names.ts';

export interface BenchOptions {
  /** Rows in the store. */
  readonly rows: number;
  /** The rivals to compare with; by default all, up to a size. */
  readonly rivals?: readonly RivalEntry[];
  /** How long memory is sampled. */
  readonly minutes: number;
  /** How often the server is killed. */
  readonly times: number;
  /** How long the service is flooded. */
  readonly seconds: number;
  /** Random requests of the tenants. */
  readonly requests: number;
  /** How many random requests are sent. */
  readonly inputs: number;
  /** Whether the figures of `guard` are written instead of compared. */
  readonly save?: boolean;
  /** Names of measurements of a section; empty: all. */
  readonly only: readonly string[];
}

/** A section of the benchmark: reports progress on standard error and returns its rows. */
export type Section = (options: BenchOptions) => Promise<Row[]>;
