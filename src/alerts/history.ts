import type { Judgement } from './condition.ts';
import type { AlertState, Labels, RowValues, Transition } from './state.ts';

/** An event in the history of an alert. */
export type HistoryEvent =
  | {
      readonly change: 'firing' | 'resolved' | 'no_data' | 'error';
      readonly labels: Labels;
      readonly values: RowValues;
      /** Whether it was silenced, or its receivers knew already. */
      readonly isQuiet: boolean;
    }
  /** The first failed query in a row. */
  | { readonly change: 'failed'; readonly reason: string }
  | { readonly change: 'note'; readonly reason: string }
  | { readonly change: 'not_delivered'; readonly receiver: string; readonly reason: string };

/** @param about see `aboutOf` */
export function writeEntry(event: HistoryEvent, about?: string): string {
  return JSON.stringify({ ...event, about });
}

/** Reads what the rows of an entry were about; `undefined`: it is about no rows. */
export function readAbout(text: string): string | undefined {
  return (JSON.parse(text) as { about?: string }).about; // of writeEntry
}

export function readEntry(text: string): HistoryEvent {
  return JSON.parse(text) as HistoryEvent; // of writeEntry
}

/** Describes what happened to instances. Messages that are sent again have no entry. */
export function describeTransitions(transitions: readonly Transition[]): HistoryEvent[] {
  return transitions
    .filter(({ change }) => change !== 'repeated')
    .map(({ change, instance: { kind, labels, values }, send }) => ({
      change: change === 'resolved' ? 'resolved' : kind === 'condition' ? 'firing' : kind,
      ...{ labels, values, isQuiet: !send },
    }));
}

/**
 * Describes the bounds that an answer has met, and why an evaluation failed, in the first of several that fail.
 *
 * @param known notes of the evaluation before, which would fill the history if they were repeated
 */
export function describeJudgement(
  { notes }: Pick<Judgement, 'notes'>,
  { failures, lastError }: Pick<AlertState, 'failures' | 'lastError'>,
  known: readonly string[] = [],
): HistoryEvent[] {
  const news = notes.filter((reason) => !known.includes(reason));
  const noted = news.map((reason): HistoryEvent => ({ change: 'note', reason }));
  // Of the state, since too many instances count as a failure, too.
  if (lastError === undefined || failures !== 1) return noted;
  return [...noted, { change: 'failed', reason: lastError }];
}
