import type { Row } from './report.ts';

export interface BenchOptions {
  /** Rows in the store that is asked. */
  readonly rows: number;
  /** Names of the rivals that are asked, too; without them all, up to a size. */
  readonly rivals?: readonly string[];
  /** How long the memory is watched. */
  readonly minutes: number;
  /** How often the server is killed. */
  readonly times: number;
  /** How long the service is flooded. */
  readonly seconds: number;
  /** Requests by chance of the tenants. */
  readonly requests: number;
  /** How many random requests are sent. */
  readonly inputs: number;
  /** Names of measurements of a section; empty: all. */
  readonly only: readonly string[];
}

/** A part of the benchmark; it says on standard error what it does and returns what it measured. */
export type Section = (options: BenchOptions) => Promise<Row[]>;
