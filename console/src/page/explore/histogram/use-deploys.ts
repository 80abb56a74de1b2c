import type { SearchSource } from '../../../../../src/management/view.ts';
import type { Row } from '../../../api/answer.ts';
import { useAnalysis } from '../analysis/use-analysis.ts';
import { type Search, searchPath } from '../search/search.ts';

export interface Deploy {
  readonly key: string;
  /** ms since the epoch. */
  readonly ms: number;
  readonly text: string;
}

/** As many as a chart can show apart from each other. */
const DEPLOYS_MAX = '50';
const NONE: readonly Deploy[] = [];

/** The deployments in the range of a search, newest first: events of the source that the operator names for them. */
export function useDeploys(sources: readonly SearchSource[], search: Search): readonly Deploy[] {
  const source = sources.find(({ marks_deploys }) => marks_deploys)?.name;
  const { project } = search;
  const path =
    source === undefined
      ? undefined
      : searchPath({ q: '', source: [source], project }, search, { limit: DEPLOYS_MAX });
  return useAnalysis(path, toDeploy).rows ?? NONE;
}

function toDeploy(row: Row): Deploy {
  const { id, timestamp, event_message: text } = row;
  return { key: `${id} ${timestamp}`, ms: Number(timestamp) / 1_000, text: String(text).slice(0, 80) };
}
