import type { EndpointFiles, RunReport } from '../../../../src/management/view.ts';
import type { Row } from '../../api/answer.ts';
import type { ApiError, Client } from '../../api/client.ts';
import type { Fault } from '../../ui/editor/fault.ts';

/** The two files of an endpoint. */
export interface Files {
  readonly definition: string;
  readonly sql: string;
}

/** Response of a run. */
export interface RunRows extends RunReport {
  readonly result: readonly Row[];
}

export interface Timed {
  /** Round trip. */
  readonly ms: number;
}

export type Answered = RunRows & Timed;

/** Faults of each file. */
export type FileFaults = Readonly<Record<keyof Files, readonly Fault[]>>;

export const NO_FAULTS: FileFaults = { definition: [], sql: [] };

export function toFaults(errors: ApiError['errors']): FileFaults {
  const of = (file: keyof Files) => errors.filter(({ parameter }) => parameter === file);
  return { definition: of('definition'), sql: of('sql') };
}

/** Reads the two files of an endpoint as they are now. @throws ApiError */
export function readFiles(client: Client, name: string, signal?: AbortSignal): Promise<EndpointFiles> {
  const path = `/api/workbench/endpoints/${encodeURIComponent(name)}`;
  return client.call<EndpointFiles>(path, ['definition', 'sql'], { signal });
}
