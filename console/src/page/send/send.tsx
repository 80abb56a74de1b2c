import { useState } from 'react';
import { Link } from 'wouter';
import type { SourceView } from '../../../../src/management/view.ts';
import { useClient } from '../../api/client.ts';
import { Code } from '../../ui/code.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { ChoiceField, Options, TextField } from '../../ui/form.tsx';
import { Panel } from '../../ui/panel.tsx';
import { useSources } from '../source/use-sources.ts';
import { Arrival } from './arrival.tsx';
import './send.css';
import { SenderKey } from './sender-key.tsx';
import { SENDERS, type Sender } from './senders.ts';

/** How to send logs: a sender is chosen, its configuration is written, and a light shows that its first event has arrived. */
export function SendPage() {
  const { sources, errors } = useSources();
  const senders = sources?.filter(({ managed, internal }) => managed && !internal) ?? [];
  return (
    <>
      <div className="page-head">
        <h1>Send logs</h1>
        <p>Choose what sends your logs, copy its configuration, and wait for the first event.</p>
      </div>
      {errors.map((error) => (
        <ErrorNote key={error.message} error={error} />
      ))}
      {sources === undefined && errors.length === 0 && <p className="muted">Reading…</p>}
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
  const [sourceName, setSourceName] = useState<string>();
  const [project, setProject] = useState(pinned ?? 'my-project');
  const [key, setKey] = useState<string>();
  const source = sources.find(({ name }) => name === (sourceName ?? GENERAL)) ?? sources[0];
  const sender = SENDERS.find(({ id }) => id === senderId) ?? SENDERS[0];
  if (source === undefined || sender === undefined) return null;
  const { language, text, note } = sender.write({ origin: location.origin, source, project, key });
  return (
    <div className="send">
      <Panel title="Sender">
        <div className="send-fields">
          <SenderChoice sender={sender} onChange={setSenderId} />
          <SourceChoice sources={sources} source={source} sender={sender} onChange={setSourceName} />
          <TextField
            label="Project of the events"
            help={pinned !== undefined && 'Set by your key.'}
            disabled={pinned !== undefined}
            value={project}
            onChange={setProject}
          />
          <SenderKey
            // A key of another source or project would be of no use.
            key={`${sender.isSorted === true ? '' : source.name}\0${project}`}
            source={sender.isSorted === true ? undefined : source.name}
            project={project}
            sender={sender.label}
            onMade={setKey}
          />
        </div>
      </Panel>
      <Panel title="Configuration">
        <Code text={text} label={sender.label} {...(language !== undefined && { language })} />
        <p className="small muted">{note}</p>
      </Panel>
      <Arrival />
    </div>
  );
}

function SenderChoice({
  sender,
  onChange,
}: {
  readonly sender: Sender;
  readonly onChange: (id: string) => void;
}) {
  const groups = [...Map.groupBy(SENDERS, ({ group }) => group)];
  return (
    <ChoiceField label="What sends them" value={sender.id} options={[]} onChange={onChange}>
      {groups.map(([group, senders]) => (
        <optgroup key={group} label={group}>
          <Options options={senders.map((one) => [one.id, one.label])} />
        </optgroup>
      ))}
    </ChoiceField>
  );
}

interface SourceChoiceProps {
  readonly sources: readonly SourceView[];
  readonly source: SourceView;
  readonly sender: Sender;
  readonly onChange: (name: string) => void;
}

function SourceChoice({ sources, source, sender, onChange }: SourceChoiceProps) {
  if (sender.isSorted === true)
    return (
      <p className="small muted">
        Its events go to the source whose file accepts them, else to{' '}
        <Link href={`/sources/${GENERAL}`}>{GENERAL}</Link>.
      </p>
    );
  return (
    <ChoiceField
      label="Source"
      help={source.description}
      value={source.name}
      options={sources.map(({ name }) => name)}
      onChange={onChange}
    />
  );
}
