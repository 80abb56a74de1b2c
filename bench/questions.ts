/** What an endpoint is asked. */
export interface Question {
  readonly endpoint: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** A kind of question, asked of one project after the other. */
export interface QuestionKind {
  readonly name: string;
  readonly question: (project: string) => Question;
  /** What the median is to stay below over HTTP with 100 M rows, ms. */
  readonly belowMs?: number;
  /**
   * How many times longer the median may take with more rows: a number, or `rows`, as many times as there are more rows,
   * where an answer is computed from all rows of a project in a range.
   */
  readonly growth: number | 'rows';
}

function stats(interval: string, belowMs: number): QuestionKind {
  const endpoint = 'functions.invocation-stats';
  const question = (project: string) => ({ endpoint, parameters: { project, interval } });
  return { name: `${endpoint} ${interval}`, question, belowMs, growth: 'rows' };
}

function usage(interval: string, belowMs: number): QuestionKind {
  const endpoint = 'usage.api-counts';
  const question = (project: string) => ({ endpoint, parameters: { project, interval } });
  return { name: `${endpoint} ${interval}`, question, belowMs, growth: 'rows' };
}

/** Every endpoint, in the shape in which it is asked for most and in the one that costs most. */
export const QUESTION_KINDS: readonly QuestionKind[] = [
  stats('1day', 60),
  stats('7day', 250),
  {
    name: 'logs.all PRO',
    question: (project) => ({ endpoint: 'logs.all', parameters: { project, project_tier: 'PRO' } }),
    belowMs: 15,
    growth: 1.5,
  },
  usage('hourly', 50),
  usage('daily', 300),
];

export function pathOf({ endpoint, parameters }: Question): string {
  return `/api/endpoints/query/${endpoint}?${new URLSearchParams(parameters)}`;
}
