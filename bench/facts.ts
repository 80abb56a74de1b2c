import { readFileSync, writeFileSync } from 'node:fs';

/** A table of docs/performance.md: text, in the order of the page. */
export interface FactTable {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** What a version does, as `npm run bench -- report` measured it. */
export interface Facts {
  /** An abbreviated hash; it ends in `-dirty` if files had changed since. */
  readonly commit: string;
  /** YYYY-MM-DD. */
  readonly date: string;
  readonly processor: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly tables: readonly FactTable[];
}

const FACTS_FILE = 'bench/facts.json';

export function readFacts(): Facts {
  return JSON.parse(readFileSync(FACTS_FILE, 'utf8')) as Facts; // `writeFacts` writes it
}

export function writeFacts(facts: Facts): void {
  writeFileSync(FACTS_FILE, `${JSON.stringify(facts, undefined, 2)}\n`);
}

/** Three digits: more are noise. */
export function formatFact(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en');
}
