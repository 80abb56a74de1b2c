import type { Config } from '../../config/config.ts';
import { readDefinitions } from '../../definitions/read.ts';
import { createRegistry } from '../../definitions/registry.ts';
import { refuseFaults } from '../../errors.ts';
import { type Event, parseEvent } from '../../ingest/event.ts';
import { createFilterCounts, FILTER_RULES, findFilter, verifyFilters } from '../../ingest/filter/filter.ts';
import { RejectedEvent } from '../../ingest/read-event.ts';
import { rejectUnwritable } from '../../ingest/source-name.ts';
import { MICROS_PER_MS } from '../../lib/instant.ts';
import { formatCount } from '../format.ts';
import type { LineSink } from './lines.ts';

// Redacted events that are shown.
const SHOWN_MAX = 3;

interface DryRunOptions {
  readonly config: Config;
  readonly onRejected: (line: number, reason: string) => void;
  /** Prints a line. */
  readonly log: (line: string) => void;
}

/**
 * Creates a sink that only counts what would be stored, by the rules of a source. Opens no store, so that a service may
 * run beside.
 *
 * @throws InputError with all faults of the definitions
 */
export async function openDryRun(
  name: string,
  { config, onRejected, log }: DryRunOptions,
): Promise<LineSink> {
  const { definitions, faults } = await readDefinitions(config);
  refuseFaults([...faults, ...(await verifyFilters(definitions.sources))]);
  const source = rejectUnwritable(createRegistry(definitions).getSource(name));
  const { defaultProject: project } = config;
  const filter = findFilter(source);
  const filtered = createFilterCounts();
  let stored = 0;

  function add(line: number, text: string): void {
    const parsed = parseEvent({ text }, source, { now: Date.now() * MICROS_PER_MS, project });
    const event = filter === undefined ? parsed : filter(parsed, filtered);
    if (event === undefined) return;
    stored++;
    if (event !== parsed && filtered.redact <= SHOWN_MAX) log(`line ${line} would be ${describe(event)}`);
  }

  return {
    add(line, text) {
      try {
        add(line, text);
      } catch (error) {
        if (!(error instanceof RejectedEvent)) throw error;
        onRejected(line, error.message);
      }
      return undefined;
    },
    reject: (line, reason) => void onRejected(line, reason),
    flush: async () => {},
    get stored() {
      return stored;
    },
    describeFiltered() {
      const applied = FILTER_RULES.filter((rule) => filtered[rule] > 0);
      return applied.map((rule) => `, ${formatCount(filtered[rule])} by ${rule}`).join('');
    },
  };
}

function describe({ message, metadata, attributes }: Event): string {
  return [JSON.stringify(message), metadata, attributes].filter((text) => text !== '').join(' ');
}
