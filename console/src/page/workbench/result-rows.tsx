import type { ComponentProps } from 'react';
import { formatJson } from '../../api/answer.ts';
import { AnswerRows } from '../../ui/chart/drawings.tsx';
import { Code } from '../../ui/code.tsx';
import type { ResultView } from './result.tsx';

interface ResultRowsProps extends Omit<ComponentProps<typeof AnswerRows>, 'view'> {
  readonly view: ResultView;
}

/** The rows of a result as charts, a table or JSON. */
export function ResultRows({ view, rows, drawn }: ResultRowsProps) {
  if (view === 'json') return <Code text={formatJson(rows)} label="The rows as JSON" />;
  return <AnswerRows view={view} rows={rows} drawn={drawn} />;
}
