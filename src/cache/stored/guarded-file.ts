import { findSqliteFailure } from '../../lib/sqlite.ts';
import { type AnswerFile, openAnswerFile, removeAnswerFile } from './file.ts';

export interface GuardedFileOptions {
  readonly dataDir: string;
  /** Names the versions of this program and the engine. */
  readonly program: string;
  /** Called when the file cannot be used: it has been removed, and nothing is stored until the next start. */
  readonly onFailure: (error: unknown) => void;
}

/** The file of stored answers, without which the service goes on. */
export type GuardedFile = ReturnType<typeof openGuardedFile>;

/** Opens the file. A damaged one is replaced by an empty one. */
export function openGuardedFile({ dataDir, program, onFailure }: GuardedFileOptions) {
  let file: AnswerFile | undefined;

  function close(): void {
    try {
      file?.close();
    } catch {
      // Damaged.
    }
    file = undefined;
  }

  function open(): void {
    try {
      file = openAnswerFile(dataDir, program);
    } catch (error) {
      onFailure(error);
    }
  }

  function fail(error: unknown): undefined {
    close();
    removeAnswerFile(dataDir);
    onFailure(error);
  }

  try {
    file = openAnswerFile(dataDir, program);
  } catch {
    removeAnswerFile(dataDir);
    open();
  }

  return {
    close,
    fail,
    /**
     * Works with the file; a failure removes it.
     *
     * @returns `undefined` if it cannot be used
     * @throws SQLite's error if the disk is full
     */
    use<T>(work: (opened: AnswerFile) => T): T | undefined {
      if (file === undefined) return undefined;
      try {
        return work(file);
      } catch (error) {
        if (findSqliteFailure(error) === 'full') throw error;
        fail(error);
        return undefined;
      }
    },
    /** Replaces the file by an empty one. */
    clear(): void {
      if (file === undefined) return;
      close();
      removeAnswerFile(dataDir);
      open();
    },
  };
}
