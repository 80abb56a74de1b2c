import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ApiError } from '../../api/client.ts';
import { useClient } from '../../api/queries.ts';
import { withQuery } from '../../format/values.ts';
import { Button, Empty, ErrorNote, Panel, Reading } from '../page-part.tsx';
import './panel-table.css';

type Cell<Row> = (row: Row) => ReactNode;

interface Styled<Row> {
  readonly className: string;
  readonly cell: Cell<Row>;
}

/** The cells of a row, by the headings of their columns; a column may have an empty heading. */
export type TableColumns<Row> = Readonly<Record<string, Cell<Row> | Styled<Row>>>;

export function styled<Row>(className: string, cell: Cell<Row>): Styled<Row> {
  return { className, cell };
}

export function numeric<Row>(cell: Cell<Row>): Styled<Row> {
  return styled(NUMERIC, cell);
}

const NUMERIC = 'numeric';

export interface RowTableProps<Row> {
  readonly title: string;
  readonly actions?: ReactNode;
  readonly below?: ReactNode;
  /** undefined: they are being read. */
  readonly rows: readonly Row[] | undefined;
  readonly error?: ApiError | null | undefined;
  /** What is said if there are none. */
  readonly empty?: readonly [title: string, text: ReactNode];
  /** The first one says what a row is about. */
  readonly columns: TableColumns<Row>;
  readonly keyOf: (row: Row) => string | number;
  readonly rowClass?: string;
}

/** A short table of equal rows; its panel also says that these are being read, cannot be read, or that there are none. */
export function RowTable<Row>(props: RowTableProps<Row>) {
  const { title, actions, below, rows, error, empty, columns, keyOf, rowClass } = props;
  const cells = Object.entries(columns).map(([name, column]) =>
    typeof column === 'function' ? { name, cell: column, className: '' } : { name, ...column },
  );
  const [first, ...others] = cells;
  if (rows === undefined || (rows.length === 0 && empty !== undefined))
    return (
      <Panel {...{ title, actions }}>
        {(error != null || rows === undefined) && <Reading error={error} />}
        {rows !== undefined && empty !== undefined && <Empty title={empty[0]}>{empty[1]}</Empty>}
      </Panel>
    );
  return (
    <Panel {...{ title, actions }} flush>
      <div className="panel-table">
        <table>
          <thead>
            <tr>
              {cells.map(({ name, className }) => (
                <th key={name} scope="col" className={className === NUMERIC ? NUMERIC : ''}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={keyOf(row)} className={rowClass}>
                <th scope="row" className={first?.className}>
                  {first?.cell(row)}
                </th>
                {others.map(({ name, className, cell }) => (
                  <td key={name} data-label={name} className={className}>
                    {cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {below}
      {error != null && <ErrorNote error={error} />}
    </Panel>
  );
}

/** Reads rows by pages of `size`, newest first: `before` is the id of the last one. @param older label of a button */
export function usePages<Row extends { readonly id: string | number }>(
  path: string,
  { size, older, parameters = {} }: { size: number; older: string; parameters?: Record<string, string> },
) {
  const client = useClient();
  const { data, error, isFetching, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['pages', path, size, parameters],
    queryFn: async ({ pageParam: before, signal }) => {
      const page = { ...parameters, limit: String(size), before };
      const { result } = await client.call<{ result: Row[] }>(withQuery(path, page), ['result'], { signal });
      return result;
    },
    initialPageParam: undefined as string | undefined, // the first page has no bound
    getNextPageParam: (page) => (page.length < size ? undefined : String(page.at(-1)?.id)),
  });
  const below = hasNextPage && (
    <div className="load-more">
      <Button disabled={isFetching} onClick={() => void fetchNextPage()}>
        {isFetching ? 'Loading…' : older}
      </Button>
    </div>
  );
  return { rows: data?.pages.flat(), error, below };
}
