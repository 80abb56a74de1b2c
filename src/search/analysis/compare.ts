import type { ResultColumn } from '../../definitions/endpoint.ts';
import type { Source, SourceColumn } from '../../definitions/source.ts';
import { TailraceError } from '../../errors.ts';
import { invalidParameters, rejectParameter } from '../../query/parameters.ts';
import { verifyCondition, writeCondition } from '../condition.ts';
import { fieldOf, findColumn, pathOf, type SearchFields } from '../field.ts';
import { EVERYTHING, listNamed, parseSearch, type SearchField, type SearchTree } from '../parse.ts';
import {
  chooseSample,
  countEvents,
  isLevel,
  type PartRequest,
  type PlannedPart,
  printShare,
  readLimit,
  type SearchScope,
  writeArms,
  writeSample,
} from '../part.ts';
import { NAME_OF_PATH, selectPairs, writePairs, writePath } from './fields.ts';

const AGAINST_PARAMETER = 'against';
// Most events that are read of each of the two sets.
const ROWS_MAX = 16_000;
const ROWS_DEFAULT = 50;
/** Fields that are compared: those that most events have. */
const FIELDS_MAX = 60;
/** A field with more values is left out if they hardly repeat: each would say something about a few events only. */
const VALUES_FEW = 20;

const COMPARE_COLUMNS: readonly ResultColumn[] = [
  { name: 'field', type: 'string', description: 'Name of the field, as a search names it.' },
  { name: 'value', type: 'string', description: 'One of its values.' },
  { name: 'count', type: 'integer', description: 'Events with the value among those that match `q`.' },
  { name: 'share', type: 'number', description: 'Share of them, 0 to 1.' },
  { name: 'against_count', type: 'integer', description: 'Events with the value among the others.' },
  { name: 'against_share', type: 'number', description: 'Share of them, 0 to 1.' },
  { name: 'score', type: 'number', description: 'How much the value tells the two apart, 0 to 1.' },
];

/** Writes the condition of the events of one set. */
type WriteSet = (fields: SearchFields) => string;

/** Compares the events that match `q` with those that match `against`, value by value. */
export function planCompare({ scope, values, clausesMax }: PartRequest): PlannedPart {
  const { tree } = scope;
  if (tree === EVERYTHING)
    throw rejectParameter('q', 'is required with part=compare: the events to explain, such as level:error');
  const against = parseAgainst(values[AGAINST_PARAMETER] ?? '', clausesMax);
  const size = readLimit(values, ROWS_DEFAULT);
  const isRest = against === EVERYTHING;
  const trees: readonly SearchTree[] = [tree, isRest ? { kind: 'not', item: tree } : against];
  const sets = trees.map((one) => (fields: SearchFields) => `ifNull(${writeCondition(one, fields)}, false)`);
  const related = trees.flatMap(listNamed).flatMap((field) => listRelated(scope.sources, field));
  const all: SearchScope = { ...scope, tree: EVERYTHING };
  return {
    columns: COMPARE_COLUMNS,
    maxRows: size,
    async prepare(ask) {
      const counts = sets.map((write) => (fields: SearchFields) => `countIf(${write(fields)})`);
      const [own = 0, others = 0] = await countEvents(ask, all, counts);
      const samples = [own, others].map((events) => chooseSample(events, ROWS_MAX));
      const [ofOwn = 1, ofOthers = 1] = samples;
      const share = (own / ofOwn + others / ofOthers) / (own + others);
      return {
        writeSelect: () => writeScores(writeEvents(all, sets, samples), related, size),
        sampledShare: own + others === 0 ? undefined : printShare(share),
        hint: describeEmpty(own, others, isRest),
      };
    },
  };
}

/** @throws TailraceError `invalid_parameter` */
function parseAgainst(text: string, clausesMax: number): SearchTree {
  try {
    const tree = parseSearch(text, clausesMax);
    verifyCondition(tree);
    return tree;
  } catch (error) {
    if (!(error instanceof TailraceError) || error.errors.length === 0) throw error;
    throw invalidParameters(error.errors.map((one) => ({ ...one, parameter: AGAINST_PARAMETER })));
  }
}

function describeEmpty(own: number, others: number, isRest: boolean): string | undefined {
  if (own === 0) return 'no event of the range matches q, so there is nothing to explain';
  if (others > 0) return undefined;
  return isRest
    ? 'every event of the range matches q, so there is nothing to compare with; name it in ' +
        '"against", or choose a longer range'
    : 'no event of the range matches "against", so there is nothing to compare with';
}

/** Writes the fields of the events that are in one of the sets, or in both. */
function writeEvents(scope: SearchScope, sets: readonly WriteSet[], samples: readonly number[]): string {
  return writeArms(scope, {
    condition: (fields) => {
      sets.forEach((write, i) => {
        const sampled = writeSample(samples[i] ?? 1);
        fields.define(`A${i}`, [sampled, write(fields)].filter(Boolean).join(' AND '));
      });
      return '(A0 OR A1)';
    },
    select: (fields, source) => `${selectPairs(source, fields)}, A0 AS a, A1 AS b`,
  });
}

/**
 * Scores each value by the Jensen-Shannon divergence, in bits, between its presence in the two sets: as much as is
 * learnt, on average, about the set of an event from whether it has the value, if both sets were equally large. Half an
 * event is added to each count, so that few events prove little.
 */
function writeScores(arms: string, related: readonly SearchField[], size: number): string {
  const named = new Set(related.map(writePath));
  const isOther = named.size === 0 ? '' : `path NOT IN (${[...named].join(', ')}) AND `;
  const isSource = `path = ${writePath(['source'])}`;
  const counted =
    'SELECT path, value, toInt64(countIf(a)) AS own, toInt64(countIf(b)) AS other FROM ' +
    `(${writePairs(arms, ', a, b')}) GROUP BY path, value`;
  const totals = `SELECT *, count() OVER (PARTITION BY path) AS values, sum(own + other) OVER (PARTITION BY path) AS held,
  sumIf(own, ${isSource}) OVER () AS owns, sumIf(other, ${isSource}) OVER () AS others FROM (${counted})`;
  const ranked = `SELECT *, dense_rank() OVER (ORDER BY held DESC, path) AS nth FROM (${totals})
WHERE ${isOther}owns > 0 AND others > 0 AND (values <= ${VALUES_FEW} OR values * 2 <= held)`;
  const scored =
    `SELECT *, (own + 0.5) / (owns + 1) AS x, (other + 0.5) / (others + 1) AS y FROM (${ranked}) ` +
    `WHERE nth <= ${FIELDS_MAX}`;
  const entropy = (share: string) =>
    `(-(${share}) * log2(${share}) - (1 - (${share})) * log2(1 - (${share})))`;
  return `SELECT ${NAME_OF_PATH} AS field, value, own AS count, round(own / owns, 6) AS share,
  other AS against_count, round(other / others, 6) AS against_share,
  round(greatest(${entropy('(x + y) / 2')} - (${entropy('x')} + ${entropy('y')}) / 2, 0), 6) AS score
FROM (${scored}) ORDER BY score DESC, x > y DESC, field, value LIMIT ${size}`;
}

/** Lists a field and those computed from it, or from which it is computed: one does not explain the other. */
function listRelated(sources: readonly Source[], field: SearchField): readonly SearchField[] {
  return [field, pathOf(field), ...sources.flatMap((source) => relatedIn(source, field))];
}

function relatedIn(source: Source, field: SearchField): readonly SearchField[] {
  const { level, columns } = source;
  const ofLevel = columns.filter(({ name }) => name === level?.column || name === level?.status);
  const own = isLevel(field) ? ofLevel : [findColumn(source, field)].filter((one) => one !== undefined);
  const related = columns.filter((other) => own.some((one) => one === other || areRelated(one, other)));
  return [...related.map(fieldOf), ...(own.some((one) => ofLevel.includes(one)) ? [['level'] as const] : [])];
}

function areRelated(one: SourceColumn, other: SourceColumn): boolean {
  const isFrom = (a: SourceColumn, b: SourceColumn) =>
    a.contains?.column === b.name || a.otherwise?.includes(b.name) === true;
  return isFrom(one, other) || isFrom(other, one);
}
