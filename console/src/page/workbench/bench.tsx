import { type ComponentProps, type ReactNode, useMemo, useState } from 'react';
import { Link } from 'wouter';
import type { WorkbenchView } from '../../../../src/management/view.ts';
import { useClient } from '../../api/client.ts';
import { queries, useRead } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Editor } from '../../ui/editor/editor.tsx';
import { Form } from '../../ui/form.tsx';
import { ErrorNote } from '../../ui/note.tsx';
import { Tag } from '../../ui/tag.tsx';
import { ParameterFields } from '../endpoint/parameter-control.tsx';
import { type Outline, readOutline, withColumns } from './definition.ts';
import { Panes } from './panes.tsx';
import { newAlertPath } from './path.ts';
import { Result } from './result.tsx';
import { SaveBar } from './save-bar.tsx';
import { SaveNotes, TestOutcome } from './save-notes.tsx';
import { TestDialog, type TestDialogProps } from './test-dialog.tsx';
import { type Check, checkFiles, useBenchRun, useCheck } from './use-check.ts';
import { type Base, useFiles, type WorkedFiles } from './use-files.ts';
import { useSave } from './use-save.ts';

interface BenchProps {
  /** Empty: a new endpoint. */
  readonly name: string;
  /** The name under which unsaved texts are kept. */
  readonly draftName: string;
  readonly opened: Base;
  readonly workbench: WorkbenchView;
  /** The control that opens another endpoint. */
  readonly choice: ReactNode;
  readonly onSaved: (name: string) => void;
}

/** One endpoint under work: its texts, a form to run them, the result, and saving. */
export function Bench({ name, draftName, opened, workbench, choice, onSaved }: BenchProps) {
  const work = useFiles(draftName, opened);
  const { files } = work;
  const check = useCheck(files);
  const outline = useMemo(() => readOutline(files.definition), [files.definition]);
  const run = useBenchRun(files, check, work.values);
  const client = useClient();
  const save = useSave({
    ...{ name, draftName, work, onSaved },
    async complete(definition) {
      // A save may come before the check of what was typed last.
      const isKnown = check.isCurrent || outline.columns.size > 0;
      return complete(definition, isKnown ? check : await checkFiles(client, files), workbench);
    },
  });
  const { saving } = save;
  return (
    <>
      <div className="page-head bench-head">
        <h1>Workbench</h1>
        {choice}
        {(work.isChanged || work.test !== '') && <Tag tone="warn">not saved</Tag>}
        {name !== '' && <Links name={name} work={work} />}
        <SaveBar
          name={name}
          refusal={workbench.refusal}
          files={{
            ...files,
            definition: check.isCurrent ? complete(files.definition, check, workbench) : files.definition,
          }}
          isChanged={work.isChanged}
          test={work.test}
          outline={outline}
          save={save}
        />
      </div>
      {workbench.notice !== null && work.isChanged && <div className="note is-info">{workbench.notice}</div>}
      <SaveNotes
        kind="endpoints"
        {...{ name, opened, work }}
        saved={
          saving.state === 'saved' && (
            <TestOutcome tests={saving.saved.tests}>
              Saved as <code>{saving.saved.name}</code>.
            </TestOutcome>
          )
        }
        error={'error' in saving && !save.isAsking ? saving.error : undefined}
        onLoad={save.loadStored}
        onCopy={() => save.ask(true)}
      />
      {check.error !== undefined && <ErrorNote error={check.error} />}
      <section className="panel bench" aria-label="Query and definition">
        <Panes
          workbench={workbench}
          files={files}
          faults={run.faults}
          onEdit={work.edit}
          onRun={run.start}
          onUseColumns={
            check.isCurrent && check.columns.length > 0
              ? () =>
                  work.edit({ definition: withColumns(files.definition, check.columns, workbench.tables) })
              : undefined
          }
        />
        {opened.test !== undefined && work.base.version === null && (
          <TestPane value={work.test} onChange={work.setTest} onRun={run.start} />
        )}
        <RunForm
          parameters={check.parameters}
          values={run.values}
          projects={useProjects(outline)}
          busy={run.answer.state === 'running'}
          error={run.answer.state === 'failed' ? run.answer.error : undefined}
          onChange={work.setValue}
          onRun={run.start}
          onStop={run.stop}
        />
      </section>
      <Result
        answer={run.answer}
        descriptions={outline.columns}
        actions={
          name !== '' &&
          workbench.refusal === null &&
          run.asked !== undefined &&
          run.answer.state === 'done' && (
            <TestButton name={name} base={work.base} asked={run.asked} answer={run.answer.value} />
          )
        }
      />
    </>
  );
}

interface LinksProps {
  readonly name: string;
  readonly work: WorkedFiles;
}

/** What else there is of an endpoint that is served. */
function Links({ name, work }: LinksProps) {
  return (
    <>
      <Link className="small" href={`/endpoints/${name}`}>
        Its page
      </Link>
      <Link className="small" href={newAlertPath(name, work.values)}>
        Alert on this
      </Link>
    </>
  );
}

/** A definition is saved with columns: those of the query if it has none. */
function complete(
  definition: string,
  { columns }: Pick<Check, 'columns'>,
  { tables }: WorkbenchView,
): string {
  const isComplete = readOutline(definition).columns.size > 0 || columns.length === 0;
  return isComplete ? definition : withColumns(definition, columns, tables);
}

function useProjects({ parameters }: Outline): readonly string[] {
  const isWanted = parameters.some(({ name }) => name === 'project');
  return useRead(queries.projects, { isWanted }).value?.result ?? [];
}

/** Keeps a result as a test of its endpoint. */
function TestButton(props: Omit<TestDialogProps, 'onClose'>) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Keep as a test</Button>
      {isOpen && <TestDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

interface TestPaneProps {
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
}

/** The file of tests that is saved with a new endpoint. */
function TestPane({ value, onChange, onRun }: TestPaneProps) {
  return (
    <details className="bench-test">
      <summary>tests/search.yaml: a test of events that the search found</summary>
      <p className="muted small">
        The events are saved as they are: change what must not be in a file, or clear the text to save no
        test.
      </p>
      <div className="bench-editor">
        <Editor
          language="yaml"
          label="Test of the endpoint"
          value={value}
          onChange={onChange}
          onRun={onRun}
          faults={[]}
        />
      </div>
    </details>
  );
}

interface RunFormProps extends ComponentProps<typeof ParameterFields> {
  readonly busy: boolean;
  readonly onRun: () => void;
  readonly onStop: () => void;
}

/** The declared parameters as a form. */
function RunForm({ busy, onRun, onStop, ...fields }: RunFormProps) {
  return (
    <Form className="bench-form" onSubmit={onRun} aria-label="Parameters">
      <ParameterFields {...fields} />
      <div className="bench-run">
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
