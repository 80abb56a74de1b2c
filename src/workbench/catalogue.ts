import { PARAMETER_TYPES } from '../definitions/parameter-type.ts';
import type { Registry } from '../definitions/registry.ts';
import type { Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { tableColumns } from '../engine/table.ts';
import type { WorkbenchView } from '../management/view.ts';

/** The names that an editor of drafts completes. */
export type Catalogue = Pick<WorkbenchView, 'functions' | 'tables' | 'parameter_types'>;

/** Returns a function that reads the catalogue; the engine's names of functions are read once. */
export function createCatalogue(engine: Engine, registry: Registry): () => Promise<Catalogue> {
  let functions: Promise<{ name: string }[]> | undefined;
  const read = async () => {
    const rows = await engine.inspect('SELECT name FROM system.functions ORDER BY name');
    return rows.map((row) => ({ name: String(row['name']) })).filter(({ name }) => name !== REFUSED);
  };
  return async () => {
    functions ??= read().catch((error: unknown) => {
      functions = undefined; // the next caller retries
      throw error;
    });
    return {
      functions: await functions,
      tables: registry.sources.map(describeTable),
      parameter_types: [...PARAMETER_TYPES],
    };
  };
}

/** Whether no stored query may call it. */
const REFUSED = 'file';

const COMMON: Readonly<Record<string, string>> = {
  id: 'Id of the event.',
  timestamp: 'Time of the event, UTC.',
  project: 'Project of the event; empty: none.',
  event_message: 'Text of the event.',
  metadata: 'JSON text as received; functions such as JSONExtractString read it.',
  attributes: 'JSON text of the other members of the event; empty if there are none.',
};

function describeTable(source: Source): WorkbenchView['tables'][number] {
  const own = new Map(source.columns.map(({ name, description }) => [name, description]));
  const columns = tableColumns(source).map(({ name, type }) => ({
    name,
    type,
    description: own.get(name) ?? COMMON[name] ?? '',
  }));
  return { name: source.table, source: source.name, columns };
}
