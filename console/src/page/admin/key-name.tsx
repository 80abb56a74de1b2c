import type { KeyView } from '../../../../src/management/view.ts';
import { query, useRead } from '../../api/queries.ts';

const KEYS = query<{ readonly result: readonly KeyView[] }>('/api/keys?limit=1000', ['result'], {
  staleTime: 60_000,
});
const OWN: Readonly<Record<string, string>> = {
  private: 'The environment’s private key',
  public: 'The environment’s public key',
  '': 'The service itself',
};

/** Returns the name of each of the newest keys by its id. */
export function useKeyNames(): ReadonlyMap<string, string> {
  const { value } = useRead(KEYS);
  return new Map(value?.result.map(({ id, name }) => [id, name]));
}

/** The name and the id of a key. */
export function KeyName({ id, name = OWN[id] }: { readonly id: string; readonly name?: string | undefined }) {
  return (
    <span className="panel-table-name">
      {name !== undefined && <span>{name}</span>}
      {OWN[id] === undefined && (
        <code className="small muted">{id.startsWith('person:') ? id : `tr_${id}_…`}</code>
      )}
    </span>
  );
}
