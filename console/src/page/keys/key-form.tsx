import { useMutation } from '@tanstack/react-query';
import type { CreatedKeyView } from '../../../../src/management/view.ts';
import { useClient } from '../../api/client.ts';
import { queries, sourcesOf, useRead } from '../../api/queries.ts';
import { TextField } from '../../ui/form.tsx';
import { FormDialog } from '../../ui/overlay/dialog.tsx';
import { TimeField } from '../../ui/time/time-control.tsx';
import { ListChoice, PinFields, RateFields, ScopeChoice } from './key-fields.tsx';

interface KeyFormProps {
  readonly onClose: () => void;
  readonly onMade: (made: CreatedKeyView) => void;
}

const DAY_MS = 86_400_000;
const AHEAD = [
  ['in 30 d', 30 * DAY_MS],
  ['in 90 d', 90 * DAY_MS],
  ['in 1 year', 365 * DAY_MS],
] as const;

/** Creates a key, at first one that can query, within the rights of the signed-in key. Faults are shown at the fields. */
export function KeyForm({ onClose, onMade }: KeyFormProps) {
  const client = useClient();
  const endpoints = useRead(queries.endpoints).value?.result ?? [];
  const sources = sourcesOf(useRead(queries.sources).value ?? []);
  const sending = useMutation({
    mutationFn: (data: FormData) =>
      client.call<CreatedKeyView>('/api/keys', ['key', 'id'], { method: 'POST', body: toBody(data) }),
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
