import type { Row } from '../report.ts';
import type { BenchOptions } from '../section.ts';
import { measureAlertCost } from './alerts-cost.ts';
import { measureAlertKills } from './alerts-kills.ts';

const MEASUREMENTS = { cost: measureAlertCost, kills: measureAlertKills };

export const ALERT_MEASUREMENTS = Object.keys(MEASUREMENTS);

/** What alerts cost, and whether each of their messages is sent once although processes and connections end. */
export async function alertsSection(options: BenchOptions): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, measure] of Object.entries(MEASUREMENTS))
    if (options.only.length === 0 || options.only.includes(name)) rows.push(...(await measure(options)));
  return rows;
}
