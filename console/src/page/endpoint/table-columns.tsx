import type { EndpointView } from '../../../../src/management/view.ts';
import { formatJson, type Row } from '../../api/answer.ts';
import { ownMember } from '../../format/own.ts';
import { formatTimeMs, type Zone } from '../../format/time.ts';
import type { DataColumn } from '../../ui/table/data-table.tsx';
import { toSeconds } from './shape.ts';

/** The table's columns; times are shown in the chosen zone. */
export function toColumns(columns: EndpointView['columns'], zone: Zone): DataColumn<Row>[] {
  return columns.map(({ name, type }) => {
    const isTime = name === 'timestamp' && type !== 'json';
    return {
      id: name,
      header: name,
      numeric: !isTime && (type === 'integer' || type === 'number'),
      value: (row) => toSortable(ownMember(row, name)),
      ...(isTime && { cell: (row) => formatBucket(toSeconds(ownMember(row, name)) * 1000, zone) }),
      ...(type === 'number' && { cell: (row) => formatNumber(ownMember(row, name)) }),
    };
  });
}

/** Omits a fraction of zero, as in starts of time buckets. */
function formatBucket(ms: number, zone: Zone): string {
  return formatTimeMs(ms, zone).replace(/\.000$/, '');
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
