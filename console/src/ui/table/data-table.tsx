import {
  createSortedRowModel,
  type RowData,
  rowSortingFeature,
  sortFn_basic,
  sortFn_text,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type RefObject, useEffect, useId, useMemo, useRef, useState } from 'react';
import type { EndpointView } from '../../../../src/management/view.ts';
import { formatJson, type Row } from '../../api/answer.ts';
import { showText } from '../../format/log-text.ts';
import { ownMember } from '../../format/own.ts';
import { formatTimeMs, type Zone } from '../../format/time.ts';
import { toSeconds } from '../chart/answer-range.ts';
import './data-table.css';

interface DataColumn<Row extends RowData> {
  readonly id: string;
  readonly header: string;
  /** The value to sort by. */
  readonly value: (row: Row) => string | number | null;
  /** The displayed content; by default the value. */
  readonly cell?: (row: Row) => ReactNode;
  readonly numeric?: boolean;
}

interface DataTableProps<Row extends RowData> {
  readonly caption: string;
  readonly rows: readonly Row[];
  readonly columns: readonly DataColumn<Row>[];
}

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: { basic: sortFn_basic, text: sortFn_text },
});

const ROW_PX = 33;

/** A virtual table of an answer's rows; a click on a header sorts them. */
export function DataTable<Row extends RowData>({ caption, rows, columns }: DataTableProps<Row>) {
  const scroll = useRef<HTMLElement>(null);
  const data = useMemo(() => [...rows], [rows]);
  const definitions = useMemo(
    () =>
      columns.map((column) => ({
        id: column.id,
        header: column.header,
        accessorFn: column.value,
        sortFn: 'basic' as const,
        sortUndefined: 'last' as const,
      })),
    [columns],
  );
  const table = useTable({ features, data, columns: definitions });
  const sorted = table.getRowModel().rows;
  const virtual = useVirtualizer({
    count: sorted.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const before = items[0]?.start ?? 0;
  const after = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  const headers = table.getHeaderGroups()[0]?.headers ?? [];
  const hidden = useHiddenColumns(scroll, columns);
  const note = useId();
  return (
    <div className={hidden > 0 ? 'data-table-frame is-more' : 'data-table-frame'}>
      <section className="data-table" ref={scroll} tabIndex={0} aria-label={caption} aria-describedby={note}>
        <table>
          <caption className="visually-hidden">{caption}</caption>
          <thead>
            <tr>
              {headers.map((header, i) => {
                const order = header.column.getIsSorted();
                return (
                  <th
                    key={header.id}
                    scope="col"
                    className={columns[i]?.numeric === true ? 'numeric' : ''}
                    aria-sort={order === false ? 'none' : order === 'asc' ? 'ascending' : 'descending'}
                  >
                    <button type="button" onClick={header.column.getToggleSortingHandler()}>
                      {columns[i]?.header}
                      <span aria-hidden="true">{order === false ? '' : order === 'asc' ? ' ↑' : ' ↓'}</span>
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
                <tr key={row.id} data-index={item.index} ref={virtual.measureElement}>
                  {columns.map((column) => (
                    <td key={column.id} className={column.numeric === true ? 'numeric' : ''}>
                      {column.cell?.(row.original) ?? toShown(column.value(row.original)) ?? '–'}
                    </td>
                  ))}
                </tr>
              );
            })}
            {after > 0 && <Spacer height={after} span={columns.length} />}
          </tbody>
        </table>
      </section>
      <p id={note} className="data-table-note small muted">
        {hidden > 0 && `${hidden} more ${hidden === 1 ? 'column' : 'columns'} to the right →`}
      </p>
    </div>
  );
}

function toShown(value: string | number | null): string | number | null {
  return typeof value === 'string' ? showText(value) : value;
}

/** Fills the space of the rows above or below the rendered ones. */
function Spacer({ height, span }: { readonly height: number; readonly span: number }) {
  return (
    <tr className="data-table-spacer">
      <td colSpan={span} style={{ height }} />
    </tr>
  );
}

/** The number of a table's columns that are not, or not wholly, to be seen until it is scrolled to the right. */
function useHiddenColumns(scroll: RefObject<HTMLElement | null>, columns: readonly unknown[]): number {
  const [hidden, setHidden] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other columns have other widths
  useEffect(() => {
    const element = scroll.current;
    if (element === null) return;
    const count = () => {
      const end = element.scrollLeft + element.clientWidth;
      const isHidden = (head: HTMLElement) => head.offsetLeft + head.offsetWidth > end + 1;
      setHidden([...element.querySelectorAll<HTMLElement>('thead th')].filter(isHidden).length);
    };
    const resized = new ResizeObserver(count);
    resized.observe(element);
    const table = element.querySelector('table');
    if (table !== null) resized.observe(table);
    element.addEventListener('scroll', count, { passive: true });
    return () => {
      resized.disconnect();
      element.removeEventListener('scroll', count);
    };
  }, [scroll, columns]);
  return hidden;
}

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
