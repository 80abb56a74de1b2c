import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { DraftCheck } from '../../../../src/management/view.ts';
import { useClient } from '../../api/client.ts';
import { pause } from '../../api/follow.ts';
import { latestOf, useRun } from '../../api/queries.ts';
import { Button, CopyButton } from '../../ui/button.tsx';
import { Editor } from '../../ui/editor/editor.tsx';
import type { Fault } from '../../ui/editor/mount.ts';
import { ErrorNote } from '../../ui/note.tsx';
import { Tag } from '../../ui/tag.tsx';
import { filesPath } from './api.ts';
import { Faults } from './faults.tsx';
import { SaveNotes } from './save-notes.tsx';
import { type Base, useFiles } from './use-files.ts';
import { useSaveFile } from './use-save-file.ts';

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
    read: (client, signal) => client.call<DefinitionFile>(path, ['definition', 'version'], { signal }),
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

interface TextBenchProps extends Omit<FileTextProps, 'template' | 'name'> {
  readonly file: DefinitionFile;
  /** Reads the file again. */
  readonly onReload: () => void;
}

function TextBench({ kind, file, refusal, actions, onCheck, onReload }: TextBenchProps) {
  const { name } = file;
  // No endpoint has a space in its name.
  const work = useFiles(`${kind === 'alerts' ? 'alert' : 'dashboard'} ${name}`, toBase(file));
  const { base, isChanged } = work;
  const text = work.files.definition;
  const setText = (definition: string) => work.edit({ definition });
  const editor = useRef<{ goTo(fault: Fault): void }>(null);
  const { faults, error } = useFaults(kind, text, onCheck);
  const saving = useSaveFile(kind, ({ version }, { definition }) =>
    work.settle(toBase({ version, definition }), toBase({ version, definition })),
  );
  const save = () => saving.save({ name, definition: text, version: base.version });
  const isNew = base.version === null;
  const isUnsaved = isChanged || isNew;
  return (
    <>
      <div className="bench-head">
        {isUnsaved && <Tag tone="warn">not saved</Tag>}
        {actions}
        <div className="bench-save">
          {refusal === null ? (
            <Button disabled={!isUnsaved || saving.busy} onClick={save}>
              {saving.busy ? 'Saving…' : 'Save'}
            </Button>
          ) : (
            <CopyButton text={text} label="Copy the file" title={refusal} />
          )}
        </div>
      </div>
      {refusal !== null && <div className="note is-info">Not saved here: {refusal}.</div>}
      <SaveNotes
        {...{ kind, name, work }}
        opened={toBase(file)}
        saved={
          saving.saved !== undefined &&
          !isChanged && <div className="note is-info">Saved, and served from now on.</div>
        }
        error={saving.error ?? error}
        onLoad={() => {
          work.reset(toBase(file));
          onReload();
        }}
      />
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
        <Faults
          faults={faults.map((fault) => ({ file: `${name}.yaml`, fault }))}
          onShow={({ fault }) => editor.current?.goTo(fault)}
        />
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

/** Kinds of definitions that are worked on as one text. */
type FileKind = 'alerts' | 'dashboards';

interface DefinitionFile {
  readonly name: string;
  readonly definition: string;
  /** null: a new file. */
  readonly version: string | null;
}

/** An endpoint without SQL: both are worked on alike. */
function toBase({ definition, version }: Pick<DefinitionFile, 'definition' | 'version'>): Base {
  return { definition, sql: '', version };
}
