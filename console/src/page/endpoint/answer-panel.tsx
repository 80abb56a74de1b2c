import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useMemo } from 'react';
import { Link } from 'wouter';
import type { EndpointView } from '../../../../src/management/view.ts';
import type { Answer, CacheState } from '../../api/answer.ts';
import { type Run, useClient } from '../../api/queries.ts';
import { formatBytes, formatMs, formatRows, formatSeconds } from '../../format/show.ts';
import { findAnswerRange, toDrawable } from '../../ui/chart/drawable.ts';
import { AnswerViews, type View } from '../../ui/chart/drawings.tsx';
import { OWN, usePageAddress } from '../../ui/page-address.ts';
import { Empty, ErrorNote, QuietButton, Tag, type Tone } from '../../ui/page-part.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { lineLinks, linesPath, queryPath } from './lines.ts';
import { RunPanel } from './run-panel.tsx';

interface AnswerPanelProps {
  readonly endpoint: EndpointView;
  readonly values: Readonly<Record<string, string>>;
  readonly run: Run<Answer>;
  readonly missing: readonly string[];
}

const CACHE: Readonly<Record<CacheState, readonly [string, Tone]>> = {
  hit: ['cache hit', 'ok'],
  miss: ['cache miss', 'neutral'],
  collapsed: ['collapsed: shared query', 'neutral'],
  stale: ['stale: engine unavailable', 'warn'],
  bypass: ['not cached', 'neutral'],
};

function factsOf({ cache, ageSeconds, rows, engineMs, ms, bytes }: Answer): readonly ReactNode[] {
  const [label, tone] = CACHE[cache];
  return [
    <Tag key="cache" tone={tone}>
      {label}
    </Tag>,
    cache !== 'bypass' && `${formatSeconds(ageSeconds)} old`,
    formatRows(rows.length),
    `${formatMs(engineMs)} in the engine`,
    `${formatMs(ms)} in all`,
    formatBytes(bytes),
  ];
}

export function AnswerPanel({ endpoint, values, run, missing }: AnswerPanelProps) {
  const isReady = missing.length === 0;
  return (
    <RunPanel
      title="Answer"
      run={run}
      factsOf={factsOf}
      idle={
        <Empty title="No answer yet">
          {isReady ? 'Press Run.' : `Fill in ${missing.join(' and ')} above, and press Run.`}
        </Empty>
      }
    >
      {(answer) => (
        <>
          <Views {...{ endpoint, values, answer }} />
          <Downloads {...{ endpoint, values, answer }} />
        </>
      )}
    </RunPanel>
  );
}

const VIEW = `${OWN}view`;
const VIEWS: readonly View[] = ['chart', 'table', 'json'];

interface AnsweredProps extends Pick<AnswerPanelProps, 'endpoint' | 'values'> {
  readonly answer: Answer;
}

function Views({ endpoint, values, answer }: AnsweredProps) {
  const { query, change } = usePageAddress();
  // biome-ignore lint/correctness/useExhaustiveDependencies: `values` as they were for this answer, even while the next one is computed
  const drawn = useMemo(
    () => ({ ...toDrawable(endpoint, values, answer), ...lineLinks(endpoint, values) }),
    [endpoint, answer],
  );
  const view = VIEWS.find((one) => one === query.get(VIEW));
  const onView = (next: View) => change({ [VIEW]: next }, { replace: true });
  return <AnswerViews {...{ drawn, view, onView }} />;
}

// Only programs read those, which ask for them by `format=` or `Accept`.
const OF_PROGRAMS = ['arrow', 'parquet'];

/** Saves the answer as a file in each format that people read, none if `format` is a parameter of the endpoint; leads to its lines. */
function Downloads({ endpoint, values, answer }: AnsweredProps) {
  const client = useClient();
  const { mutate, isPending, error } = useMutation({
    async mutationFn(format: string) {
      const { blob } = await client.callRaw(queryPath(endpoint.name, { ...values, format }));
      saveFile(blob, `${endpoint.name}.${format}`);
    },
  });
  const formats = endpoint.formats.filter((format) => !OF_PROGRAMS.includes(format));
  const { from, until } = findAnswerRange(endpoint, values, answer.atMs);
  const lines = linesPath(endpoint, values, { span: from === undefined ? undefined : { from, until } });
  return (
    <>
      <div className="row small">
        {formats.length > 0 && <span className="muted">Download</span>}
        {formats.map((format) => (
          <QuietButton key={format} disabled={isPending} onClick={() => mutate(format)}>
            {format}
          </QuietButton>
        ))}
        {lines !== undefined && <Link href={lines}>Its lines in Explore</Link>}
      </div>
      {error !== null && <ErrorNote error={error} />}
    </>
  );
}
