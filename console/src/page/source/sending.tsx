import { useId, useMemo, useState } from 'react';
import { Link } from 'wouter';
import type { SourceView } from '../../../../src/management/view.ts';
import { useClient } from '../../api/client.ts';
import { Code } from '../../ui/code.tsx';
import { describedBy, Field } from '../../ui/form.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { createSnippets, type Snippet } from './snippet.ts';

/** Configurations of senders, with the address of this service and the source filled in. */
export function Sending({ source }: { readonly source: SourceView }) {
  const id = useId();
  const { self } = useClient();
  const pinned = self.pins['project'];
  const [project, setProject] = useState(pinned ?? 'my-project');
  const [selected, setSelected] = useState<Snippet['id']>('curl');
  const snippets = useMemo(
    () => createSnippets({ origin: location.origin, source, project }),
    [source, project],
  );
  const snippet = snippets.find((one) => one.id === selected);
  return (
    <Panel title="Send events">
      <div className="sending">
        <Field
          id={id}
          label="Project of the events"
          {...(pinned !== undefined && { help: 'Set by your key.' })}
        >
          <input
            id={id}
            className="input"
            aria-describedby={describedBy(id)}
            autoComplete="off"
            spellCheck={false}
            disabled={pinned !== undefined}
            value={project}
            onChange={(event) => setProject(event.target.value)}
          />
        </Field>
        <div>
          <Tabs label="Sender" tabs={snippets} selected={selected} onSelect={setSelected}>
            {snippet !== undefined && (
              <>
                <Code
                  text={snippet.text}
                  language={snippet.language}
                  label={`Events to ${source.name} with ${snippet.label}`}
                />
                <p className="small muted">{snippet.note}</p>
              </>
            )}
          </Tabs>
        </div>
        <p className="small muted">
          The key is read from <code>TAILRACE_KEY</code>: one with the scope ingest
          {self.scopes.includes('manage') ? (
            <>
              . Create one in <Link href="/keys">keys</Link>.
            </>
          ) : (
            ', such as yours.'
          )}
        </p>
      </div>
    </Panel>
  );
}
