import { Command, Option } from 'commander';
import { describeFolders, findFolders } from '../../definitions/folders.ts';
import { InputError } from '../../errors.ts';
import { packagePath } from '../../lib/package-path.ts';
import { readConfig } from '../environment.ts';
import { summarise, toJunit, toText } from '../testing/report.ts';
import type { CaseResult } from '../testing/run-file.ts';
import { runTests } from '../testing/run-tests.ts';

export function testCommand(): Command {
  return new Command('test')
    .description(
      'Run the tests of endpoints, endpoints/<folder>/tests/*.yaml, each file on its own empty engine.',
    )
    .argument('[names...]', 'names or UUIDs of endpoints; all without one')
    .option('--update', 'write the answers of failed tests into their files')
    .addOption(
      new Option('--reporter <name>', 'form of the results').choices(['text', 'junit']).default('text'),
    )
    .action(test);
}

interface Options {
  readonly update?: boolean;
  readonly reporter: 'text' | 'junit';
}

async function test(names: string[], { update: isDraft = false, reporter }: Options): Promise<void> {
  const config = readConfig();
  for (const line of describeFolders(findFolders(config))) process.stderr.write(`tailrace: ${line}\n`);
  const results = await runTests({ config, names, isDraft });
  if (results.length === 0)
    throw new InputError([
      `no test was found: add tests/<name>.yaml to the folder of an endpoint, as ${packagePath('docs/testing-endpoints.md')} shows`,
    ]);
  process.stdout.write(reporter === 'junit' ? toJunit(results) : toText(results));
  const failed = results.filter(({ isPassed }) => !isPassed);
  if (isDraft) await update(failed);
  else if (failed.length > 0) throw new InputError([summarise(results)]);
  else if (reporter === 'text') process.stdout.write(`${summarise(results)}\n`);
}

async function update(failed: readonly CaseResult[]): Promise<void> {
  const { updateTestFile } = await import('../testing/update.ts'); // loaded only if it is used
  for (const [file, own] of Map.groupBy(failed, ({ test: { file } }) => file)) {
    await updateTestFile(file, own);
    process.stderr.write(`tailrace: ${file}: answers written: ${own.length}; review them\n`);
  }
  if (failed.length === 0) process.stderr.write('tailrace: every test passed; nothing was written\n');
}
