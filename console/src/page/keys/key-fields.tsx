import { useId } from 'react';
import type { EndpointView, Me } from '../../../../src/management/view.ts';
import { mayGrant } from '../../api/right.ts';
import { Button, QuietButton } from '../../ui/button.tsx';
import { Checks, Group, Options, Suggestions } from '../../ui/form.tsx';
import { Segmented } from '../../ui/tabs.tsx';
import type { Draft, Pin } from './draft.ts';

const SCOPES = [
  ['query', 'reads endpoints'],
  ['ingest', 'sends events'],
  ['manage', 'manages keys, sees numbers and SQL'],
  ['metrics', 'reads metrics, for Prometheus'],
] as const;

interface ScopeChoiceProps {
  readonly self: Me;
  readonly scopes: readonly string[];
  readonly fault: string | undefined;
  readonly onChange: (scopes: readonly string[]) => void;
}

/** The scopes of the key. A key can only grant scopes that it has itself. */
export function ScopeChoice({ self, scopes, fault, onChange }: ScopeChoiceProps) {
  const isShort = SCOPES.some(([scope]) => !mayGrant(self, scope));
  const items = SCOPES.map(([value, meaning]) => ({
    value,
    label: (
      <>
        {value} <span className="small muted">{meaning}</span>
      </>
    ),
    isDisabled: !mayGrant(self, value),
  }));
  return (
    <Group
      legend="Scopes"
      help={isShort ? 'A key cannot grant a scope that it lacks.' : undefined}
      fault={fault}
    >
      <Checks items={items} checked={scopes} onChange={onChange} />
    </Group>
  );
}

interface ListChoiceProps {
  readonly legend: string;
  readonly items: readonly { readonly id: string; readonly name: string }[];
  /** Null: all. */
  readonly listed: readonly string[] | null;
  /** The limits of the signed-in key. */
  readonly own: readonly string[] | null;
  readonly fault: string | undefined;
  readonly onChange: (listed: readonly string[] | null) => void;
}

const SPANS = [
  { id: 'all', label: 'All' },
  { id: 'some', label: 'Only these' },
] as const;

/** All items, including future ones, or some by name. */
export function ListChoice({ legend, items, listed, own, fault, onChange }: ListChoiceProps) {
  // The service does not match UUIDs with names: an inherited list keeps its spelling.
  const spelled = items.map(({ id, name }) => ({
    value: own?.includes(id) === true ? id : name,
    label: <code>{name}</code>,
  }));
  return (
    <Group
      legend={legend}
      help={own === null ? undefined : 'Your own key is limited to these.'}
      fault={fault}
    >
      <Segmented
        label={legend}
        options={own === null ? SPANS : SPANS.slice(1)}
        selected={listed === null ? 'all' : 'some'}
        onSelect={(id) => onChange(id === 'all' ? null : [])}
      />
      {listed !== null && <Checks items={spelled} checked={listed} isListed onChange={onChange} />}
    </Group>
  );
}

interface PinFieldsProps {
  readonly pins: readonly Pin[];
  readonly endpoints: readonly EndpointView[];
  readonly fault: string | undefined;
  readonly onChange: (pins: readonly Pin[]) => void;
}

// It also applies to events, so it can be pinned even if no endpoint declares it.
const PROJECT = 'project';

/** Parameters and the only value of each. */
export function PinFields({ pins, endpoints, fault, onChange }: PinFieldsProps) {
  const values = useId();
  const declared = endpoints.flatMap(({ parameters }) => parameters.map(({ name }) => name));
  const names = [...new Set([PROJECT, ...declared, ...pins.map(({ name }) => name)])];
  const set = (id: number, part: Partial<Pin>) =>
    onChange(pins.map((pin) => (pin.id === id ? { ...pin, ...part } : pin)));
  const add = () => {
    const id = 1 + Math.max(-1, ...pins.map((pin) => pin.id));
    const name = names.find((one) => !pins.some((pin) => pin.name === one)) ?? PROJECT;
    onChange([...pins, { id, name, value: '' }]);
  };
  const valuesOf = (name: string) =>
    endpoints
      .flatMap(({ parameters }) => parameters.filter((one) => one.name === name))
      .flatMap((one) => one.values);
  return (
    <Group
      legend="Pinned values"
      help="The only value of a parameter. A key that pins project reads and sends only events of that project."
      fault={fault}
    >
      {pins.map(({ id, name, value }) => (
        <div className="pin" key={id}>
          <select
            className="input"
            aria-label="Pinned parameter"
            value={name}
            onChange={(event) => set(id, { name: event.target.value })}
          >
            <Options options={names} />
          </select>
          <input
            className="input"
            aria-label={`Value of ${name}`}
            placeholder="value"
            autoComplete="off"
            spellCheck={false}
            value={value}
            list={`${values}-${id}`}
            onChange={(event) => set(id, { value: event.target.value })}
          />
          <Suggestions id={`${values}-${id}`} values={valuesOf(name)} />
          <QuietButton onClick={() => onChange(pins.filter((pin) => pin.id !== id))}>
            Remove<span className="visually-hidden"> the pin of {name}</span>
          </QuietButton>
        </div>
      ))}
      <div>
        <Button onClick={add}>Pin a value</Button>
      </div>
    </Group>
  );
}

interface RateFieldsProps {
  readonly draft: Draft;
  readonly fault: string | undefined;
  readonly onChange: (part: Partial<Draft>) => void;
}

/** The rate limit of the key. */
export function RateFields({ draft, fault, onChange }: RateFieldsProps) {
  const number = (member: 'perSecond' | 'burst') => ({
    className: 'input',
    type: 'number',
    min: 0,
    value: draft[member],
    'aria-invalid': fault !== undefined,
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onChange({ [member]: event.target.value }),
  });
  return (
    <Group
      legend="Requests"
      help="Empty: no limit for this key. At once: twice the rate by default."
      fault={fault}
    >
      <div className="rate">
        <label>
          <input {...number('perSecond')} step="any" aria-label="Requests a second" />
          <span className="small muted">a second</span>
        </label>
        <label>
          <input {...number('burst')} step="1" aria-label="Requests at once" />
          <span className="small muted">at once</span>
        </label>
      </div>
    </Group>
  );
}
