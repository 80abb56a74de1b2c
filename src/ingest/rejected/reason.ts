// What differs from event to event in the reasons of src/ingest: quoted names and times.
const VARYING = /"(?:[^"\\]|\\.)*"|\d{4}-\d\d-\d\d[ T][\d:.]+Z?/g;

/** Returns what the reasons of many events have in common: `…` stands for quoted texts and for times. */
export function toPattern(reason: string): string {
  return reason.replaceAll(VARYING, '…');
}
