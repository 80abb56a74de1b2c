import { EVERY_ALERT, type Silence } from '../keys/alerts/alert-record.ts';
import type { Labels } from './state.ts';

/** Returns the silences that may cover instances of an alert: its own, and those of every alert. @param id of the alert */
export function silencesOf(id: string, silences: readonly Silence[]): readonly Silence[] {
  return silences.filter(({ alert }) => alert === id || alert === EVERY_ALERT);
}

/** Returns whether one of these silences covers an instance: it has all labels of the silence. */
export function isSilencedBy(silences: readonly Silence[]): (labels: Labels) => boolean {
  const wanted = silences.map(({ labels }) => readLabels(labels));
  return (labels) =>
    wanted.some((own) => Object.entries(own).every(([name, value]) => labels[name] === value));
}

export function readLabels(text: string): Labels {
  return JSON.parse(text) as Labels; // stored as such
}
