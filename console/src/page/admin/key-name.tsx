import type { KeyView } from '../../../../src/management/view.ts';
import { type List, query, useRead } from '../../api/queries.ts';

const KEYS = query<List<KeyView>>('/api/keys?limit=1000', ['result'], 60_000);
const OWN: Readonly<Record<string, string>> = {
  private: 'The environment’s private key',
  public: 'The environment’s public key',
  '': 'The service itself',
};

/** The name of a key, if it is one of the newest, and its id. */
export function KeyName({ id }: { readonly id: string }) {
  const { value } = useRead(KEYS);
  const name = value?.result.find((key) => key.id === id)?.name ?? OWN[id];
  return (
    <span className="panel-table-name">
      {name !== undefined && <span>{name}</span>}
      {OWN[id] === undefined && (
        <code className="small muted">{id.startsWith('person:') ? id : `tr_${id}_…`}</code>
      )}
    </span>
  );
}
