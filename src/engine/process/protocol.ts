import type { BlockColumn } from '../block-column.ts';

/**
 * Requests of the service to the engine process. Each session has its own socket and handles one request after another on
 * it, so a message needs no id and a large answer delays no other session.
 */
export type EngineRequest =
  /** Opens the session, or replaces it by a new one; `statements` run on it first. */
  | {
      readonly op: 'open';
      readonly path: string;
      readonly connectionArgs: readonly string[];
      readonly statements: readonly string[];
    }
  /** The payload is the statement. */
  | { readonly op: 'query'; readonly format: string }
  /** The payload is the rows. */
  | {
      readonly op: 'insert';
      readonly table: string;
      readonly columns: readonly string[];
      readonly format: 'JSONCompactEachRow' | 'TabSeparated';
      readonly settings: Readonly<Record<string, string>>;
    }
  /** The payload is blocks of rows (row-block.ts), one after the other. */
  | {
      readonly op: 'insertBlocks';
      readonly table: string;
      readonly columns: readonly BlockColumn[];
      readonly settings: Readonly<Record<string, string>>;
    }
  /** Resident memory of the process, as the payload's decimal text, bytes. */
  | { readonly op: 'memory' }
  | { readonly op: 'close' };

/** The payload of a `done` is what the engine returned. `coreMs`: core time, see core-meter.ts. `rows`: of a query's result. */
export type EngineReply =
  | {
      readonly state: 'done';
      readonly elapsedMs: number;
      readonly coreMs: number;
      readonly rows: number;
    }
  | { readonly state: 'failed'; readonly message: string; readonly code?: number };

/** The first descriptor of the engine process that is a session's socket; before it come input, output and errors. */
export const FIRST_SOCKET = 3;
