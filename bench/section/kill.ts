import { type KillOptions, killRounds } from '../../trial/kill-rounds.ts';
import { WIRES } from '../../trial/wire.ts';
import { inTemporaryFolder } from '../data.ts';
import { type BenchOptions, type Row, say } from '../report.ts';

export const KILL_PARTS = ['logflare', 'protocols'];

/** Whether acknowledged events are on the disk, whenever the process dies. */
export async function killSection({ times, only }: BenchOptions): Promise<Row[]> {
  const rows: Row[] = [];
  for (const name of KILL_PARTS)
    if (only.length === 0 || only.includes(name))
      rows.push(...(await measureKills(times, name === 'protocols' ? { ...WIRES } : undefined)));
  return rows;
}

async function measureKills(times: number, wires: KillOptions['wires']): Promise<Row[]> {
  const by = wires === undefined ? '' : ', by protocols';
  return await inTemporaryFolder(async (dataDir) => {
    const counts = await killRounds({
      dataDir,
      times,
      seed: 1,
      ...(wires && { wires }),
      onRound(so) {
        const bad = `${so.lostEvents} events lost, ${so.rowsTwice} rows twice, ${so.storedInPart} requests in part`;
        say(`kill ${so.kills}/${times}: ${so.acknowledged} requests acknowledged, ${bad}`);
      },
    });
    const none = { below: 1 };
    const rows: Row[] = [
      { name: 'kills with SIGKILL under load', unit: 'kills', values: [counts.kills] },
      { name: 'requests acknowledged', unit: 'requests', values: [counts.acknowledged] },
      { name: 'their events', unit: 'events', values: [counts.acknowledgedEvents] },
      { name: 'acknowledged events lost', unit: 'events', values: [counts.lostEvents], goal: none },
      { name: 'rows stored twice', unit: 'rows', values: [counts.rowsTwice], goal: none },
      { name: 'requests stored in part', unit: 'requests', values: [counts.storedInPart], goal: none },
      { name: 'requests cut off by a kill', unit: 'requests', values: [counts.cutOff] },
      {
        name: 'sent again with the same Idempotency-Key',
        unit: 'requests',
        values: [counts.sentAgain],
      },
      {
        name: 'cut off, not sent again, stored all the same',
        unit: 'requests',
        values: [counts.storedUnanswered],
      },
      ...Object.entries(counts.acknowledgedBy).map(([wire, events]) => ({
        ...{ name: `acknowledged by ${wire}`, unit: 'events', values: [events] },
      })),
    ];
    return rows.map((row) => ({ ...row, name: `${row.name}${by}` }));
  });
}
