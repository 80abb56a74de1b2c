import type { Endpoint } from '../definitions/endpoint.ts';
import { type Definitions, hashEndpoint } from '../definitions/read.ts';
import { isManaged } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { readQueryTree } from './syntax-tree.ts';
import { findTablesRead } from './tables-read.ts';
import { createSampleSql } from './verify.ts';

/**
 * Hashes each endpoint over its own files and those of the sources that its query reads: a change of another source leaves the
 * cached answers valid. If it is not certain what a query reads, all sources count, as in `readDefinitions`.
 *
 * @param definitions verified: the engine has accepted every query
 */
export async function narrowHashes(engine: Engine, definitions: Definitions): Promise<Definitions> {
  const { sources } = definitions;
  // A source of an existing table is a view, through which a query may read anything.
  const tables = new Map(sources.filter(isManaged).map((source) => [source.table, source]));
  const narrow = async (endpoint: Endpoint): Promise<Endpoint> => {
    const root = await readQueryTree(engine, createSampleSql(endpoint));
    const read = findTablesRead(root, new Set(tables.keys()));
    if (read === undefined) return endpoint;
    const own = sources.filter(({ table }) => read.includes(table));
    return { ...endpoint, hash: hashEndpoint(endpoint.fileHash, own) };
  };
  const endpoints: Endpoint[] = [];
  for (const endpoint of definitions.endpoints) endpoints.push(await narrow(endpoint));
  return { endpoints, sources };
}
