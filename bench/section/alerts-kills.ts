import {
  type AlertKillCounts,
  GONE_ON_MS_GOAL,
  killSingleService,
  strikeReplicas,
} from '../../trial/alerts/kill-alerts.ts';
import { inTemporaryFolder } from '../folder.ts';
import { type Row, say } from '../report.ts';
import type { BenchOptions } from '../section.ts';

const NONE = { below: 1 };
// Of the kills; the database connections end as often.
const SESSIONS_SHARE = 0.4;

/** Alerts that change each second, while the process that evaluates them, or its database connections, are ended. */
export async function measureAlertKills({ times }: BenchOptions): Promise<Row[]> {
  const sessionTimes = Math.ceil(times * SESSIONS_SHARE);
  const seed = times;
  const { killed, disconnected } = await inTemporaryFolder((folder) =>
    strikeReplicas({ folder, times, sessionTimes, seed, onRound: reportOf('replicas') }),
  );
  const single = await inTemporaryFolder((folder) =>
    killSingleService({ folder, times, seed, onRound: reportOf('single service') }),
  );
  return [
    ...toRows('the evaluating replica is killed', killed, true),
    ...toRows('then its database connections end', disconnected, true),
    // It takes over from itself, when it has started again.
    ...toRows('a single service is killed', single, false),
  ];
}

function reportOf(what: string): (counts: AlertKillCounts) => void {
  return ({ strikes, changes, sentTwice, unknown, goneOnMs }) =>
    say(
      `alerts: ${what}, ${strikes} strikes: ${changes} changes, ${sentTwice} sent twice, ${unknown} unknown; on after ${goneOnMs.at(-1)} ms`,
    );
}

function toRows(name: string, counts: AlertKillCounts, takesOver: boolean): Row[] {
  const { strikes, changes, messages, repeated, lost, sentTwice, unknown, unresolved, goneOnMs } = counts;
  const goal = takesOver ? { goal: { below: GONE_ON_MS_GOAL } } : {};
  return [
    { name, unit: 'times', values: [strikes] },
    { name: `${name}: changes of alerts`, unit: 'changes', values: [changes] },
    { name: `${name}: messages`, unit: 'messages', values: [messages] },
    { name: `${name}: sent again with the same id`, unit: 'messages', values: [repeated] },
    { name: `${name}: changes not sent`, unit: 'changes', values: [lost], goal: NONE },
    { name: `${name}: sent with different ids`, unit: 'changes', values: [sentTwice], goal: NONE },
    { name: `${name}: sent without the lease`, unit: 'changes', values: [unknown], goal: NONE },
    { name: `${name}: fired and never resolved`, unit: 'changes', values: [unresolved], goal: NONE },
    { name: `${name}: slowest next evaluation`, unit: 'ms', values: [Math.max(...goneOnMs)], ...goal },
  ];
}
