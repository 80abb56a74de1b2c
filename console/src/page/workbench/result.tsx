import { useMutation } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { SavedTest } from '../../../../src/management/workbench-view.ts';
import { formatJson } from '../../api/answer.ts';
import { type Run, useClient } from '../../api/queries.ts';
import { formatBytes, formatMs, formatRows } from '../../format/show.ts';
import { lazyPart } from '../../ui/boundary/boundary.tsx';
import { toDrawable } from '../../ui/chart/drawable.ts';
import type { View } from '../../ui/chart/drawings.tsx';
import { TextField } from '../../ui/form.tsx';
import { CloseAction, Dialog, FormDialog } from '../../ui/overlay/dialog.tsx';
import { Button, Tag } from '../../ui/page-part.tsx';
import { RunPanel } from '../endpoint/run-panel.tsx';
import { TestOutcome } from './panes.tsx';
import type { Answered, Question } from './use-check.ts';
import type { Texts } from './work.ts';

// Charts, tables and colours of code are loaded with the first result.
const Views = lazyPart(async () => (await import('../../ui/chart/drawings.tsx')).AnswerViews);

interface ResultProps {
  readonly answer: Run<Answered>;
  /** Descriptions of columns by name, which say the unit of a chart. */
  readonly descriptions: ReadonlyMap<string, string>;
  /** What the rows can be kept as a test of; undefined: they cannot. */
  readonly tested: Tested | undefined;
}

interface Tested {
  readonly name: string;
  /** Its files as they are saved. */
  readonly base: Texts;
  readonly asked: Question;
}

export function Result({ answer, descriptions, tested }: ResultProps) {
  const [view, setView] = useState<View>();
  const [isTesting, setTesting] = useState(false);
  const { value } = answer;
  const drawn = useMemo(() => {
    if (value === undefined) return undefined;
    const columns = value.columns.map((one) => ({
      ...one,
      description: descriptions.get(one.name) ?? '',
      search: null,
    }));
    return toDrawable({ ...value, columns }, value.values, { rows: value.rows, atMs: Date.parse(value.now) });
  }, [value, descriptions]);
  return (
    <RunPanel
      title="Result"
      run={answer}
      factsOf={(one) => [
        one.truncated && <Tag tone="warn">cut at max_rows</Tag>,
        formatRows(one.rows.length),
        `${formatRows(one.rows_read)} read`,
        `${formatBytes(one.bytes_read)} read`,
        `${formatMs(one.engine_ms)} in the engine`,
        `${formatMs(one.ms)} in all`,
      ]}
      actions={
        tested !== undefined &&
        answer.state === 'done' && (
          <>
            <Button onClick={() => setTesting(true)}>{KEEP}</Button>
            {isTesting && <TestDialog {...tested} answer={answer.value} onClose={() => setTesting(false)} />}
          </>
        )
      }
      idle={<p className="muted">Press Run.</p>}
      failed={({ code }) =>
        code === 'invalid_definition' && <p role="alert">Not run: the files have the faults above.</p>
      }
    >
      {() => drawn && <Views {...{ drawn, view }} onView={setView} />}
    </RunPanel>
  );
}

interface TestProps extends Tested {
  readonly answer: Answered;
  readonly onClose: () => void;
}

const KEEP = 'Keep as a test';
const ROWS_MAX = 20;

function TestDialog({ name, base, asked, answer, onClose }: TestProps) {
  const client = useClient();
  const [title, setTitle] = useState('');
  const sending = useMutation({
    mutationFn: (_: FormData) =>
      client.post<SavedTest>('/api/workbench/tests', ['file', 'tests'], {
        ...{ name, title: title.trim(), now: answer.now, values: asked.values },
        rows: formatJson(answer.rows, 0),
      }),
  });
  const { data: saved } = sending;
  const whyNotKept = findWhyNotKept({ base, asked, answer });
  if (saved !== undefined || whyNotKept !== undefined)
    return (
      <Dialog title={KEEP} onClose={onClose} wide={saved !== undefined}>
        {saved === undefined ? (
          <p>{whyNotKept}</p>
        ) : (
          <>
            <TestOutcome tests={saved.tests}>
              Written into <code>{saved.file}</code>.
            </TestOutcome>
            <p className="muted">
              Tests run on the events of their file, not on those that are stored: write the events that these
              rows come from into it.
            </p>
          </>
        )}
        <CloseAction onClose={onClose} />
      </Dialog>
    );
  const send = { ...sending, mutate: (data: FormData) => title.trim() !== '' && sending.mutate(data) };
  return (
    <FormDialog title={KEEP} submit={['Add the test', 'Adding…']} sending={send} onClose={onClose}>
      <TextField
        label="What it shows"
        help="A sentence, such as: counts status 500 and above in the last hour"
        maxLength={200}
        value={title}
        onChange={setTitle}
      />
    </FormDialog>
  );
}

function findWhyNotKept({ base, asked, answer }: Pick<TestProps, 'base' | 'asked' | 'answer'>) {
  const count = answer.rows.length;
  if (base.sql !== asked.sql || base.definition !== asked.definition)
    return 'The result is not that of the saved files. Save, then run them again.';
  if (count > ROWS_MAX)
    return `The result has ${count} rows, a test at most ${ROWS_MAX}. Run the query for less, such as a shorter range.`;
  return undefined;
}
