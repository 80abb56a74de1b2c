/** The parameters of a request. */
export interface Question {
  readonly endpoint: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Goals for a median by rows in the store; other sizes have none. */
export type GoalsByRows = Readonly<Record<number, number>>;

/** A kind of question, asked for one project after another. */
export interface QuestionKind {
  readonly name: string;
  readonly question: (project: string) => Question;
  /** Over HTTP, ms. */
  readonly belowMs: GoalsByRows;
  /** As a multiple of `COUNT_KIND` over HTTP. */
  readonly belowCounts?: GoalsByRows;
  /**
   * The allowed growth of the median with more rows: a factor, or `rows`, the factor of the rows,
   * if an answer is computed from all rows of a project in a range.
   */
  readonly growth: number | 'rows';
  /** The same beyond 100 M rows; by default `growth`. */
  readonly growthBeyond?: number;
}

const [MILLION, TEN_MILLION, HUNDRED_MILLION] = [1_000_000, 10_000_000, 100_000_000];
const BESIDE_COUNT = { belowCounts: { [MILLION]: 1.6 } };

/** Goals at 1 M, 10 M and 100 M rows. */
function atSizes(million: number, ten: number, hundred: number): GoalsByRows {
  return { [MILLION]: million, [TEN_MILLION]: ten, [HUNDRED_MILLION]: hundred };
}

function stats(interval: string, belowMs: GoalsByRows, rest: Partial<QuestionKind> = {}): QuestionKind {
  const endpoint = 'functions.invocation-stats';
  const question = (project: string) => ({ endpoint, parameters: { project, interval } });
  const growth = { growth: 1.2, growthBeyond: 1.5 };
  return { name: `${endpoint} ${interval}`, question, belowMs, ...growth, ...rest };
}

function usage(interval: string, belowMs: GoalsByRows, rest: Partial<QuestionKind> = {}): QuestionKind {
  const endpoint = 'usage.api-counts';
  const question = (project: string) => ({ endpoint, parameters: { project, interval } });
  return { name: `${endpoint} ${interval}`, question, belowMs, growth: 'rows', ...rest };
}

/** Every endpoint, with its most frequent and its most expensive parameters. */
export const QUESTION_KINDS: readonly QuestionKind[] = [
  stats('1day', atSizes(9, 7.8, 60), BESIDE_COUNT),
  stats('7day', atSizes(10, 10.1, 250)),
  {
    name: 'logs.all PRO',
    question: (project) => ({ endpoint: 'logs.all', parameters: { project, project_tier: 'PRO' } }),
    belowMs: atSizes(7, 8, 8),
    growth: 1.5,
    ...BESIDE_COUNT,
  },
  usage('hourly', atSizes(6, 8, 50), BESIDE_COUNT),
  usage('daily', atSizes(12, 25, 300)),
];

/** The least query: what service and engine add to any. */
export const ONE_KIND: QuestionKind = {
  name: 'SELECT 1',
  question: () => ({ endpoint: 'bench.one', parameters: {} }),
  belowMs: atSizes(2.2, 2.2, 2.2),
  growth: 1.5,
};

/** The least query over a table. */
export const COUNT_KIND: QuestionKind = {
  name: 'a count of one project and hour',
  question: (project) => ({ endpoint: 'bench.count', parameters: { project } }),
  belowMs: {},
  growth: 1.5,
};

/** The goal of a size; empty without one. */
export function goalAt(below: GoalsByRows = {}, rows: number): { goal?: { below: number } } {
  const goal = below[rows];
  return goal === undefined ? {} : { goal: { below: goal } };
}

/** The allowed growth up to a size. */
export function growthUpTo({ growth, growthBeyond }: QuestionKind, rows: number): number | 'rows' {
  return rows > HUNDRED_MILLION ? (growthBeyond ?? growth) : growth;
}

export function pathOf({ endpoint, parameters }: Question): string {
  return `/api/endpoints/query/${endpoint}?${new URLSearchParams(parameters)}`;
}
