import type { BenchData } from '../data.ts';
import type { Question } from '../questions.ts';

/** A row of an answer; numbers are numbers, `metadata` is in the rival's format. */
export type AnswerRow = Readonly<Record<string, unknown>>;

export interface RivalAnswer {
  /** Until the whole answer was there. */
  readonly ms: number;
  /** Its rows, decoded only when they are asked for, as ours are. */
  rows(): readonly AnswerRow[];
}

/** Another engine with the same events, for the same questions. */
export interface Rival {
  /** With its version. */
  readonly name: string;
  /** Queries at an instant, ms. */
  ask(question: Question, nowMs: number): Promise<RivalAnswer>;
}

/** An engine's rivals share its data: `plain`, and `extended` as someone would build it for these questions. */
export type RivalVariant = 'plain' | 'extended';

/** The engine of rivals, with the events. */
export interface RivalEngine {
  /** @throws Unmeasured if this variant is not available */
  rival(variant: RivalVariant): Promise<Rival>;
  close(): Promise<void>;
}

/** @throws Unmeasured if the engine is not available */
export type OpenRivalEngine = (data: BenchData, rows: number) => Promise<RivalEngine>;

/** Times an answer that is there as rows. */
export async function timeRows(ask: () => Promise<readonly AnswerRow[]>): Promise<RivalAnswer> {
  const startMs = performance.now();
  const answered = await ask();
  const ms = performance.now() - startMs;
  return { ms, rows: () => answered };
}
