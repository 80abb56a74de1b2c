import { useMutation } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Link } from 'wouter';
import type { EndpointView } from '../../../../src/management/view.ts';
import type { Answer, CacheState } from '../../api/answer.ts';
import { useClient } from '../../api/client.ts';
import { latestOf, type Run } from '../../api/queries.ts';
import { formatBytes, formatMs, formatRows, formatSeconds } from '../../format/number.ts';
import type { Span } from '../../format/time-axis.ts';
import { QuietButton } from '../../ui/button.tsx';
import { findAnswerRange } from '../../ui/chart/answer-range.ts';
import { AnswerViews } from '../../ui/chart/drawings.tsx';
import { chartsOf, findTimes } from '../../ui/chart/guess.ts';
import { Empty, ErrorNote } from '../../ui/note.tsx';
import { Panel } from '../../ui/panel.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { Tag, type Tone } from '../../ui/tag.tsx';
import { linesPath, queryPath, whyNoLines } from './lines.ts';
import type { UrlState } from './url-state.ts';

interface AnswerPanelProps {
  readonly endpoint: EndpointView;
  readonly values: Readonly<Record<string, string>>;
  readonly run: Run<Answer>;
  /** Required parameters without a value. */
  readonly missing: readonly string[];
  readonly url: UrlState;
  readonly onChange: (change: Partial<UrlState>) => void;
}

/** The answer or error of the last run. */
export function AnswerPanel({ endpoint, values, run, missing, url, onChange }: AnswerPanelProps) {
  const answer = latestOf(run);
  const meta = run.state === 'done' ? <Meta answer={run.value} /> : undefined;
  return (
    <Panel title="Answer" actions={meta}>
      <div role="status" className="visually-hidden">
        {run.state === 'running' ? 'Running' : run.state === 'done' ? formatRows(run.value.rows.length) : ''}
      </div>
      {run.state === 'failed' && <ErrorNote error={run.error} />}
      {run.state === 'idle' && (
        <Empty title="No answer yet">
          {missing.length === 0 ? 'Press Run.' : `Fill in ${missing.join(' and ')} above, and press Run.`}
        </Empty>
      )}
      {run.state === 'running' && answer === undefined && <p className="muted">Running…</p>}
      {answer !== undefined && (
        <div className={run.state === 'running' ? 'answer is-busy' : 'answer'}>
          <Views {...{ endpoint, values, answer, url, onChange }} />
          <Downloads {...{ endpoint, values, answer }} />
        </div>
      )}
    </Panel>
  );
}

const CACHE: Readonly<Record<CacheState, readonly [string, Tone]>> = {
  hit: ['cache hit', 'ok'],
  miss: ['cache miss', 'neutral'],
  collapsed: ['collapsed: shared query', 'neutral'],
  stale: ['stale: engine unavailable', 'warn'],
  bypass: ['not cached', 'neutral'],
};

function Meta({ answer }: { readonly answer: Answer }) {
  const [label, tone] = CACHE[answer.cache];
  return (
    <ul className="meta small number" aria-label="About this answer">
      <li>
        <Tag tone={tone}>{label}</Tag>
      </li>
      {answer.cache !== 'bypass' && <li>{formatSeconds(answer.ageSeconds)} old</li>}
      <li>{formatRows(answer.rows.length)}</li>
      <li>{formatMs(answer.engineMs)} in the engine</li>
      <li>{formatMs(answer.ms)} in all</li>
      <li>{formatBytes(answer.bytes)}</li>
    </ul>
  );
}

interface ViewsProps extends Pick<AnswerPanelProps, 'endpoint' | 'values' | 'url' | 'onChange'> {
  readonly answer: Answer;
}

function Views({ endpoint, values, answer, url, onChange }: ViewsProps) {
  const { rows, atMs } = answer;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `values` as they were for this answer, even while the next one is computed
  const drawn = useMemo(
    () => ({
      columns: endpoint.columns,
      charts: chartsOf(endpoint, rows),
      times: findTimes(endpoint, rows),
      range: findAnswerRange(endpoint, values, atMs),
      linesOf: (span: Span, search?: string) => linesPath(endpoint, values, { span, search }),
      noLines: whyNoLines(endpoint, values),
    }),
    [endpoint, answer],
  );
  return <AnswerViews {...{ rows, drawn }} view={url.view} onView={(view) => onChange({ view })} />;
}

type DownloadsProps = Pick<ViewsProps, 'endpoint' | 'values' | 'answer'>;

// Only programs read those, which ask for them by `format=` or `Accept`.
const OF_PROGRAMS = ['arrow', 'parquet'];

/** Saves the answer as a file in each format that people read, none if `format` is a parameter of the endpoint; leads to its lines. */
function Downloads({ endpoint, values, answer }: DownloadsProps) {
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
      <div className="downloads small">
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
