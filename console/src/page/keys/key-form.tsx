import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { CreatedKeyView, EndpointView } from '../../../../src/management/view.ts';
import { mayGrant, queries, useClient, useRead } from '../../api/queries.ts';
import { Check, Group, Input, Select, TextField, useFault } from '../../ui/form.tsx';
import { FormDialog } from '../../ui/overlay/dialog.tsx';
import { Button, QuietButton, Segmented } from '../../ui/page-part.tsx';
import { TimeField } from '../../ui/time/time-control.tsx';

const DAY_MS = 86_400_000;
const AHEAD = [
  ['in 30 d', 30 * DAY_MS],
  ['in 90 d', 90 * DAY_MS],
  ['in 1 year', 365 * DAY_MS],
] as const;

/** Creates a key, at first one that can query, within the rights of the signed-in key. Faults are shown at the fields. */
export function KeyForm(props: Readonly<{ onMade: (made: CreatedKeyView) => void; onClose: () => void }>) {
  const { onMade, onClose } = props;
  const client = useClient();
  const endpoints = useRead(queries.endpoints).value?.result ?? [];
  const sources = useRead(queries.sources).value?.result ?? [];
  const sending = useMutation({
    mutationFn: (data: FormData) => client.post<CreatedKeyView>('/api/keys', ['key', 'id'], toBody(data)),
    onSuccess: onMade,
  });
  return (
    <FormDialog
      className="key-form is-loose"
      title="Create a key"
      wide
      submit={['Create the key', 'Creating…']}
      {...{ sending, onClose }}
    >
      <div className="key-form-pair">
        <TextField label="Name" name="name" help="Program or person that will use the key." />
        <TextField label="Description" name="description" help="Optional note." />
      </div>
      <ScopeChoice />
      <div className="key-form-pair">
        <ListChoice name="endpoints" legend="Endpoints that it may read" items={endpoints} />
        <ListChoice name="sources" legend="Sources that it may send to" items={sources} />
      </div>
      <PinFields endpoints={endpoints} />
      <div className="key-form-pair">
        <TimeField label="Expires" name="expires_at" help="Empty: never." picks={AHEAD} clear="never" />
        <RateFields />
      </div>
    </FormDialog>
  );
}

const TEXTS = ['name', 'description', 'expires_at', 'per_second', 'burst'];

/** The body of `POST /api/keys` (docs/keys.md). The service checks it. */
function toBody(data: FormData): object {
  const texts = (name: string) => data.getAll(name).map(String);
  const [name, description, expires, perSecond, burst] = TEXTS.flatMap(texts);
  const listed = (member: string) => (texts('listed').includes(member) ? texts(member) : null);
  const values = texts('value');
  return {
    ...{ name, description, scopes: texts('scopes') },
    ...{ endpoints: listed('endpoints'), sources: listed('sources') },
    expires_at: expires || null,
    pins: Object.fromEntries(texts('pin').map((pin, i) => [pin, values[i]])),
    rate:
      perSecond || burst ? { per_second: Number(perSecond), ...(burst && { burst: Number(burst) }) } : null,
  };
}

const SCOPES = [
  ['query', 'reads endpoints'],
  ['ingest', 'sends events'],
  ['manage', 'manages keys, sees numbers and SQL'],
  ['metrics', 'reads metrics, for Prometheus'],
] as const;

/** The scopes of the key. A key can only grant scopes that it has itself. */
function ScopeChoice() {
  const { self } = useClient();
  const isShort = SCOPES.some(([scope]) => !mayGrant(self, scope));
  return (
    <Group
      name="scopes"
      legend="Scopes"
      help={isShort ? 'A key cannot grant a scope that it lacks.' : undefined}
    >
      <div className="choices">
        {SCOPES.map(([value, meaning]) => {
          const may = mayGrant(self, value);
          return (
            <Check
              key={value}
              name="scopes"
              value={value}
              defaultChecked={may && value === 'query'}
              disabled={!may}
            >
              {value} <span className="small muted">{meaning}</span>
            </Check>
          );
        })}
      </div>
    </Group>
  );
}

interface ListChoiceProps {
  readonly name: 'endpoints' | 'sources';
  readonly legend: string;
  readonly items: readonly { readonly id: string; readonly name: string }[];
}

const SPANS = { all: 'All', some: 'Only these' } as const;

/** All items, including future ones, or some by name. */
function ListChoice({ name, legend, items }: ListChoiceProps) {
  const own = useClient().self[name]; // null: the signed-in key has no such limit
  const [span, setSpan] = useState<keyof typeof SPANS>(own === null ? 'all' : 'some');
  // The service does not match UUIDs with names: an inherited list keeps its spelling.
  const spell = (item: (typeof items)[number]) => (own?.includes(item.id) === true ? item.id : item.name);
  return (
    <Group {...{ name, legend }} help={own === null ? undefined : 'Your own key is limited to these.'}>
      <Segmented
        label={legend}
        options={own === null ? SPANS : { some: SPANS.some }}
        selected={span}
        onSelect={setSpan}
      />
      {span === 'some' && (
        <>
          <input type="hidden" name="listed" value={name} />
          <div className="choices is-listed">
            {items.map((item) => (
              <Check key={item.id} name={name} value={spell(item)} defaultChecked={own !== null}>
                <code>{item.name}</code>
              </Check>
            ))}
          </div>
        </>
      )}
    </Group>
  );
}

// It also applies to events, so it can be pinned even if no endpoint declares it.
const PROJECT = 'project';

/** Parameters, each once, and the only value of each. */
function PinFields({ endpoints }: { readonly endpoints: readonly EndpointView[] }) {
  const own = useClient().self.pins;
  const [pins, setPins] = useState(() => Object.keys(own).map((name, id) => ({ id, name })));
  const parameters = endpoints.flatMap((endpoint) => endpoint.parameters);
  const names = [...new Set([PROJECT, ...parameters.map(({ name }) => name), ...Object.keys(own)])];
  const free = names.filter((name) => !pins.some((pin) => pin.name === name));
  const add = (name: string) =>
    setPins([...pins, { id: 1 + Math.max(-1, ...pins.map(({ id }) => id)), name }]);
  return (
    <Group
      name="pins"
      legend="Pinned values"
      help="The only value of a parameter. A key that pins project reads and sends only events of that project."
    >
      {pins.map(({ id, name }) => (
        <div className="pin" key={id}>
          <Select
            name="pin"
            aria-label="Pinned parameter"
            value={name}
            onChange={(next) => setPins(pins.map((pin) => (pin.id === id ? { id, name: next } : pin)))}
            options={[name, ...free]}
          />
          <Input
            name="value"
            aria-label={`Value of ${name}`}
            placeholder="value"
            defaultValue={own[name]}
            suggestions={parameters.filter((one) => one.name === name).flatMap((one) => one.values)}
          />
          <QuietButton onClick={() => setPins(pins.filter((pin) => pin.id !== id))}>
            Remove<span className="visually-hidden"> the pin of {name}</span>
          </QuietButton>
        </div>
      ))}
      <div>
        <Button onClick={() => add(free[0] ?? PROJECT)} disabled={free.length === 0}>
          Pin a value
        </Button>
      </div>
    </Group>
  );
}

const RATES = [
  ['per_second', 'a second', 'any'],
  ['burst', 'at once', '1'],
] as const;

function RateFields() {
  const fault = useFault('rate');
  return (
    <Group
      name="rate"
      legend="Requests"
      help="Empty: no limit for this key. At once: twice the rate by default."
    >
      <div className="rate">
        {RATES.map(([name, text, step]) => (
          <label key={name}>
            <Input
              {...{ name, step }}
              type="number"
              min="0"
              aria-label={`Requests ${text}`}
              aria-invalid={fault !== undefined}
            />
            <span className="small muted">{text}</span>
          </label>
        ))}
      </div>
    </Group>
  );
}
