import type { ReactNode } from 'react';
import { formatPercent } from '../../../format/number.ts';
import { ErrorNote } from '../../../ui/error-note.tsx';
import { Tag } from '../../../ui/tag.tsx';
import { faultOf } from '../search/search.ts';
import type { Analysis } from './use-analysis.ts';

interface AnalysisNoteProps {
  readonly analysis: Analysis<unknown>;
  /** `Grouping`, while nothing is there yet. */
  readonly doing: string;
  readonly none: ReactNode;
}

/** Says what an analysis lacks: that it still runs, failed, found nothing, or read a part of the events only. */
export function AnalysisNote({ analysis, doing, none }: AnalysisNoteProps) {
  const { rows, sampled, error, isReading } = analysis;
  if (error !== undefined) return faultOf(error) === undefined && <ErrorNote error={error} />;
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
