import { v7 as newOrderedId } from 'uuid';
import type { HistoryEntry } from '../keys/alerts/alert-record.ts';
import type { AlertMessage } from './message.ts';
import type { AlertState, Labels, RowValues, Transition } from './state.ts';

/** An event in the history of an alert. */
export type HistoryEvent =
  | {
      readonly change: 'firing' | 'resolved' | 'no_data' | 'error';
      readonly labels: Labels;
      readonly values: RowValues;
      /** The receivers that get a message: none during a silence. */
      readonly to: readonly string[];
    }
  /** The first failed query in a row. */
  | { readonly change: 'failed'; readonly reason: string }
  | { readonly change: 'note'; readonly reason: string }
  | { readonly change: 'delivered'; readonly receiver: string; readonly status: AlertMessage['status'] }
  | { readonly change: 'not_delivered'; readonly receiver: string; readonly reason: string };

/**
 * @param atMs ms since the epoch
 * @param about the alert's rows that it is about: see `aboutOf`; `undefined`: it is about no rows
 */
export function createEntry(event: HistoryEvent, atMs: number, about?: string): HistoryEntry {
  return { id: newOrderedId(), atMs, entry: JSON.stringify({ ...event, about }) };
}

export function readEntry(text: string): HistoryEvent & { readonly about?: string } {
  return JSON.parse(text) as HistoryEvent & { readonly about?: string }; // of createEntry
}

/** Describes an evaluation. Messages that are sent again, or to fewer receivers, are in it once they are delivered. */
export function describeStep(
  { failures, lastError = '' }: Pick<AlertState, 'failures' | 'lastError'>,
  transitions: readonly Transition[],
): HistoryEvent[] {
  const changes = transitions.flatMap(({ change, instance, to }): HistoryEvent[] => {
    const { kind, labels, values } = instance;
    if (change === 'resolved') return [{ change, labels, values, to }];
    return change === 'firing'
      ? [{ change: kind === 'condition' ? 'firing' : kind, labels, values, to }]
      : [];
  });
  return failures === 1 ? [{ change: 'failed', reason: lastError }, ...changes] : changes;
}
