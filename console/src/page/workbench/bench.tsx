import { type ComponentProps, useMemo, useState } from 'react';
import { Link } from 'wouter';
import type { WorkbenchView } from '../../../../src/management/workbench-view.ts';
import { queries, useRead } from '../../api/queries.ts';
import { withConditional } from '../../ui/editor/completion.ts';
import { Form, TextField } from '../../ui/form.tsx';
import { FormDialog } from '../../ui/overlay/dialog.tsx';
import { Button, QuietButton, Tag } from '../../ui/page-part.tsx';
import { ParameterFields } from '../endpoint/parameter-control.tsx';
import { readOutline, withColumns, withName } from './definition.ts';
import { type Pane, Panes, SaveNotes, TestOutcome } from './panes.tsx';
import { newAlertPath } from './path.ts';
import { Result } from './result.tsx';
import { type Check, useBenchRun, useCheck } from './use-check.ts';
import { type Base, type Saved, type Saving, useSaveFile, useWork, type Work } from './work.ts';
import { WorkHead } from './work-head.tsx';

export interface BenchProps {
  /** Empty: a new endpoint. */
  readonly name: string;
  /** The name under which unsaved texts are kept. */
  readonly draftName: string;
  readonly opened: Base;
  readonly workbench: WorkbenchView;
  readonly onSaved: (name: string) => void;
}

export function Bench({ name, draftName, opened, workbench, onSaved }: BenchProps) {
  const { tables, functions, reason: whyNotSaved, notice } = workbench;
  const work = useWork(draftName, opened);
  const { texts, base, isChanged } = work;
  const { definition, sql, test } = texts;
  const check = useCheck('endpoints', { definition, sql });
  const outline = useMemo(() => readOutline(definition), [definition]);
  const run = useBenchRun(texts, check, work.values);
  const saving = useSaveFile('endpoints');
  const [isAsking, setAsking] = useState(false);
  const words = useMemo(
    () => ({ functions: withConditional(functions), tables, parameters: outline.parameters }),
    [functions, tables, outline],
  );
  const projects = useRead(queries.projects, {
    isWanted: outline.parameters.some((one) => one.name === 'project'),
  });
  const ask = (isOpen: boolean) => {
    saving.reset();
    setAsking(isOpen);
  };
  const send = (to: string, written: string, version: string | null) => {
    // It is saved with columns: those of the query if it has none.
    const isComplete = outline.columns.size > 0 || check.columns.length === 0;
    const sent = {
      ...{ name: to, sql, version },
      definition: isComplete ? written : withColumns(written, check.columns, tables),
    };
    const onSuccess = (saved: Saved) => {
      work.settle({ ...sent, test: '', version: saved.version }, texts);
      setAsking(false);
      onSaved(saved.name);
    };
    saving.mutate({ ...sent, ...(version === null && test.trim() !== '' && { test }) }, { onSuccess });
  };
  return (
    <>
      <WorkHead endpoint={name}>
        <Actions
          {...{ name, work }}
          // What was typed last may have other columns.
          maySave={!saving.isPending && (check.isCurrent || outline.columns.size > 0)}
          onSave={whyNotSaved === null ? () => send(name, definition, base.version) : undefined}
          onSaveAs={() => ask(true)}
        />
      </WorkHead>
      {isAsking && (
        <SaveDialog
          name={name === '' ? outline.name : `${name}-copy`}
          saving={saving}
          onSave={(to) => send(to, withName(definition, to, base.version !== null), null)}
          onClose={() => ask(false)}
        />
      )}
      {notice !== null && isChanged && <div className="note is-info">{notice}</div>}
      <SaveNotes
        kind="endpoints"
        {...{ name, opened, work, whyNotSaved }}
        saving={isAsking ? { ...saving, error: null } : saving}
        error={check.error}
        saved={
          saving.data?.tests !== undefined && (
            <TestOutcome tests={saving.data.tests}>
              Saved as <code>{saving.data.name}</code>.
            </TestOutcome>
          )
        }
        onCopy={() => ask(true)}
      />
      <section className="panel bench" aria-label="Query and definition">
        <Panes
          panes={panesOf(opened, work, { check, tables, words })}
          {...{ texts, faults: run.faults }}
          onEdit={work.edit}
          onRun={run.start}
        />
        <RunForm
          parameters={check.parameters}
          values={run.values}
          projects={projects.value?.result}
          busy={run.answer.state === 'running'}
          error={run.answer.error}
          onChange={work.setValue}
          onRun={run.start}
          onStop={run.stop}
        />
      </section>
      <Result
        answer={run.answer}
        descriptions={outline.columns}
        tested={
          name === '' || whyNotSaved !== null || run.asked === undefined
            ? undefined
            : { name, base, asked: run.asked }
        }
      />
    </>
  );
}

interface ActionsProps {
  readonly name: string;
  readonly work: Work;
  readonly maySave: boolean;
  /** undefined: the service may not write files. */
  readonly onSave: (() => void) | undefined;
  readonly onSaveAs: () => void;
}

function Actions({ name, work, maySave, onSave, onSaveAs }: ActionsProps) {
  return (
    <>
      {(work.isChanged || work.texts.test !== '') && <Tag tone="warn">not saved</Tag>}
      {name !== '' && (
        <>
          <Link className="small" href={`/endpoints/${name}`}>
            Its page
          </Link>
          <Link className="small" href={newAlertPath(name, work.values)}>
            Alert on this
          </Link>
        </>
      )}
      {onSave !== undefined && (
        <div className="bench-save">
          {name !== '' && (
            <Button disabled={!work.isChanged || !maySave} onClick={onSave}>
              Save
            </Button>
          )}
          <Button disabled={!maySave} onClick={onSaveAs}>
            Save as…
          </Button>
        </div>
      )}
    </>
  );
}

interface PaneParts extends Pick<Pane, 'words'> {
  readonly check: Check;
  readonly tables: WorkbenchView['tables'];
}

function panesOf(opened: Base, work: Work, { check, tables, words }: PaneParts): Pane[] {
  const { definition } = work.texts;
  const { isCurrent, columns } = check;
  const test: Pane = {
    ...{ id: 'test', path: 'tests/search.yaml', language: 'yaml', label: 'Test of the endpoint' },
    note: 'A test of events that the search found. They are saved as they are: change what must not be in a file, or clear the text to save no test.',
  };
  return [
    { id: 'sql', path: 'query.sql', language: 'sql', label: 'SQL of the query', words },
    {
      ...{ id: 'definition', path: 'endpoint.yaml', language: 'yaml', label: 'Definition of the endpoint' },
      actions: (
        <QuietButton
          disabled={!isCurrent || columns.length === 0}
          onClick={() => work.edit({ definition: withColumns(definition, columns, tables) })}
        >
          Use the columns of the query
        </QuietButton>
      ),
    },
    ...(opened.test === '' || work.base.version !== null ? [] : [test]),
  ];
}

interface SaveDialogProps {
  readonly name: string;
  readonly saving: Saving;
  readonly onSave: (name: string) => void;
  readonly onClose: () => void;
}

function SaveDialog({ name, saving: { error, isPending }, onSave, onClose }: SaveDialogProps) {
  const [draft, setDraft] = useState(name);
  const isTaken = error?.code === 'conflict';
  const to = draft.trim();
  return (
    <FormDialog
      title="Save as an endpoint"
      submit={['Save', 'Saving…']}
      sending={{ mutate: () => to !== '' && onSave(to), isPending, error: isTaken ? null : error }}
      onClose={onClose}
    >
      <TextField
        label="Name"
        help="Words of a-z, 0-9, - and _, joined by dots. It is written into endpoint.yaml, and names the folder."
        fault={isTaken ? error.message : undefined}
        value={draft}
        onChange={setDraft}
      />
    </FormDialog>
  );
}

interface RunFormProps extends ComponentProps<typeof ParameterFields> {
  readonly busy: boolean;
  readonly onRun: () => void;
  readonly onStop: () => void;
}

function RunForm({ busy, onRun, onStop, ...fields }: RunFormProps) {
  return (
    <Form className="bench-form" onSubmit={onRun} aria-label="Parameters">
      <ParameterFields {...fields} />
      <div className="row bench-run">
        <Button type="submit" look="primary" aria-disabled={busy}>
          {busy ? 'Running…' : 'Run'}
        </Button>
        <Button disabled={!busy} onClick={onStop}>
          Stop
        </Button>
        <span className="small muted">
          <kbd>Ctrl</kbd> <kbd>Enter</kbd> in an editor
        </span>
      </div>
    </Form>
  );
}
