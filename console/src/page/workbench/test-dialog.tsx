import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { SavedTest } from '../../../../src/management/workbench-view.ts';
import { formatJson } from '../../api/answer.ts';
import { useClient } from '../../api/client.ts';
import { Form, FormActions, TextField } from '../../ui/form.tsx';
import { CloseAction, Dialog } from '../../ui/overlay/dialog.tsx';
import { TestOutcome } from './save-notes.tsx';
import type { Answered, Question } from './use-check.ts';
import type { Texts } from './work.ts';

export interface TestDialogProps {
  /** The endpoint. */
  readonly name: string;
  /** Its files as they are saved. */
  readonly base: Texts;
  readonly asked: Question;
  readonly answer: Answered;
  readonly onClose: () => void;
}

const ROWS_MAX = 20;

/** The question what a test of a result says. */
export function TestDialog({ name, base, asked, answer, onClose }: TestDialogProps) {
  const client = useClient();
  const [title, setTitle] = useState('');
  const { mutate, isPending, error, data } = useMutation({
    mutationFn: () =>
      client.call<SavedTest>('/api/workbench/tests', ['file', 'tests'], {
        method: 'POST',
        body: {
          name,
          title: title.trim(),
          now: answer.now,
          values: asked.values,
          rows: formatJson(answer.result, 0),
        },
      }),
  });
  const refusal = findRefusal({ base, asked, answer });
  const onSubmit = () => {
    if (title.trim() !== '') mutate();
  };
  return (
    <Dialog title="Keep as a test" onClose={onClose} wide={data !== undefined}>
      {data !== undefined && (
        <>
          <TestOutcome tests={data.tests}>
            Written into <code>{data.file}</code>.
          </TestOutcome>
          <p className="muted">
            Tests run on the events of their file, not on those that are stored: write the events that these
            rows come from into it.
          </p>
        </>
      )}
      {data === undefined && refusal !== undefined && <p>{refusal}</p>}
      {data === undefined && refusal === undefined && (
        <Form className="stack" onSubmit={onSubmit}>
          <TextField
            label="What it shows"
            help="A sentence, such as: counts status 500 and above in the last hour"
            maxLength={200}
            value={title}
            onChange={setTitle}
          />
          <FormActions
            submit="Add the test"
            submitting="Adding…"
            {...{ busy: isPending, error }}
            onCancel={onClose}
          />
        </Form>
      )}
      {(data !== undefined || refusal !== undefined) && <CloseAction onClose={onClose} />}
    </Dialog>
  );
}

function findRefusal({ base, asked, answer }: Pick<TestDialogProps, 'base' | 'asked' | 'answer'>) {
  const count = answer.result.length;
  if (base.sql !== asked.sql || base.definition !== asked.definition)
    return 'The result is not that of the saved files. Save, then run them again.';
  if (count > ROWS_MAX)
    return `The result has ${count} rows, a test at most ${ROWS_MAX}. Run the query for less, such as a shorter range.`;
  return undefined;
}
