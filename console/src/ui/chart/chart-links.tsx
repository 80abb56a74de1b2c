import { createContext, type ReactNode, use, useMemo, useState } from 'react';
import type { Span } from '../../format/time-axis.ts';

/** What several charts share; all in seconds since the epoch, since their spans may differ. */
export interface ChartLinks {
  /** Where the cursor is; null: nowhere. */
  readonly at: number | null;
  readonly setAt: (at: number | null) => void;
  readonly zoom: Span | undefined;
  readonly setZoom: (zoom: Span | undefined) => void;
  readonly selected: SelectedSpan | undefined;
  readonly setSelected: (selected: SelectedSpan | undefined) => void;
}

export interface SelectedSpan extends Span {
  /** Id of the chart in which it was selected. */
  readonly chart: string;
  /** Whether the focus goes to what the selection offers. */
  readonly opens: boolean;
}

const LinksContext = createContext<ChartLinks | undefined>(undefined);

/** Charts below it have one cursor, selection and zoom. */
export function LinkCharts({ children }: { readonly children: ReactNode }) {
  const [at, setAt] = useState<number | null>(null);
  const [zoom, setZoom] = useState<Span>();
  const [selected, setSelected] = useState<SelectedSpan>();
  const links = useMemo(() => ({ at, setAt, zoom, setZoom, selected, setSelected }), [at, zoom, selected]);
  return <LinksContext value={links}>{children}</LinksContext>;
}

export function useChartLinks(): ChartLinks {
  const links = use(LinksContext);
  if (links === undefined) throw new Error('LinkCharts is not around this chart');
  return links;
}
