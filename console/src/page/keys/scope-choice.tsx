import { useClient } from '../../api/client.ts';
import { mayGrant } from '../../api/right.ts';
import { Group } from '../../ui/group.tsx';

const SCOPES = [
  ['query', 'reads endpoints'],
  ['ingest', 'sends events'],
  ['manage', 'manages keys, sees numbers and SQL'],
  ['metrics', 'reads metrics, for Prometheus'],
] as const;

interface ScopeChoiceProps {
  readonly scopes: readonly string[];
  readonly fault: string | undefined;
  readonly onChange: (scopes: readonly string[]) => void;
}

/** The scopes of the key. A key can only grant scopes that it has itself. */
export function ScopeChoice({ scopes, fault, onChange }: ScopeChoiceProps) {
  const { self } = useClient();
  const isShort = SCOPES.some(([scope]) => !mayGrant(self, scope));
  return (
    <Group
      legend="Scopes"
      help={isShort ? 'A key cannot grant a scope that it lacks.' : undefined}
      fault={fault}
    >
      <div className="choices">
        {SCOPES.map(([scope, meaning]) => (
          <label className="field-check" key={scope}>
            <input
              type="checkbox"
              checked={scopes.includes(scope)}
              disabled={!mayGrant(self, scope)}
              onChange={(event) =>
                onChange(event.target.checked ? [...scopes, scope] : scopes.filter((one) => one !== scope))
              }
            />
            <span>
              {scope} <span className="small muted">{meaning}</span>
            </span>
          </label>
        ))}
      </div>
    </Group>
  );
}
