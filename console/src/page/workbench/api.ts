import type { EndpointFiles, RunReport } from '../../../../src/management/view.ts';
import type { Row } from '../../api/answer.ts';
import type { ApiError, Client } from '../../api/client.ts';
import type { Fault } from '../../ui/editor/mount.ts';

/** The two files of an endpoint. */
export interface Files {
  readonly definition: string;
  readonly sql: string;
}

export const PATHS: Readonly<Record<keyof Files, string>> = { sql: 'query.sql', definition: 'endpoint.yaml' };
export const FILES: readonly (keyof Files)[] = ['sql', 'definition'];

/** Response of a run. */
export interface RunRows extends RunReport {
  readonly result: readonly Row[];
}

/** `ms`: the round trip; `values`: those of the parameters. */
export type Answered = RunRows & { readonly ms: number; readonly values: Readonly<Record<string, string>> };

/** Faults of each file. */
export type FileFaults = Readonly<Record<keyof Files, readonly Fault[]>>;

export const NO_FAULTS: FileFaults = { definition: [], sql: [] };

export function toFaults(errors: ApiError['errors']): FileFaults {
  const of = (file: keyof Files) => errors.filter(({ parameter }) => parameter === file);
  return { definition: of('definition'), sql: of('sql') };
}

/** Definitions that the workbench saves: the part of their paths in the API. */
export type DefinitionKind = 'endpoints' | 'alerts' | 'dashboards';

/** Path of what a definition's files are now. */
export function filesPath(kind: DefinitionKind, name: string): string {
  return `/api/workbench/${kind}/${encodeURIComponent(name)}`;
}

/** Reads the two files of an endpoint as they are now. @throws ApiError */
export function readFiles(client: Client, name: string, signal?: AbortSignal): Promise<EndpointFiles> {
  return client.call<EndpointFiles>(filesPath('endpoints', name), ['definition', 'sql'], { signal });
}
