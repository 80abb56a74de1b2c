import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type CSSProperties, type ReactNode, useMemo } from 'react';
import { Link } from 'wouter';
import type { PanelView } from '../../../../src/management/dashboard-view.ts';
import type { EndpointView } from '../../../../src/management/view.ts';
import { type Answer, toAnswer } from '../../api/answer.ts';
import { useClient } from '../../api/queries.ts';
import { type Values, withQuery } from '../../format/values.ts';
import { toDrawing } from '../../ui/chart/draw.ts';
import { toDrawable } from '../../ui/chart/drawable.ts';
import { PlainDrawing } from '../../ui/chart/drawings.tsx';
import { LinkedChart } from '../../ui/chart/linked-charts.tsx';
import { toPanelChart } from '../../ui/chart/rule.ts';
import { lineLinks, queryPath } from '../endpoint/lines.ts';
import { findPanelValues, type PageState } from './values.ts';

interface PanelProps {
  readonly panel: PanelView;
  /** undefined: the key may not know of it, or it was removed. */
  readonly endpoint: EndpointView | undefined;
  readonly heightPx: number;
  readonly page: PageState;
}

/** One panel: a text, or an endpoint with its answer. A failure stays in its place. */
export function DashboardPanel({ panel, endpoint, heightPx, page }: PanelProps) {
  if (panel.show === 'text') return <TextPanel panel={panel} />;
  if (endpoint === undefined || panel.missing)
    return (
      <Frame title={panel.title ?? panel.endpoint ?? ''} minHeightPx={heightPx}>
        <Note tone="warn">
          The endpoint <code>{panel.endpoint}</code> was removed. Add it again, or take this panel out of the
          file.
        </Note>
      </Frame>
    );
  return <EndpointPanel {...{ panel, endpoint, heightPx, page }} />;
}

function TextPanel({ panel: { title, text } }: Pick<PanelProps, 'panel'>) {
  const paragraphs = (text ?? '').split(/\n\s*\n/).filter((one) => one.trim() !== '');
  return (
    <Frame title={title ?? ''} minHeightPx={0}>
      <div className="dashboard-text">
        {paragraphs.map((one, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: paragraphs may be equal
          <p key={i}>{one.trim()}</p>
        ))}
      </div>
    </Frame>
  );
}

function EndpointPanel(props: PanelProps & { readonly endpoint: EndpointView }) {
  const { panel, endpoint, heightPx, page } = props;
  const { values, missing } = useMemo(() => findPanelValues(endpoint, panel, page), [endpoint, panel, page]);
  const path = missing.length === 0 ? queryPath(endpoint.name, values) : undefined;
  const { answer, error } = useAnswer(path, page.refreshSeconds);
  const drawn = useMemo(
    () => answer && draw(endpoint, panel, values, answer),
    [endpoint, panel, values, answer],
  );
  return (
    <Frame
      title={panel.title ?? drawn?.drawing.title ?? endpoint.name}
      minHeightPx={heightPx}
      href={withQuery(`/endpoints/${endpoint.name}`, values)}
    >
      {missing.length > 0 && <Note>Choose {missing.join(' and ')} above.</Note>}
      {error !== undefined && error.code !== 'endpoint_not_found' && <Note tone="bad">{error.message}</Note>}
      {error?.code === 'endpoint_not_found' && (
        <Note tone="warn">This endpoint was removed since the page was opened.</Note>
      )}
      {missing.length === 0 && error === undefined && drawn === undefined && (
        <Note>
          <span role="status">Reading…</span>
        </Note>
      )}
      {drawn?.rows.length === 0 && <Note>No rows match.</Note>}
      {drawn !== undefined && drawn.rows.length > 0 && <Drawn {...{ drawn, heightPx }} />}
    </Frame>
  );
}

function Drawn({ drawn, heightPx }: Readonly<{ drawn: ReturnType<typeof draw>; heightPx: number }>) {
  const { drawing, linesOf, noLines } = drawn;
  if (drawing.kind === 'time')
    return <LinkedChart chart={drawing.chart} hidesTitle {...{ heightPx, linesOf, noLines }} />;
  return (
    <div
      className={drawing.kind === 'table' ? 'dashboard-table' : ''}
      style={{ '--height': `${heightPx}px` } as CSSProperties}
    >
      <PlainDrawing {...{ drawing, drawn }} />
    </div>
  );
}

function draw(endpoint: EndpointView, panel: PanelView, values: Values, answer: Answer) {
  const drawable = toDrawable(endpoint, values, answer);
  const drawing = toDrawing(toPanelChart(drawable.charts, panel), drawable);
  return { ...drawable, drawing, ...lineLinks(endpoint, values) };
}

function Note({ tone, children }: { readonly tone?: 'warn' | 'bad'; readonly children: ReactNode }) {
  return (
    <p
      className={tone === undefined ? 'dashboard-note muted' : `dashboard-note tone-${tone}`}
      role={tone && 'alert'}
    >
      {children}
    </p>
  );
}

function Frame(props: Readonly<{ title: string; minHeightPx: number; href?: string; children: ReactNode }>) {
  const { title, minHeightPx, href, children } = props;
  return (
    <section className="panel dashboard-panel" aria-label={title || 'Text'}>
      {title !== '' && (
        <div className="dashboard-panel-head">
          <h2>{title}</h2>
          {href !== undefined && (
            <Link className="small" href={href} aria-label={`Open the endpoint of ${title}`}>
              Open
            </Link>
          )}
        </div>
      )}
      <div className="dashboard-panel-body" style={{ minHeight: `${minHeightPx}px` }}>
        {children}
      </div>
    </section>
  );
}

/** Reads the answer of a panel by its ETag: an equal one stays the same object and is not drawn; a failed read keeps it. */
function useAnswer(path: string | undefined, refreshSeconds: number | undefined) {
  const client = useClient();
  const cache = useQueryClient();
  const queryKey = ['dashboard', path] as const;
  const { data, error } = useQuery({
    queryKey,
    enabled: path !== undefined,
    async queryFn({ signal }) {
      const before = cache.getQueryData<Answer>(queryKey);
      const headers = before?.etag === undefined ? {} : { 'if-none-match': before.etag };
      const raw = await client.callRaw(path ?? '', { signal, headers });
      return raw.status === 304 && before !== undefined ? before : toAnswer(raw);
    },
    structuralSharing: false, // answers are large, and may have bigints
    ...(refreshSeconds !== undefined && { refetchInterval: refreshSeconds * 1000 }),
  });
  return { answer: data, error: error ?? undefined };
}
