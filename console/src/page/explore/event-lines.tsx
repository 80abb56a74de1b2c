import { useMemo } from 'react';
import { LinesPanel } from '../../ui/lines/lines-panel.tsx';
import { toggleColumn } from '../../ui/lines/term.ts';
import type { ExploreAddress } from './address.ts';
import { createLinksOf } from './links.ts';
import { NoLines } from './no-lines.tsx';
import { pathAround, pathOfTrace } from './paths.ts';
import type { useExplore } from './use-explore.ts';
import type { Fields } from './use-fields.ts';
import { FieldSummaries } from './views.tsx';

interface EventLinesProps {
  readonly address: ExploreAddress;
  readonly explored: ReturnType<typeof useExplore>;
  readonly fields: Fields;
  readonly onChange: (change: Partial<ExploreAddress>) => void;
  readonly onFilter: (term: string) => void;
}

/** The lines of a search, with its fields. */
export function EventLines({ address, explored, fields, onChange, onFilter }: EventLinesProps) {
  const { columns, live, at } = address;
  const { search, source, lines, kept } = explored;
  const linksOf = useMemo(() => createLinksOf(fields.sources), [fields.sources]);
  const ofFields = {
    columns,
    fields: fields.fields,
    valuesOf: fields.valuesOf,
    onFilter,
    onBy: (by: string) => onChange({ by }),
    onColumn: (field: string) => onChange({ columns: toggleColumn(columns, field) }),
  };
  return (
    <LinesPanel
      label="Events"
      {...{ source, lines, live, at, linksOf }}
      {...ofFields}
      none={<NoLines address={address} lines={lines} onChange={onChange} />}
      onLive={(next) => onChange({ live: next, ...(next && toNow(address)) })}
      place={kept.place}
      onPlace={kept.keep}
      pathAround={(line) => pathAround(address, line)}
      pathOfTrace={(line, field) => pathOfTrace(address, line, field)}
      fieldList={<FieldSummaries search={search} {...ofFields} />}
    />
  );
}

/** A live list ends now. */
function toNow({ range }: ExploreAddress): Partial<ExploreAddress> {
  return { range: range ?? '1h', from: undefined, until: undefined };
}
