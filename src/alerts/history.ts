import type { Labels, RowValues, Transition } from './state.ts';

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

export function writeEntry(event: HistoryEvent): string {
  return JSON.stringify(event);
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
