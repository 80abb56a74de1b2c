import type { EndpointView } from '../../../../src/management/view.ts';
import { formatJson, type Row } from '../../api/answer.ts';
import { ownMember } from '../../format/own.ts';
import { formatTimeMs, type Zone } from '../../format/time.ts';
import { toSeconds } from '../chart/grid.ts';
import type { DataColumn } from './data-table.tsx';

/** The table's columns. @param times names of columns of times, which are shown in the zone */
export function toColumns(
  columns: EndpointView['columns'],
  { zone, times }: { readonly zone: Zone; readonly times: ReadonlySet<string> },
): DataColumn<Row>[] {
  return columns.map(({ name, type }) => {
    const isTime = times.has(name);
    return {
      id: name,
      header: name,
      numeric: !isTime && (type === 'integer' || type === 'number'),
      value: (row) => toSortable(ownMember(row, name)),
      ...(isTime && { cell: (row) => formatBucket(ownMember(row, name), zone) }),
      ...(type === 'number' && { cell: (row) => formatNumber(ownMember(row, name)) }),
    };
  });
}

/** Omits a fraction of zero, as in starts of time buckets. A day is one in every zone. */
function formatBucket(value: unknown, zone: Zone): string {
  const seconds = toSeconds(value);
  if (Number.isNaN(seconds) || (typeof value === 'string' && !value.includes(':')))
    return String(value ?? '');
  return formatTimeMs(seconds * 1000, zone).replace(/\.000$/, '');
}

const DECIMALS = new Intl.NumberFormat('en', { maximumFractionDigits: 3 });

function formatNumber(value: unknown): string | undefined {
  return typeof value === 'number' ? DECIMALS.format(value) : undefined;
}

function toSortable(value: unknown): string | number | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? value : formatJson(value, 0);
}
