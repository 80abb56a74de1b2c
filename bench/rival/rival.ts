import type { Question } from '../questions.ts';

/** A row of an answer; numbers are numbers, `metadata` is in the rival's format. */
export type AnswerRow = Readonly<Record<string, unknown>>;

/** Another engine with the same events, for the same questions. */
export interface Rival {
  /** With its version. */
  readonly name: string;
  /** Queries at an instant, ms. */
  ask(question: Question, nowMs: number): Promise<readonly AnswerRow[]>;
  close(): Promise<void>;
}

/** A rival that is not available on this machine, and why. */
export class AbsentRival extends Error {
  override readonly name = 'AbsentRival';
}
