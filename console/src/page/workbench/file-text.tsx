import { type ReactNode, useEffect } from 'react';
import { Button, Reading, Tag } from '../../ui/page-part.tsx';
import { readOutline } from './definition.ts';
import { Panes, SaveNotes } from './panes.tsx';
import { type Check, useCheck } from './use-check.ts';
import { type Base, type Saved, toBase, useSaveFile, useStored, useWork } from './work.ts';

/** The response to a check: faults, and what else its kind has. */
export type FileCheck = NonNullable<Check['found']>;

interface FileTextProps {
  readonly kind: 'alerts' | 'dashboards';
  /** Empty: a new one, whose name its text says. */
  readonly name: string;
  /** Names the draft of a new one. */
  readonly draftName?: string;
  /** Saves the endpoint of a new alert first. Until then the alert is not checked: its endpoint does not exist. */
  readonly saveBefore?: (() => Promise<void>) | undefined;
  /** Why the service may not write files; null: it may. */
  readonly whyNotSaved: string | null;
  /** The text of a new file; undefined: a missing file is an error. */
  readonly template?: string | undefined;
  readonly actions?: ReactNode;
  readonly onCheck?: (check: FileCheck) => void;
  readonly onSaved?: (name: string) => void;
  readonly children?: (definition: string) => ReactNode;
}

export function FileText({ template, ...bench }: FileTextProps) {
  const { kind, name } = bench;
  const read = useStored('file', kind, name, name !== '');
  const isNew = name === '' || read.error?.status === 404;
  const opened =
    isNew && template !== undefined ? toBase({ definition: template, version: null }) : read.value;
  if (opened !== undefined) return <FileBench {...{ ...bench, opened }} />;
  return <Reading error={read.error} />;
}

type FileBenchProps = Omit<FileTextProps, 'template'> & { readonly opened: Base };

function FileBench(props: FileBenchProps) {
  const { kind, name, draftName = name, opened, whyNotSaved, actions, children } = props;
  const { saveBefore, onCheck, onSaved } = props;
  const work = useWork(`${kind} ${draftName}`, opened); // no endpoint has a space in its name
  const { texts, base, isChanged } = work;
  const { definition } = texts;
  const { found, faults, error, isCurrent } = useCheck(kind, { definition }, saveBefore === undefined);
  useEffect(() => {
    if (found !== undefined && isCurrent) onCheck?.(found);
  }, [found, isCurrent, onCheck]);
  const saving = useSaveFile(kind, saveBefore);
  const save = () => {
    const sent = { name: name || readOutline(definition).name, definition, version: base.version };
    const onSuccess = (saved: Saved) => {
      work.settle(toBase({ definition, version: saved.version }), texts);
      onSaved?.(saved.name);
    };
    saving.mutate(sent, { onSuccess });
  };
  const isUnsaved = isChanged || base.version === null;
  const label = name === '' ? 'New file' : `File of ${name}`;
  return (
    <>
      <div className="bench-head">
        {isUnsaved && <Tag tone="warn">not saved</Tag>}
        {actions}
        {whyNotSaved === null && (
          <div className="bench-save">
            <Button disabled={!isUnsaved || saving.isPending} onClick={save}>
              {saving.isPending
                ? 'Saving…'
                : saveBefore === undefined
                  ? 'Save'
                  : 'Save the endpoint and the alert'}
            </Button>
          </div>
        )}
      </div>
      <SaveNotes
        {...{ kind, name, opened, work, saving, whyNotSaved, error }}
        saved={
          saving.data !== undefined &&
          !isChanged && <div className="note is-info">Saved, and served from now on.</div>
        }
      />
      <section className="panel bench" aria-label={label}>
        <Panes
          panes={[{ id: 'definition', path: `${name || 'new'}.yaml`, language: 'yaml', label }]}
          {...{ texts, faults }}
          onEdit={work.edit}
          onRun={save}
        />
        {children?.(definition)}
      </section>
    </>
  );
}
