import { useMutation } from '@tanstack/react-query';
import { useId, useState } from 'react';
import type { CreatedKeyView } from '../../../../src/management/view.ts';
import { useClient } from '../../api/client.ts';
import { queries, sourcesOf, useRead } from '../../api/queries.ts';
import { describedBy, Field, Form, FormActions, TextField } from '../../ui/form.tsx';
import { ErrorNote } from '../../ui/note.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';
import { TimeControl } from '../../ui/time/time-control.tsx';
import { createDraft, type Draft, faultOf, findTwice, toBody } from './draft.ts';
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

/** Creates a key. Faults that the service reports are shown at the field. */
export function KeyForm({ onClose, onMade }: KeyFormProps) {
  const id = useId();
  const client = useClient();
  const [draft, setDraft] = useState(() => createDraft(client.self));
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }));
  const endpoints = useRead(queries.endpoints).value?.result ?? [];
  const sources = sourcesOf(useRead(queries.sources).value ?? []);
  const { mutate, isPending, ...made } = useMutation({
    mutationFn: () =>
      client.call<CreatedKeyView>('/api/keys', ['key', 'id'], { method: 'POST', body: toBody(draft) }),
    onSuccess: onMade,
  });
  const error = made.error ?? undefined;
  const twice = findTwice(draft.pins);
  const onSubmit = () => {
    if (twice === undefined) mutate();
  };
  const fault = (member: string) => faultOf(error, member);
  return (
    <Dialog title="Create a key" wide onClose={onClose}>
      <Form className="key-form" error={error} onSubmit={onSubmit}>
        <div className="key-form-pair">
          <TextField
            label="Name"
            help="Program or person that will use the key."
            fault={fault('name')}
            value={draft.name}
            onChange={(name) => change({ name })}
          />
          <TextField
            label="Description"
            help="Optional note."
            fault={fault('description')}
            value={draft.description}
            onChange={(description) => change({ description })}
          />
        </div>
        <ScopeChoice
          self={client.self}
          scopes={draft.scopes}
          fault={fault('scopes')}
          onChange={(scopes) => change({ scopes })}
        />
        <div className="key-form-pair">
          <ListChoice
            legend="Endpoints that it may read"
            items={endpoints}
            listed={draft.endpoints}
            own={client.self.endpoints}
            fault={fault('endpoints')}
            onChange={(listed) => change({ endpoints: listed })}
          />
          <ListChoice
            legend="Sources that it may send to"
            items={sources}
            listed={draft.sources}
            own={client.self.sources}
            fault={fault('sources')}
            onChange={(listed) => change({ sources: listed })}
          />
        </div>
        <PinFields
          pins={draft.pins}
          endpoints={endpoints}
          fault={twice === undefined ? fault('pins') : `${twice} is pinned twice: give it one value`}
          onChange={(pins) => change({ pins })}
        />
        <div className="key-form-pair">
          <Field id={`${id}-expires`} label="Expires" help="Empty: never." fault={fault('expires_at')}>
            <TimeControl
              id={`${id}-expires`}
              className="input"
              aria-describedby={describedBy(`${id}-expires`)}
              value={draft.expires}
              picks={AHEAD}
              clear="never"
              onChange={(expires) => change({ expires })}
            />
          </Field>
          <RateFields draft={draft} fault={fault('rate')} onChange={change} />
        </div>
        {error !== undefined && <ErrorNote error={error} />}
        <FormActions submit="Create the key" submitting="Creating…" busy={isPending} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}
