import type { Question } from '../questions.ts';

/** A row of an answer; numbers are numbers, `metadata` is whatever the rival makes of it. */
export type AnswerRow = Readonly<Record<string, unknown>>;

/** Another engine that holds the same events and answers the same questions. */
export interface Rival {
  /** With its version. */
  readonly name: string;
  /** The answer as at an instant, ms. */
  ask(question: Question, nowMs: number): Promise<readonly AnswerRow[]>;
  close(): Promise<void>;
}

/** A rival that cannot be asked on this machine, and why. */
export class AbsentRival extends Error {
  override readonly name = 'AbsentRival';
}
