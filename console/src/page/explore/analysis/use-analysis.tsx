import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { type Row, toAnswer } from '../../../api/answer.ts';
import { pause } from '../../../api/follow.ts';
import { useClient } from '../../../api/queries.ts';
import { formatPercent } from '../../../format/show.ts';
import { ErrorNote, QuietButton, Tag } from '../../../ui/page-part.tsx';
import { useExploring } from '../exploring.ts';
import { exclude } from '../lines/line.ts';
import { faultOf } from '../search.ts';

/**
 * Reads a part of a search in one answer, once `path` is wanted for `delayMs`.
 *
 * @param toRow a constant function
 * @returns rows, undefined before the first answer; those of before stay while the range moves on. `sampled` is the share of events
 *   that was read, 0 to 1; undefined: all
 */
export function useAnalysis<T extends object>(
  path: string | undefined,
  toRow: (row: Row) => T | undefined,
  delayMs = 0,
) {
  const client = useClient();
  const { data, error, isFetching } = useQuery({
    queryKey: [path],
    enabled: path !== undefined,
    async queryFn({ signal }) {
      if (delayMs > 0) await pause(delayMs, signal);
      const raw = await client.callRaw(path ?? '', { signal });
      const sampled = Number(raw.headers.get('x-sampled') ?? 1);
      const rows = toAnswer(raw).rows.flatMap((row) => toRow(row) ?? []);
      return { rows, sampled: sampled < 1 ? sampled : undefined };
    },
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return { rows: data?.rows, sampled: data?.sampled, error, isReading: isFetching };
}

interface AnalysisNoteProps {
  readonly analysis: ReturnType<typeof useAnalysis>;
  /** `Grouping`, while nothing is there yet. */
  readonly doing: string;
  readonly none: ReactNode;
}

/** Says what an analysis lacks: that it still runs, failed, found nothing, or read a part of the events only. */
export function AnalysisNote({ analysis, doing, none }: AnalysisNoteProps) {
  const { rows, sampled, error, isReading } = analysis;
  if (error !== null) return faultOf(error) === undefined && <ErrorNote error={error} />;
  return (
    <p className="analysis-note small muted" role="status">
      {isReading && `${doing}… `}
      {sampled !== undefined && (
        <>
          <Tag tone="warn">sample</Tag> of {formatPercent(sampled)} of the events; counts are estimates.
        </>
      )}
      {!isReading && rows?.length === 0 && none}
    </p>
  );
}

interface TermProps {
  readonly term: string;
  /** As a reader hears what is excluded. */
  readonly name: string;
  readonly title?: string;
  readonly children: ReactNode;
}

/** A click searches for a term, or for all other events. */
export function TermButtons({ term, name, title = `Filter for ${term}`, children }: TermProps) {
  const { filter } = useExploring();
  return (
    <>
      <button type="button" className="field-filter" title={title} onClick={() => filter(term)}>
        {children}
      </button>
      <QuietButton aria-label={`Exclude ${name}`} title="Exclude" onClick={() => filter(exclude(term))}>
        −
      </QuietButton>
    </>
  );
}
