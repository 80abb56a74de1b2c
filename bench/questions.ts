/** The parameters of a request. */
export interface Question {
  readonly endpoint: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** A kind of question, asked for one project after another. */
export interface QuestionKind {
  readonly name: string;
  readonly question: (project: string) => Question;
  /** The goal for the median over HTTP with 100 M rows, ms. */
  readonly belowMs?: number;
  /**
   * The allowed growth of the median with more rows: a factor, or `rows`, the factor of the rows,
   * if an answer is computed from all rows of a project in a range.
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

/** Every endpoint, with its most frequent and its most expensive parameters. */
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
