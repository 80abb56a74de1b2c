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
    const row = (name: string, unit: string, value: number): Row => ({ name, unit, values: [value] });
    const none = (name: string, unit: string, value: number): Row => ({
      ...{ ...row(name, unit, value), goal: { below: 1 } },
    });
    const rows = [
      row('kills with SIGKILL under load', 'kills', counts.kills),
      row('requests acknowledged', 'requests', counts.acknowledged),
      row('their events', 'events', counts.acknowledgedEvents),
      none('acknowledged events lost', 'events', counts.lostEvents),
      none('rows stored twice', 'rows', counts.rowsTwice),
      none('requests stored in part', 'requests', counts.storedInPart),
      row('requests cut off by a kill', 'requests', counts.cutOff),
      row('sent again with the same Idempotency-Key', 'requests', counts.sentAgain),
      row('cut off, not sent again, stored all the same', 'requests', counts.storedUnanswered),
    ];
    return rows.map((row) => ({ ...row, name: `${row.name}${by}` }));
  });
}
