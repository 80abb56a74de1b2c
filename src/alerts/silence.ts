import type { Silence } from '../keys/alerts/alert-record.ts';
import type { Labels } from './state.ts';

/** Returns whether one of these silences covers an instance: it has all labels of the silence. */
export function isSilencedBy(silences: readonly Silence[]): (labels: Labels) => boolean {
  const wanted = silences.map(({ labels }) => readLabels(labels));
  return (labels) =>
    wanted.some((own) => Object.entries(own).every(([name, value]) => labels[name] === value));
}

export function readLabels(text: string): Labels {
  return JSON.parse(text) as Labels; // stored as such
}
