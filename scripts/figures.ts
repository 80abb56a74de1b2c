// npm run figures: the size of the code, of the docs and of the installed package, to compare one version with another.
import { existsSync, globSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const LINES_MAX = 250;
const MB = 1e6;

interface File {
  /** Below src/. */
  readonly path: string;
  readonly lines: number;
}

function readSource(): File[] {
  return globSync('**/*.ts', { cwd: 'src' }).map((path) => ({ path, lines: countLines(join('src', path)) }));
}

function countLines(file: string): number {
  return readFileSync(file, 'utf8').split('\n').length - 1;
}

/** Signs of tables and code by themselves are no words. */
function countWords(file: string): number {
  const words = readFileSync(file, 'utf8').split(/\s+/);
  return words.filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** By nearest rank. */
function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
}

/** Lines of each folder of src/, the largest first. Files beside the folders are together one row. */
function describeRooms(files: readonly File[]): string[] {
  const rooms = Map.groupBy(files, ({ path }) =>
    path.includes('/') ? (path.split('/')[0] ?? '') : '(files)',
  );
  const sized = [...rooms].map(([name, own]) => ({ name, files: own.length, lines: sumLines(own) }));
  return sized
    .toSorted((a, b) => b.lines - a.lines)
    .map(({ name, files: count, lines }) => row(`  ${name}`, `${format(lines)} in ${count} files`));
}

function sumLines(files: readonly File[]): number {
  return sum(files.map(({ lines }) => lines));
}

function describeFiles(files: readonly File[]): string[] {
  const sorted = files.map(({ lines }) => lines).toSorted((a, b) => a - b);
  const long = files.filter(({ lines }) => lines > LINES_MAX).toSorted((a, b) => b.lines - a.lines);
  const shares = [0.5, 0.95, 1].map((share) => quantile(sorted, share));
  return [
    row('lines a file, median / p95 / max', shares.join(' / ')),
    row(`files of more than ${LINES_MAX} lines`, String(long.length)),
    ...long.map(({ path, lines }) => row(`  ${path}`, String(lines))),
  ];
}

interface Package {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly link?: boolean;
}

/** Bytes of the packages that an installation without development has, as far as they are for this platform. */
function sumPackages(): { bytes: number; count: number } {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const packages: [string, Package][] = Object.entries(lock.packages);
  const installed = packages
    .filter(([, { dev, devOptional, link }]) => !(dev || devOptional || link))
    .map(([folder]) => folder)
    .filter((folder) => folder.startsWith('node_modules/') && existsSync(folder));
  return { bytes: sum(installed.map(sumBytes)), count: installed.length };
}

/** Bytes of the files of a package, without those of the packages within it. */
function sumBytes(folder: string): number {
  const sizes = readdirSync(folder, { withFileTypes: true }).map((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? 0 : sumBytes(path);
    return lstatSync(path).size;
  });
  return sum(sizes);
}

function row(name: string, value: string): string {
  return `${name.padEnd(44)} ${value}`;
}

function format(number: number): string {
  return number.toLocaleString('en');
}

const files = readSource();
const packages = sumPackages();
const lines = [
  row('lines of src', `${format(sumLines(files))} in ${files.length} files`),
  ...describeRooms(files),
  ...describeFiles(files),
  row('words of README.md and docs', format(sum(['README.md', ...globSync('docs/**/*.md')].map(countWords)))),
  row('installed packages', `${format(Math.round(packages.bytes / MB))} MB in ${packages.count} packages`),
];
process.stdout.write(`${lines.join('\n')}\n`);
