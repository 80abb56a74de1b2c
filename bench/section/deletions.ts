import { deletionRounds } from '../../trial/deletion-rounds.ts';
import { inTemporaryFolder } from '../folder.ts';
import { type Row, say } from '../report.ts';
import type { BenchOptions } from '../section.ts';

const EVENTS = 100_000;

/** Whether deletions beside senders delete what was acknowledged before them and nothing else, without kills of the engine and with. */
export async function deletionsSection({ times }: BenchOptions): Promise<Row[]> {
  const rows: Row[] = [];
  for (const kills of [0, times]) {
    await inTemporaryFolder(async (dataDir) => {
      say(`deletions beside ${EVENTS} events, and ${kills} kills of the engine`);
      rows.push(...(await measure(dataDir, kills)));
    });
  }
  return rows;
}

async function measure(dataDir: string, kills: number): Promise<Row[]> {
  const counts = await deletionRounds({ dataDir, seed: 1 + kills, events: EVENTS, kills });
  const name = (text: string) => (kills === 0 ? text : `${counts.kills} kills: ${text}`);
  const events = 'events';
  const none = { below: 1 };
  // Rows of a deletion that was not accepted are unknown.
  const difference = counts.refused > 0 ? [] : [Math.abs(counts.rowsReported - counts.eventsGone)];
  return [
    { name: name('deletions'), unit: 'deletions', values: [counts.deletions] },
    { name: name('deletions not accepted'), unit: 'deletions', values: [counts.refused] },
    { name: name('events acknowledged'), unit: events, values: [counts.acknowledgedEvents] },
    { name: name('of these, sent after the last deletion'), unit: events, values: [counts.eventsAfter] },
    { name: name('… and lost'), unit: events, values: [counts.lostEvents], goal: none },
    { name: name('acknowledged before a deletion'), unit: events, values: [counts.eventsBefore] },
    { name: name('… and still stored'), unit: events, values: [counts.keptEvents], goal: none },
    { name: name('requests stored in part'), unit: 'requests', values: [counts.inPart], goal: none },
    { name: name('deleted beyond the reported rows'), unit: events, values: difference, goal: none },
  ];
}
