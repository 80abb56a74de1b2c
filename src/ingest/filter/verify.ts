import type { Redaction } from '../../definitions/event-filter.ts';
import type { Fault } from '../../definitions/fault.ts';
import type { Source } from '../../definitions/source.ts';
import { readYamlFile, type YamlPath } from '../../definitions/yaml-file.ts';
import { verifyCondition } from '../../search/condition.ts';
import { parseField, parseSearch } from '../../search/parse.ts';
import { messageOfFault } from '../../search/verify.ts';
import { createReplace } from '../../sql/text-matcher.ts';
import { CLAUSES_MAX } from './filter.ts';

/** Checks the searches, fields and patterns of `drop`, `sample` and `redact`. */
export async function verifyFilters(sources: readonly Source[]): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const source of sources)
    for (const [path, message] of findFaults(source)) {
      const yaml = await readYamlFile(source.file);
      faults.push(Array.isArray(yaml) ? { file: source.file, line: 1, message } : yaml.fault(path, message));
    }
  return faults;
}

function* findFaults(source: Source): Generator<readonly [YamlPath, string]> {
  const { filter } = source;
  if (filter === undefined) return;
  for (const [i, search] of filter.drop.entries()) {
    const message = findSearchFault(search);
    if (message !== undefined) yield [['drop', String(i)], `"drop" ${message}`];
  }
  const { unless, by } = filter.sample ?? {};
  const unlessFault = unless === undefined ? undefined : findSearchFault(unless);
  if (unlessFault !== undefined) yield [['sample', 'unless'], `"unless" of "sample" ${unlessFault}`];
  const byFault = by === undefined ? undefined : messageOfFault(() => parseField(by, 'by'));
  if (byFault !== undefined) yield [['sample', 'by'], `"by" of "sample" ${byFault}`];
  for (const [i, rule] of filter.redact.entries()) {
    const message = findRedactionFault(rule, source);
    if (message !== undefined) yield [['redact', String(i)], `"redact" ${message}`];
  }
}

function findSearchFault(search: string): string | undefined {
  return messageOfFault(() => {
    const tree = parseSearch(search, CLAUSES_MAX);
    if (tree !== undefined) verifyCondition(tree);
  });
}

function findRedactionFault(rule: Redaction, { projectPaths, idPaths = [] }: Source): string | undefined {
  if ('pattern' in rule) {
    const replace = createReplace(rule.pattern, rule.replacement);
    return typeof replace === 'string' ? `has a pattern that ${replace}` : undefined;
  }
  const kept = [['id'], ['timestamp'], ['metadata'], ...projectPaths, ...idPaths].map((path) =>
    path.join('.'),
  );
  const named = rule.paths.map((path) => path.join('.')).find((path) => kept.includes(path));
  if (named === undefined) return undefined;
  return `cannot replace ${named}, from which the id, the time, the project or all metadata of an event is read; name other fields`;
}
