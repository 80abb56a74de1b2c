import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, useState } from 'react';
import type { EndpointView } from '../../../../src/management/view.ts';
import { formatJson, type Row } from '../../api/answer.ts';
import { formatTimeMs, showText, type Zone } from '../../format/show.ts';
import { ownMember } from '../../format/values.ts';
import { useZone } from '../../preference.ts';
import { toSeconds } from '../chart/drawable.ts';
import './data-table.css';

type Column = EndpointView['columns'][number];

interface DataTableProps {
  readonly caption: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column[];
  /** Names of columns of times, which are shown in the zone. */
  readonly times: ReadonlySet<string>;
}

const ROW_PX = 33;

/** A virtual table of an answer's rows; a click on a header sorts them: up, down, then as they came. */
export function DataTable({ caption, rows, columns, times }: DataTableProps) {
  const zone = useZone();
  const scroll = useRef<HTMLElement>(null);
  const [order, setOrder] = useState<Order>();
  const sorted = useMemo(() => sortRows(rows, order), [rows, order]);
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
            {columns.map((column) => {
              const { name } = column;
              const is = order?.name === name ? order.is : 'none';
              return (
                <th key={name} scope="col" className={classOf(column, times)} aria-sort={is}>
                  <button type="button" onClick={() => setOrder(NEXT[is] && { name, is: NEXT[is] })}>
                    {name}
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
                {columns.map((column) => (
                  <td key={column.name} className={classOf(column, times)}>
                    {toShown(ownMember(row, column.name), column, times.has(column.name) ? zone : undefined)}
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
  readonly name: string;
  readonly is: 'ascending' | 'descending';
}

const NEXT = { none: 'ascending', ascending: 'descending', descending: undefined } as const;
const MARKS = { none: '', ascending: ' ↑', descending: ' ↓' } as const;

/** Rows without a value come last, whatever the order. */
function sortRows(rows: readonly Row[], order: Order | undefined): readonly Row[] {
  if (order === undefined) return rows;
  const sign = order.is === 'descending' ? -1 : 1;
  const keyed = rows.map((row) => ({ row, key: toSortable(ownMember(row, order.name)) }));
  return keyed
    .sort(({ key: a }, { key: b }) => {
      if (a === null || b === null) return Number(a === null) - Number(b === null);
      return a === b ? 0 : a < b ? -sign : sign;
    })
    .map(({ row }) => row);
}

function classOf({ name, type }: Column, times: ReadonlySet<string>): string {
  return !times.has(name) && (type === 'integer' || type === 'number') ? 'numeric' : '';
}

/** @param zone of times */
function toShown(value: unknown, { type }: Column, zone: Zone | undefined): string | number {
  if (type === 'number' && typeof value === 'number') return DECIMALS.format(value);
  if (type !== 'number' && zone !== undefined) return formatBucket(value, zone);
  const plain = toSortable(value);
  return typeof plain === 'string' ? showText(plain) : (plain ?? '–');
}

function Spacer({ height, span }: { readonly height: number; readonly span: number }) {
  return (
    <tr className="data-table-spacer">
      <td colSpan={span} style={{ height }} />
    </tr>
  );
}

/** Omits a fraction of zero, as in starts of time buckets. A day is one in every zone. */
function formatBucket(value: unknown, zone: Zone): string {
  const seconds = toSeconds(value);
  if (Number.isNaN(seconds) || (typeof value === 'string' && !value.includes(':')))
    return String(value ?? '');
  return formatTimeMs(seconds * 1000, zone).replace(/\.000$/, '');
}

const DECIMALS = new Intl.NumberFormat('en', { maximumFractionDigits: 3 });

function toSortable(value: unknown): string | number | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? value : formatJson(value, 0);
}
