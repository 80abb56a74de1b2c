import type { EndpointView } from '../../../../src/management/view.ts';
import type { ApiError } from '../../api/client.ts';
import type { Table } from '../../ui/editor/completion.ts';
import type { Fault } from '../../ui/editor/fault.ts';

/** The two files of an endpoint. */
export interface Files {
  readonly definition: string;
  readonly sql: string;
}

/** `GET /api/workbench` */
export interface Workbench {
  readonly may_edit: boolean;
  readonly functions: readonly { readonly name: string }[];
  readonly tables: readonly Table[];
}

/** `GET /api/workbench/endpoints/:name` */
export interface StoredFiles extends Files {
  readonly name: string;
  readonly version: string;
  readonly may_edit: boolean;
}

export interface DescribedColumn {
  readonly name: string;
  readonly type: EndpointView['columns'][number]['type'];
}

/** `POST /api/workbench/check` */
export interface Checked {
  readonly parameters: EndpointView['parameters'];
  readonly columns: readonly DescribedColumn[];
  readonly errors: ApiError['errors'];
}

/** `POST /api/workbench/run`; its rows are `result`. */
export interface Answered {
  readonly result: readonly Readonly<Record<string, unknown>>[];
  readonly columns: readonly DescribedColumn[];
  readonly rows_read: number;
  readonly bytes_read: number;
  readonly engine_ms: number;
  readonly truncated: boolean;
}

/** `POST /api/workbench/save` */
export interface Saved {
  readonly name: string;
  readonly version: string;
  readonly tests: readonly {
    readonly name: string;
    readonly passed: boolean;
    readonly message?: string | null;
  }[];
}

/** Faults of each file. */
export type FileFaults = Readonly<Record<keyof Files, readonly Fault[]>>;

export const NO_FAULTS: FileFaults = { definition: [], sql: [] };

export function toFaults(errors: ApiError['errors']): FileFaults {
  const of = (file: keyof Files) => errors.filter(({ parameter }) => parameter === file);
  return { definition: of('definition'), sql: of('sql') };
}
