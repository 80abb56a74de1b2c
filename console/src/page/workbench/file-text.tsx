import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { DraftCheck } from '../../../../src/management/view.ts';
import { type Client, useClient } from '../../api/client.ts';
import { pause } from '../../api/follow.ts';
import { latestOf, useRun } from '../../api/use-run.ts';
import { Button, QuietButton } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Editor } from '../../ui/editor/editor.tsx';
import type { Fault } from '../../ui/editor/fault.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Tag } from '../../ui/tag.tsx';
import { filesPath } from './api.ts';
import { Conflict } from './conflict.tsx';
import { HistoryButton } from './history-button.tsx';
import { type FileKind, useSaveFile } from './use-save-file.ts';
import { type DefinitionFile, useText } from './use-text.ts';

/** The response to a check: faults, and what else its kind has. */
export type FileCheck = Pick<DraftCheck, 'errors'>;

interface FileTextProps {
  readonly kind: FileKind;
  readonly name: string;
  /** Why the service may not write files; null: it may. */
  readonly refusal: string | null;
  /** The text of a new file; undefined: a missing file is an error. */
  readonly template?: string;
  /** Beside the name of the page: links. */
  readonly actions: ReactNode;
  /** Beside the editor: another way to change the text. */
  readonly form?: (text: string, onChange: (text: string) => void) => ReactNode;
  /** Receives each check that has ended. */
  readonly onCheck?: (check: FileCheck) => void;
}

/** The file of a definition as a text: checked while it is written, and saved. */
export function FileText({ template, ...bench }: FileTextProps) {
  const { kind, name } = bench;
  const [round, setRound] = useState(0);
  const path = filesPath(kind, name);
  const read = useRun<DefinitionFile>({
    key: [path, round],
    read: (client, signal) => readFile(client, path, signal),
  });
  const isNew = read.state === 'failed' && read.error.status === 404 && template !== undefined;
  const file = isNew ? { name, definition: template, version: null } : latestOf(read);
  if (read.state === 'failed' && !isNew) return <ErrorNote error={read.error} />;
  if (file === undefined) return <p className="muted">Reading…</p>;
  return (
    <TextBench
      {...bench}
      key={`${round} ${file.version}`}
      file={file}
      onReload={() => setRound((before) => before + 1)}
    />
  );
}

function readFile(client: Client, path: string, signal: AbortSignal): Promise<DefinitionFile> {
  return client.call<DefinitionFile>(path, ['definition', 'version'], { signal });
}

interface TextBenchProps extends Omit<FileTextProps, 'template' | 'name'> {
  readonly file: DefinitionFile;
  /** Reads the file again. */
  readonly onReload: () => void;
}

function TextBench({ kind, file, refusal, actions, form, onCheck, onReload }: TextBenchProps) {
  const { name } = file;
  const { base, text, isChanged, isRestored, setText, reset, settle } = useText(kind, file);
  const editor = useRef<{ goTo(fault: Fault): void }>(null);
  const { faults, error } = useFaults(kind, text, onCheck);
  const saving = useSaveFile(kind, ({ version }, { definition }) => settle({ ...base, version, definition }));
  const save = () => saving.save({ name, definition: text, version: base.version });
  const isConflict = saving.error?.code === 'conflict';
  const isNew = base.version === null;
  const isUnsaved = isChanged || isNew;
  return (
    <>
      <div className="bench-head">
        {isUnsaved && <Tag tone="warn">not saved</Tag>}
        {actions}
        <div className="bench-save">
          {refusal === null ? (
            <>
              {!isNew && (
                <HistoryButton
                  kind={kind}
                  name={name}
                  mine={{ [`${name}.yaml`]: text }}
                  toFiles={({ definition }) => ({ [`${name}.yaml`]: definition })}
                  onRestore={({ definition }) => setText(definition)}
                />
              )}
              <Button disabled={!isUnsaved || saving.busy} onClick={save}>
                {saving.busy ? 'Saving…' : 'Save'}
              </Button>
            </>
          ) : (
            <CopyButton text={text} label="Copy the file" title={refusal} />
          )}
        </div>
      </div>
      <div className="bench-notes" aria-live="polite">
        {refusal !== null && <div className="note is-info">Not saved here: {refusal}.</div>}
        {isRestored && (
          <div className="note is-info bench-note">
            <span>
              These are your unsaved changes.
              {base.version !== file.version && ' The file has changed since you began.'}
            </span>
            <QuietButton onClick={() => reset(file)}>Discard them</QuietButton>
          </div>
        )}
        {saving.saved !== undefined && !isChanged && (
          <div className="note is-info">Saved, and served from now on.</div>
        )}
        {isConflict && (
          <div className="note is-bad bench-note">
            <span>
              <strong>Not saved.</strong> {saving.error?.message}
            </span>
            <Button
              onClick={() => {
                reset(file);
                onReload();
              }}
            >
              Load theirs
            </Button>
          </div>
        )}
        {saving.error !== undefined && !isConflict && <ErrorNote error={saving.error} />}
        {error !== undefined && <ErrorNote error={error} />}
      </div>
      {isConflict && (
        <Conflict
          path={filesPath(kind, name)}
          version={base.version}
          mine={{ [`${name}.yaml`]: text }}
          read={async (client, signal) => {
            const theirs = await readFile(client, filesPath(kind, name), signal);
            return { version: theirs.version, texts: { [`${name}.yaml`]: theirs.definition } };
          }}
        />
      )}
      {form?.(text, setText)}
      <section className="panel bench" aria-label={`File of ${name}`}>
        <div className="alert-editor">
          <Editor
            ref={editor}
            language="yaml"
            label={`File of ${name}`}
            value={text}
            onChange={setText}
            onRun={save}
            faults={faults}
          />
        </div>
        <Faults name={name} faults={faults} onShow={(fault) => editor.current?.goTo(fault)} />
      </section>
    </>
  );
}

const DELAY_MS = 500;
const NO_FAULTS: readonly Fault[] = [];

/** Checks a text when it has been left alone for half a second. */
function useFaults(kind: FileKind, definition: string, onCheck: FileTextProps['onCheck']) {
  const client = useClient();
  const path = `/api/workbench/${kind}/check`;
  const { data, error } = useQuery({
    queryKey: [path, definition],
    async queryFn({ signal }) {
      await pause(DELAY_MS, signal);
      const body = { definition };
      return await client.call<FileCheck>(path, ['errors'], { method: 'POST', body, signal });
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0, // a text is rarely the same again
  });
  useEffect(() => {
    if (data !== undefined) onCheck?.(data);
  }, [data, onCheck]);
  return { faults: data?.errors ?? NO_FAULTS, error: error ?? undefined };
}

interface FaultsProps {
  readonly name: string;
  readonly faults: readonly Fault[];
  readonly onShow: (fault: Fault) => void;
}

/** Every fault as a button that leads to its place. */
function Faults({ name, faults, onShow }: FaultsProps) {
  return (
    <div className="bench-faults">
      <div role="status" className="visually-hidden">
        {faults.length === 0
          ? ''
          : `${faults.length} ${faults.length === 1 ? 'fault' : 'faults'} in the file`}
      </div>
      {faults.length > 0 && (
        <ul aria-label="Faults">
          {faults.map((fault) => (
            <li key={`${fault.line}:${fault.column}:${fault.message}`}>
              <button type="button" onClick={() => onShow(fault)}>
                <code>{[`${name}.yaml`, fault.line, fault.column].filter(Boolean).join(':')}</code>{' '}
                {fault.message}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
