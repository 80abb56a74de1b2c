import type { Config } from '../config/config.ts';
import { refuseFaults } from '../definitions/fault.ts';
import { readDefinitions } from '../definitions/read.ts';
import { createRegistry } from '../definitions/registry.ts';
import type { Source } from '../definitions/source.ts';
import type { Event } from '../ingest/event.ts';
import { FILTER_RULES, type FilterCounts, verifyFilters } from '../ingest/filter/filter.ts';
import { refuseUnwritable } from '../ingest/source-name.ts';
import { formatCount } from './format.ts';

/** Reads a source without opening the store, so that a service may run beside. @throws InputError with all faults of the definitions */
export async function readSource(config: Config, name: string): Promise<Source> {
  const { definitions, faults } = await readDefinitions(config);
  refuseFaults([...faults, ...(await verifyFilters(definitions.sources))]);
  return refuseUnwritable(createRegistry(definitions).getSource(name));
}

/** Writes to how many events each rule of a source applied; empty if to none. */
export function describeFiltered(filtered: FilterCounts): string {
  const applied = FILTER_RULES.filter((rule) => filtered[rule] > 0);
  return applied.map((rule) => `, ${formatCount(filtered[rule])} by ${rule}`).join('');
}

/** Writes what would be stored of an event. */
export function describeEvent({ message, metadata, attributes }: Event): string {
  return [JSON.stringify(message), metadata, attributes].filter((text) => text !== '').join(' ');
}
