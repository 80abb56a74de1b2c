import { useMemo } from 'react';
import type { Row } from '../../../api/answer.ts';
import { formatPattern, formatTerm } from '../../../format/search-text.ts';
import { formatCount, formatPercent, formatTime, showText } from '../../../format/show.ts';
import { useZone } from '../../../preference.ts';
import { QuietButton, Tag } from '../../../ui/page-part.tsx';
import { useExploring } from '../exploring.ts';
import { exclude } from '../lines/line.ts';
import { searchPath, toBefore } from '../search.ts';
import { AnalysisNote, useAnalysis } from './use-analysis.tsx';
import './analysis.css';

const SHOWN = '200';
/** As many as the service lists: a pattern that is not among them counts as new. */
const KNOWN = '1000';

export function Patterns() {
  const { search } = useExploring();
  const found = useAnalysis(searchPath(search, search, { part: 'patterns', limit: SHOWN }), toPattern);
  const before = searchPath(search, toBefore(search), { part: 'patterns', limit: KNOWN });
  const earlier = useAnalysis(found.rows === undefined ? undefined : before, toPattern).rows;
  const known = useMemo(
    () => (earlier?.length ? new Set(earlier.map(({ pattern }) => pattern)) : undefined),
    [earlier],
  );
  const isNew = ({ pattern }: Pattern) => known !== undefined && !known.has(pattern);
  const rows = found.rows?.toSorted((a, b) => Number(isNew(b)) - Number(isNew(a)));
  return (
    <section className="panel analysis" aria-label="Patterns">
      <AnalysisNote
        analysis={found}
        doing="Grouping messages"
        none="No event matches, so there is no pattern."
      />
      <div className="analysis-scroll">
        <ol aria-label="Patterns, new ones first, then by frequency">
          {rows?.map((row) => (
            <PatternRow key={row.pattern} isNew={isNew(row)} row={row} />
          ))}
        </ol>
      </div>
    </section>
  );
}

function PatternRow({ row, isNew }: { readonly row: Pattern; readonly isNew: boolean }) {
  const { filter } = useExploring();
  const { pattern, count, share, sample } = row;
  const term = formatPattern(pattern);
  return (
    <li className="pattern">
      <span className="number">
        {formatCount(count)} <span className="muted">{formatPercent(share)}</span>
      </span>
      <code className="pattern-text">
        {isNew && (
          <Tag tone="accent">
            new<span className="visually-hidden">: not in the range before</span>
          </Tag>
        )}{' '}
        <Template text={showText(pattern) || '(empty)'} />
      </code>
      <SeenBar {...row} />
      <span className="pattern-actions">
        {term !== undefined && (
          <>
            <QuietButton aria-label={`Filter for ${pattern}`} onClick={() => filter(term)}>
              Filter
            </QuietButton>
            <QuietButton aria-label={`Exclude ${pattern}`} onClick={() => filter(exclude(term))}>
              Exclude
            </QuietButton>
          </>
        )}
        <QuietButton aria-label={`Example of ${pattern}`} onClick={() => filter(formatTerm('id', sample))}>
          Example
        </QuietButton>
      </span>
    </li>
  );
}

const PLACEHOLDER = /(<[^<>\s]{1,20}>)/;

/** A pattern whose varying parts differ from its text. */
function Template({ text }: { readonly text: string }) {
  return text.split(PLACEHOLDER).map((part, i) =>
    i % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text have no other identity
      <span key={i} className="pattern-varies">
        {part}
      </span>
    ) : (
      part
    ),
  );
}

/** Where in the range the pattern was seen first and last. */
function SeenBar({ firstMs, lastMs }: Pattern) {
  const zone = useZone();
  const { fromMs, untilMs } = useExploring().search;
  const at = (ms: number) => Math.max(0, Math.min(1, (ms - fromMs) / (untilMs - fromMs)));
  const [first, last] = [at(firstMs), at(lastMs)];
  const text = `${formatTime(firstMs, zone)} – ${formatTime(lastMs, zone).slice(11)}`;
  return (
    <span className="pattern-seen" title={`Seen ${text}`}>
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect className="pattern-range" width="100" height="8" rx="1" />
        <rect className="pattern-span" x={first * 100} width={Math.max(1, (last - first) * 100)} height="8" />
      </svg>
      <span className="small muted number">{text.slice(11)}</span>
    </span>
  );
}

type Pattern = ReturnType<typeof toPattern>;

function toPattern(row: Row) {
  return {
    pattern: String(row['pattern']),
    count: Number(row['count']),
    share: Number(row['share']),
    firstMs: Number(row['first']) / 1_000,
    lastMs: Number(row['last']) / 1_000,
    /** Id of an event. */
    sample: String(row['sample']),
  };
}
