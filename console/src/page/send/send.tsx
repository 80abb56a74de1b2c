import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link, useSearch } from 'wouter';
import type { Overview } from '../../../../src/management/admin-view.ts';
import type { CreatedKeyView, SourceView } from '../../../../src/management/view.ts';
import { maySearch, useClient, useOverview, useSources } from '../../api/queries.ts';
import { formatCount } from '../../format/show.ts';
import { Code } from '../../ui/code.tsx';
import { ChoiceField, Options, TextField } from '../../ui/form.tsx';
import {
  Button,
  CopyButton,
  Empty,
  ErrorNote,
  PageHead,
  Panel,
  QuietButton,
  Reading,
} from '../../ui/page-part.tsx';
import { explorePath } from '../explore/address.ts';
import './send.css';
import { SENDERS, writeSender } from './senders.ts';

export default function SendPage() {
  const { sources, error } = useSources();
  const senders = sources?.filter(({ managed, internal }) => managed && !internal) ?? [];
  return (
    <>
      <PageHead title="Send logs">
        Choose what sends your logs, copy its configuration, and wait for the first event.
      </PageHead>
      {(sources === undefined || error !== undefined) && <Reading error={error} />}
      {sources !== undefined && senders.length === 0 && (
        <Empty title="No source">This key may send to no source.</Empty>
      )}
      {senders.length > 0 && <Steps sources={senders} />}
    </>
  );
}

const GENERAL = 'logs';

function Steps({ sources }: { readonly sources: readonly SourceView[] }) {
  const { self } = useClient();
  const pinned = self.pins['project'];
  const [senderId, setSenderId] = useState('curl');
  const named = new URLSearchParams(useSearch()).get('source');
  const [sourceName, setSourceName] = useState(named ?? GENERAL);
  const [project, setProject] = useState(pinned ?? 'my-project');
  const [key, setKey] = useState<string>();
  const source = sources.find(({ name }) => name === sourceName) ?? sources[0];
  const sender = SENDERS.find(({ id }) => id === senderId) ?? SENDERS[0];
  if (source === undefined || sender === undefined) return null;
  const { label, language, note, isSorted = false } = sender;
  const text = writeSender(sender, { origin: location.origin, source, project, key });
  return (
    <div className="stack is-loose">
      <Panel title="Sender">
        <div className="send-fields">
          <ChoiceField label="What sends them" value={sender.id} options={[]} onChange={setSenderId}>
            {[...Map.groupBy(SENDERS, ({ group }) => group)].map(([group, senders]) => (
              <optgroup key={group} label={group}>
                <Options options={senders.map((one) => [one.id, one.label])} />
              </optgroup>
            ))}
          </ChoiceField>
          {isSorted ? (
            <p className="small muted">
              Its events go to the source whose file accepts them, else to{' '}
              <Link href={`/sources/${GENERAL}`}>{GENERAL}</Link>.
            </p>
          ) : (
            <ChoiceField
              label="Source"
              help={source.description}
              value={source.name}
              options={sources.map(({ name }) => name)}
              onChange={setSourceName}
            />
          )}
          <TextField
            label="Project of the events"
            help={pinned !== undefined && 'Set by your key.'}
            disabled={pinned !== undefined}
            value={project}
            onChange={setProject}
          />
          <SenderKey
            // A key of another source or project would be of no use.
            key={`${isSorted ? '' : source.name}\0${project}`}
            source={isSorted ? undefined : source.name}
            project={project}
            sender={label}
            onMade={setKey}
          />
        </div>
      </Panel>
      <Panel title="Configuration">
        <Code text={text} label={label} {...(language !== undefined && { language })} />
        <p className="small muted">{note}</p>
      </Panel>
      <Panel title="First event">
        {self.scopes.includes('manage') ? (
          <Arrival />
        ) : (
          <p className="small muted">
            A key with the scope manage sees here when the first event has arrived.
          </p>
        )}
      </Panel>
    </div>
  );
}

/** A light that turns on when an event has arrived since the page was opened, or since the light was reset. */
function Arrival() {
  const { self } = useClient();
  const { value } = useOverview();
  const [before, setBefore] = useState<Overview>();
  if (value !== undefined && before === undefined) setBefore(value);
  const rows = new Map((before ?? value)?.sources.map((source) => [source.name, source.rows]));
  const arrived = (value?.sources ?? [])
    .map((source) => ({ name: source.name, count: source.rows - (rows.get(source.name) ?? 0) }))
    // What the service itself writes says nothing about senders.
    .filter(({ name, count }) => count > 0 && !name.startsWith('tailrace.'));
  const isOn = arrived.length > 0;
  return (
    <>
      <p className="arrival" role="status">
        <span className={isOn ? 'arrival-light is-on' : 'arrival-light'} aria-hidden="true" />
        {isOn ? (
          <span>
            {arrived.map(({ name, count }, i) => (
              <span key={name}>
                {i > 0 && ', '}
                {formatCount(count)} in{' '}
                {maySearch(self) ? (
                  <Link href={explorePath({ source: [name] })}>{name}</Link>
                ) : (
                  <code>{name}</code>
                )}
              </span>
            ))}
            : it works.
          </span>
        ) : (
          <span className="muted">No event yet since this page was opened.</span>
        )}
      </p>
      {isOn && <QuietButton onClick={() => setBefore(undefined)}>Wait for another</QuietButton>}
    </>
  );
}

interface SenderKeyProps {
  /** The only source of the key; `undefined`: any. */
  readonly source: string | undefined;
  readonly project: string;
  readonly sender: string;
  /** @param key that the configuration is to hold; `undefined`: the variable TAILRACE_KEY */
  readonly onMade: (key: string | undefined) => void;
}

/** Creates a key that can only send, and only for this project, so that the configuration can be copied whole. */
function SenderKey({ source, project, sender, onMade }: SenderKeyProps) {
  const client = useClient();
  const mayCreate = client.self.scopes.includes('manage');
  const body = {
    name: sender,
    scopes: ['ingest'],
    ...(source !== undefined && { sources: [source] }),
    ...(project !== '' && { pins: { project } }),
  };
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => client.post<CreatedKeyView>('/api/keys', ['key', 'id'], body),
    onSuccess: ({ key }) => onMade(key),
  });
  useEffect(() => () => onMade(undefined), [onMade]);
  if (data !== undefined)
    return (
      <div className="send-key" role="status">
        <p className="small">
          The configuration holds the new key <code>{data.id}</code>, which can only send
          {project === '' ? '' : ` for ${project}`}. <strong>It is not shown again.</strong>
        </p>
        <CopyButton text={data.key} label="Copy the key" />
      </div>
    );
  return (
    <div className="send-key">
      <p className="small muted">
        The key is read from <code>TAILRACE_KEY</code>: one with the scope ingest.
      </p>
      {mayCreate && (
        <Button disabled={isPending} onClick={() => mutate()}>
          {isPending ? 'Creating…' : 'Create a key for it'}
        </Button>
      )}
      {error !== null && <ErrorNote error={error} />}
    </div>
  );
}
