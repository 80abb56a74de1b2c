import { useId } from 'react';
import type { EndpointView } from '../../../../src/management/view.ts';
import { Button, QuietButton } from '../../ui/button.tsx';
import { Group } from '../../ui/group.tsx';
import type { Pin } from './draft.ts';

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
            {names.map((one) => (
              <option key={one}>{one}</option>
            ))}
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
          <datalist id={`${values}-${id}`}>
            {[...new Set(valuesOf(name))].map((one) => (
              <option key={one} value={one} />
            ))}
          </datalist>
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
