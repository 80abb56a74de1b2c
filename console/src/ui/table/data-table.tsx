import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useMemo, useRef, useState } from 'react';
import type { EndpointView } from '../../../../src/management/view.ts';
import { formatJson, type Row } from '../../api/answer.ts';
import { showText } from '../../format/log-text.ts';
import { ownMember } from '../../format/own.ts';
import { formatTimeMs, type Zone } from '../../format/time.ts';
import { toSeconds } from '../chart/answer-range.ts';
import './data-table.css';

interface DataColumn {
  readonly id: string;
  /** The value to sort by. */
  readonly value: (row: Row) => string | number | null;
  /** The displayed content; by default the value. */
  readonly cell?: (row: Row) => ReactNode;
  readonly numeric?: boolean;
}

interface DataTableProps {
  readonly caption: string;
  readonly rows: readonly Row[];
  readonly columns: readonly DataColumn[];
}

const ROW_PX = 33;

/** A virtual table of an answer's rows; a click on a header sorts them: up, down, then as they came. */
export function DataTable({ caption, rows, columns }: DataTableProps) {
  const scroll = useRef<HTMLElement>(null);
  const [order, setOrder] = useState<Order>();
  const sorted = useMemo(() => sortRows(rows, columns, order), [rows, columns, order]);
  const virtual = useVirtualizer({
    count: sorted.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const before = items[0]?.start ?? 0;
  const after = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <section className="data-table" ref={scroll} tabIndex={0} aria-label={caption}>
      <table>
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ id, numeric = false }) => {
              const is = order?.id === id ? order.is : 'none';
              return (
                <th key={id} scope="col" className={numeric ? 'numeric' : ''} aria-sort={is}>
                  <button type="button" onClick={() => setOrder(NEXT[is] && { id, is: NEXT[is] })}>
                    {id}
                    <span aria-hidden="true">{MARKS[is]}</span>
                  </button>
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {before > 0 && <Spacer height={before} span={columns.length} />}
          {items.map((item) => {
            const row = sorted[item.index];
            if (row === undefined) return null;
            return (
              <tr key={item.key} data-index={item.index} ref={virtual.measureElement}>
                {columns.map(({ id, numeric = false, cell, value }) => (
                  <td key={id} className={numeric ? 'numeric' : ''}>
                    {cell?.(row) ?? toShown(value(row)) ?? '–'}
                  </td>
                ))}
              </tr>
            );
          })}
          {after > 0 && <Spacer height={after} span={columns.length} />}
        </tbody>
      </table>
    </section>
  );
}

interface Order {
  /** Id of a column. */
  readonly id: string;
  readonly is: 'ascending' | 'descending';
}

const NEXT = { none: 'ascending', ascending: 'descending', descending: undefined } as const;
const MARKS = { none: '', ascending: ' ↑', descending: ' ↓' } as const;

/** Rows without a value come last, whatever the order. */
function sortRows(
  rows: readonly Row[],
  columns: readonly DataColumn[],
  order: Order | undefined,
): readonly Row[] {
  const column = columns.find(({ id }) => id === order?.id);
  if (column === undefined) return rows;
  const sign = order?.is === 'descending' ? -1 : 1;
  const keyed = rows.map((row) => ({ row, key: column.value(row) }));
  return keyed
    .sort(({ key: a }, { key: b }) => {
      if (a === null || b === null) return Number(a === null) - Number(b === null);
      return a === b ? 0 : a < b ? -sign : sign;
    })
    .map(({ row }) => row);
}

function toShown(value: string | number | null): string | number | null {
  return typeof value === 'string' ? showText(value) : value;
}

function Spacer({ height, span }: { readonly height: number; readonly span: number }) {
  return (
    <tr className="data-table-spacer">
      <td colSpan={span} style={{ height }} />
    </tr>
  );
}

/** The table's columns. @param times names of columns of times, which are shown in the zone */
export function toColumns(
  columns: EndpointView['columns'],
  { zone, times }: { readonly zone: Zone; readonly times: ReadonlySet<string> },
): DataColumn[] {
  return columns.map(({ name, type }) => {
    const isTime = times.has(name);
    return {
      id: name,
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
